//! What the caller gives and receives: entries that were shown, selections, and results.

use super::identity::Identity;
use super::reason::Reason;

/// An entry as it was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doomed<Id> {
    /// The caller's name for the entry.
    pub id: Id,
    /// Its name in its directory.
    pub name: Vec<u8>,
    /// Which file it was.
    pub identity: Identity,
    /// True if it was a directory.
    pub is_directory: bool,
}

/// The entries that were shown. Only these are deleted: no directory is listed anew.
pub trait Shown {
    /// What the caller names entries by, such as an index.
    type Id: Copy;

    /// Returns the entries of a directory that was shown.
    ///
    /// Called once for a directory, when its deletion begins. The result is held until the
    /// directory is done, so memory holds the listings on one path.
    fn children(&self, directory: Self::Id) -> Vec<Doomed<Self::Id>>;
}

/// A directory on the way from the root to a selected entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Component {
    /// Its name in its directory.
    pub name: Vec<u8>,
    /// Which directory it was.
    pub identity: Identity,
}

/// An entry that the user selected, and its place below the root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Selection<Id> {
    /// The directories between the root and the entry, without either. Empty for an entry that lies
    /// directly in the root.
    pub parents: Vec<Component>,
    /// The entry itself. A directory means all of its entries that were shown, too.
    pub entry: Doomed<Id>,
}

/// Receives results while a deletion runs. Nothing is kept for the end, so memory is bounded.
///
/// An entry is reported once at most. An entry inside a directory that could not be entered is not
/// reported: the directory is. After a cancellation the remaining entries are not reported.
pub trait Observer<Id> {
    /// The entry was deleted, or moved to the trash. `freed`: bytes that the file system got back,
    /// which is 0 for the trash and for a name that was not the last hard link. An open file keeps
    /// its space until it is closed.
    fn deleted(&mut self, id: Id, freed: u64);

    /// The entry is still there, or was gone before. The reason is text for the user.
    fn kept(&mut self, id: Id, reason: &Reason);

    /// Returns true if the deletion must stop. Called before each entry.
    fn cancelled(&mut self) -> bool;
}

/// What a deletion has done, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Entries that were deleted or moved to the trash. A directory in the trash counts once.
    pub deleted: u64,
    /// Bytes that the file system got back.
    pub freed: u64,
    /// Entries that were reported as kept.
    pub kept: u64,
    /// True if the observer ended the deletion before it was complete.
    pub is_cancelled: bool,
}
