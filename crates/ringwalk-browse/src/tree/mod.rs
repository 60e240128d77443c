//! What every tree answers, whether a walk fills it or a snapshot holds it.
//!
//! | file | contents |
//! |---|---|
//! | `item.rs` | one entry, with the totals of what is below it |
//! | `order.rs` | orders of a listing |
//! | `group.rs` | totals by extension, owner and age |

mod group;
mod item;
mod order;

pub use group::{AgeClass, Group, GroupKey};
pub use item::{Id, Item, Kind, ReadState};
pub use order::{Direction, Order, SortKey, Weight};

use std::io;

/// How far a tree has been read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Entries read so far, directories included.
    pub entries: u64,
    /// Allocated bytes of them; each inode counts once.
    pub alloc: u64,
    /// Files and directories that could not be read.
    pub errors: u64,
    /// True if nothing more will be read.
    pub finished: bool,
    /// A number that changes with every change of the tree.
    pub generation: u64,
}

/// A file or directory that could not be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unreadable {
    /// The path, which begins with the path of the tree.
    pub path: Vec<u8>,
    /// The reason, in words.
    pub reason: String,
}

/// A directory tree that somebody looks at.
///
/// A tree may change at any time, since a walk fills it or since entries are deleted. An [`Id`]
/// stays valid; what it stands for may be gone, and then methods return `None` or leave it out.
///
/// Methods that look at whole listings or subtrees may take long. Those about single entries return
/// within a millisecond for a tree in memory.
pub trait Tree: Send + Sync {
    /// Returns the entry at the top.
    fn top(&self) -> Id;

    /// Returns the path of the top in the file system, as the user gave it.
    fn path_of_top(&self) -> Vec<u8>;

    /// Returns how far the tree has been read.
    fn progress(&self) -> Progress;

    /// Returns files and directories that could not be read: the first 1000.
    fn unreadable(&self) -> Vec<Unreadable>;

    /// Returns the entries with these numbers, in the same order. Entries that are gone are left
    /// out.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn items(&self, ids: &[Id]) -> io::Result<Vec<Item>>;

    /// Returns the directory that lists an entry; `None` for the top.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn parent(&self, id: Id) -> io::Result<Option<Id>>;

    /// Returns the entries directly in a directory in an order, and equal ones by name.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn listing(&self, directory: Id, order: Order) -> io::Result<Vec<Id>>;

    /// Returns the largest files below a directory, at most `most`, the largest first.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn largest_files(&self, directory: Id, weight: Weight, most: usize) -> io::Result<Vec<Id>>;

    /// Returns the totals below a directory by a key, the largest by allocated size first.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn groups(&self, directory: Id, key: GroupKey) -> io::Result<Vec<Group>>;

    /// Returns the allocated bytes that deleting all of these entries would free: of each inode
    /// all of whose names are among them or below them. `None` if that is not known, since the
    /// tree was not read to its end or does not keep the names of links.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn freeable(&self, ids: &[Id]) -> io::Result<Option<u64>>;

    /// Returns the path of an entry relative to the top, without a slash at its begin. The top has
    /// an empty path.
    ///
    /// # Errors
    ///
    /// The errors of reading a snapshot.
    fn path(&self, id: Id) -> io::Result<Vec<u8>> {
        let mut names = Vec::new();
        let mut at = id;
        while let Some(parent) = self.parent(at)? {
            let Some(item) = self.items(&[at])?.pop() else {
                return Err(io::Error::from(io::ErrorKind::NotFound));
            };
            names.push(item.name);
            at = parent;
        }
        if at != self.top() {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        }
        names.reverse();
        Ok(names.join(&b'/'))
    }
}
