//! What a walk leaves unread when its budget is spent.

use crate::visit::metadata::Identity;
use ringwalk_sys::RawFileType as FileType;

/// A directory, or what remains of one, that a walk has not read because its
/// [budget](crate::Budget) was spent. Another walk over the same roots goes on there
/// ([`Walk::resume`](crate::Walk::resume)), in this process or in another one, on this machine or
/// on another one that has mounted the same file system.
///
/// The walk has given its visitors the entry of the directory itself, and none of the entries that
/// remain. So the two walks together give each entry once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leftover {
    /// The index of its root in the list of roots, from 0.
    pub root: usize,
    /// Device and inode number of the root.
    pub root_identity: Identity,
    /// The path relative to the root, without a slash at its ends. Empty for the root itself.
    pub path: Vec<u8>,
    /// Levels below the root: 0 for the root itself.
    pub depth: usize,
    /// Device and inode number of the directory, if they are known. They are not known if the walk
    /// asked for no inode numbers, and directories of this file system do not certainly list them.
    /// Then the next walk reads any directory that is at the path.
    pub identity: Option<Identity>,
    /// What remains to be read.
    pub remaining: Remaining,
    /// Entries of this directory that the walk has read. A large number means that many may remain.
    pub read: u64,
    /// A number that the visitor gives ([`Visitor::tag`](crate::Visitor::tag)).
    pub tag: u64,
}

impl Leftover {
    /// Returns the number of names in a path relative to a root: the depth of what is there.
    /// Returns `None` for a path that no leftover has, because a name is empty, `.` or `..`, or has
    /// a NUL byte.
    pub fn depth_of(path: &[u8]) -> Option<usize> {
        if path.is_empty() {
            return Some(0);
        }
        let mut names = path.split(|byte| *byte == b'/');
        names.try_fold(0, |depth, name| {
            let is_name = !matches!(name, b"" | b"." | b"..") && !name.contains(&0);
            is_name.then_some(depth + 1)
        })
    }
}

/// What remains of a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// All of it, and everything below it.
    Whole,
    /// Its entries from a position on, and everything below them.
    From {
        /// The position (`d_off` of getdents64(2)), as lseek(2) takes it.
        position: i64,
        /// The position at which the range ends, if it is not the last one. An entry belongs to the
        /// range that its own position is in.
        to: Option<i64>,
    },
    /// These of its entries, and everything below them. Their names have been read already.
    Names(Vec<ListedName>),
}

/// A name in a directory, as the directory lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedName {
    /// The name, without a slash or a NUL byte.
    pub name: Vec<u8>,
    /// The type, if the directory lists it.
    pub file_type: FileType,
    /// The inode number as the directory lists it.
    pub ino: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_as_many_levels_as_names() {
        for (path, depth) in [(&b""[..], 0), (b"a", 1), (b"a/...", 2), (b"\xff/\n/ ", 3)] {
            assert_eq!(Leftover::depth_of(path), Some(depth));
        }
    }

    #[test]
    fn paths_that_no_leftover_has() {
        for path in [
            &b"/"[..],
            b"/a",
            b"a/",
            b"a//b",
            b".",
            b"..",
            b"a/.",
            b"a/../b",
            b"a\0",
            b"a/\0/b",
        ] {
            assert_eq!(Leftover::depth_of(path), None, "{}", path.escape_ascii());
        }
    }
}
