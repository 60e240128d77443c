//! What the browser asks of others: matches of an expression, growth, deletion, and actions.
//!
//! The program that starts the browser provides these services, or says why one is missing. The
//! message appears when the key of the service is pressed.

use crate::tree::Id;
use std::path::Path;
use std::sync::Arc;

/// A service, or the reason why there is none.
pub type Service<T> = Result<Arc<T>, String>;

/// All services.
#[derive(Clone)]
pub struct Services {
    /// Matches of an expression.
    pub filter: Service<dyn Filter>,
    /// Growth since an older snapshot. A reason is shown when somebody sorts by growth.
    pub comparison: Service<dyn Comparison>,
    /// Deletion.
    pub deleter: Service<dyn Deleter>,
    /// Shell, rescan and export.
    pub actions: Service<dyn Actions>,
}

impl Services {
    /// Returns no services, for the same reason.
    pub fn none(reason: &str) -> Self {
        Self {
            filter: Err(reason.to_owned()),
            comparison: Err(reason.to_owned()),
            deleter: Err(reason.to_owned()),
            actions: Err(reason.to_owned()),
        }
    }
}

/// Finds what matches an expression of find(1).
pub trait Filter: Send + Sync {
    /// Begins to look for matches in the whole tree. The words form an expression, such as `-name`
    /// and `*.o`. Dropping the result ends the search.
    ///
    /// # Errors
    ///
    /// A message, if the words are no expression.
    fn start(&self, words: &[String]) -> Result<Arc<dyn Matches>, String>;
}

/// The matches of one expression. Paths are relative to the top, whose path is empty.
pub trait Matches: Send + Sync {
    /// Returns how far the search has come.
    fn progress(&self) -> MatchProgress;

    /// Returns the first error of the search, in words.
    fn error(&self) -> Option<String>;

    /// Returns true if an entry of a directory matches.
    fn matched(&self, directory: &[u8], name: &[u8]) -> bool;

    /// Returns the totals of what matches at and below a path. Each inode counts once.
    fn totals(&self, path: &[u8]) -> Totals;
}

/// How far a search for matches has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MatchProgress {
    /// The entries looked at so far.
    pub entries: u64,
    /// True if the search has ended.
    pub finished: bool,
}

/// Totals of several entries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of entries.
    pub entries: u64,
    /// Their apparent size in bytes.
    pub size: u64,
    /// Their allocated size in bytes.
    pub alloc: u64,
}

/// Compares the tree with an older one. Paths are relative to the top.
pub trait Comparison: Send + Sync {
    /// Returns by how many bytes the allocated size of an entry has grown. `None` if it is not
    /// known.
    fn growth(&self, directory: &[u8], name: &[u8], alloc_now: u64) -> Option<i64>;

    /// Returns the entries that the directory held in the older tree and holds no more: names and
    /// allocated sizes.
    fn departed(&self, directory: &[u8]) -> Vec<(Vec<u8>, u64)>;

    /// Returns the first error of reading the older tree, in words. Entries that are not known
    /// because of this error have no growth.
    fn error(&self) -> Option<String>;
}

/// A function that returns false once nobody waits for an answer.
pub type IsWanted<'w> = &'w (dyn Fn() -> bool + Sync);

/// Deletes entries that were shown.
pub trait Deleter: Send + Sync {
    /// Returns true if entries are moved into the trash.
    fn uses_trash(&self) -> bool;

    /// Returns what [`describe`](Self::describe) does, in words.
    fn preparation(&self) -> &'static str;

    /// Returns what deleting these entries would do. This may take long. Ends early once nobody
    /// wants the answer.
    ///
    /// # Errors
    ///
    /// A message, if that cannot be found out.
    fn describe(&self, ids: &[Id], is_wanted: IsWanted<'_>) -> Result<Description, String>;

    /// Begins to delete these entries, which were described before.
    ///
    /// # Errors
    ///
    /// A message, if the deletion cannot begin.
    fn start(&self, ids: &[Id]) -> Result<Box<dyn Deletion>, String>;
}

/// What a deletion would do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// The number of entries, with everything below them. Refused entries do not count.
    pub entries: u64,
    /// The allocated bytes that would be free afterwards. `None` if that is not known.
    pub freed: Option<u64>,
    /// The earliest time of a last change, in seconds since 1970.
    pub oldest: Option<i64>,
    /// The latest time of a last change, in seconds since 1970.
    pub newest: Option<i64>,
    /// Entries that will not be deleted, and why. [`Id::default`] stands for an entry that the tree
    /// does not have; then the reason names it.
    pub refusals: Vec<(Id, String)>,
    /// What the tree says of the same entries, if they were read again for the description.
    pub shown: Option<Totals>,
}

/// The space that deleting entries frees, without what other files share.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Unshared {
    /// Allocated bytes that belong to these entries alone.
    pub freed: u64,
    /// Files and directories whose space is not known. They are not in `freed`.
    pub unknown: u64,
    /// The reason for the first of these, with its path.
    pub reason: Option<String>,
}

/// A deletion that runs. Dropping it cancels it.
pub trait Deletion: Send {
    /// Returns how far it has come.
    fn progress(&self) -> DeletionProgress;

    /// Ends it after the current entry.
    fn cancel(&self);

    /// Returns what was done, once [`DeletionProgress::finished`] is true.
    fn results(&self) -> Results;
}

/// How far a deletion has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeletionProgress {
    /// The entries that are gone.
    pub deleted: u64,
    /// The entries that could not be deleted.
    pub failed: u64,
    /// The allocated bytes that are free now.
    pub freed: u64,
    /// True if it has ended.
    pub finished: bool,
}

/// What a deletion has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Results {
    /// The entries that are gone, of those that were given.
    pub deleted: Vec<Id>,
    /// The entries that are still there, and why.
    pub kept: Vec<(Id, String)>,
}

/// A format of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Format {
    /// One object of JSON a line.
    Ndjson,
    /// The JSON of ncdu.
    Ncdu,
    /// A snapshot.
    Snapshot,
}

impl Format {
    /// Returns the format of a file by the end of its name: `.ndjson` or `.jsonl`, `.json`,
    /// `.parquet`.
    pub fn of(file: &Path) -> Option<Self> {
        match file.extension()?.to_str()? {
            "ndjson" | "jsonl" => Some(Self::Ndjson),
            "json" => Some(Self::Ncdu),
            "parquet" => Some(Self::Snapshot),
            _ => None,
        }
    }
}

/// What is written, and where.
#[derive(Clone, Copy)]
pub struct Export<'e> {
    /// The format of the file.
    pub format: Format,
    /// The file, which must not exist.
    pub file: &'e Path,
    /// What matches is written, with the directories that hold it. `None` to write everything.
    pub matches: Option<&'e dyn Matches>,
}

/// What else can be done with entries.
pub trait Actions: Send + Sync {
    /// Runs a shell in a directory until it ends. The path is relative to the top. The terminal is
    /// free meanwhile.
    ///
    /// # Errors
    ///
    /// A message, if it could not be started.
    fn shell(&self, directory: &[u8]) -> Result<(), String>;

    /// Begins to read an entry and everything below it again. The tree changes meanwhile.
    ///
    /// # Errors
    ///
    /// A message, if that is not possible.
    fn rescan(&self, id: Id) -> Result<(), String>;

    /// Returns what deleting these entries would free, without extents that other files share. Asks
    /// the file system about each file, so this may take long. Ends early once nobody wants the
    /// answer.
    ///
    /// # Errors
    ///
    /// A message, if that is not possible.
    fn unshared(&self, ids: &[Id], is_wanted: IsWanted<'_>) -> Result<Unshared, String>;

    /// Writes an entry and everything below it to a file, or what matches of it. This may take
    /// long.
    ///
    /// # Errors
    ///
    /// A message, if the file exists or cannot be written. If something is missing in the file,
    /// that is no error: the result says so.
    fn export(&self, id: Id, export: &Export<'_>) -> Result<Option<String>, String>;
}
