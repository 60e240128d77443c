//! The tree of a snapshot, read when somebody looks at it.
//!
//! The number of an entry is the number of its row. A snapshot of several trees has a top of its
//! own, whose entries are the roots. Only a few pages of rows and a few thousand entries are in
//! memory. Questions about a whole subtree read one range of rows.
//!
//! A snapshot of 10^7 rows opens in 12 to 28 ms on two busy processors. The program then has 5 MiB
//! in memory.
//!
//! | file | contents |
//! |---|---|
//! | `open.rs` | opening a snapshot, the folder of a shared walk, or a file of ncdu |
//! | `cells.rs` | what the cells of a row say of a file |
//! | `kept.rs` | what is kept of the last questions |
//! | `answers.rs` | the answers to the questions of `tree/` |
//! | `listing.rs` | the entries of a directory in an order |
//! | `largest.rs` | the largest files |
//! | `groups.rs` | totals by extension, owner and age |
//! | `freeable.rs` | what deleting several entries frees |
//! | `unreadable.rs` | files that could not be read when the snapshot was taken |

mod answers;
mod cells;
mod freeable;
mod groups;
mod kept;
mod largest;
mod listing;
mod open;
#[cfg(test)]
pub(crate) mod tests;
mod unreadable;

pub(crate) use open::read_error;

use crate::tree::{Id, Item, Kind};
use cells::{OF_ITEM, Row};
use kept::Kept;
use ringwalk::FileType;
use ringwalk_delete::Known;
use ringwalk_snapshot::{Column, Cursor, ReadError, Snapshot, SnapshotTree, timestamp};
use std::io;
use std::sync::{Arc, Mutex};

/// A snapshot as a tree that somebody looks at.
///
/// - A file that could not be read when the snapshot was taken has [`ReadState::Failed`], and
///   counts in [`Item::errors`] and [`Progress::errors`]. Sizes cover only what was read.
/// - A file that was left out, for any reason, has [`ReadState::OtherFileSystem`], and does not
///   count in the totals ([`Item::charged`] is false).
/// - [`Tree::freeable`] of several entries is known unless more than half a million of their files
///   have several names.
///
/// [`ReadState::Failed`]: crate::tree::ReadState::Failed
/// [`ReadState::OtherFileSystem`]: crate::tree::ReadState::OtherFileSystem
/// [`Progress::errors`]: crate::tree::Progress::errors
/// [`Tree::freeable`]: crate::tree::Tree::freeable
#[derive(Debug)]
pub struct SnapshotView {
    tree: Arc<SnapshotTree>,
    /// The row of each root, in rising order, and its index among the roots.
    roots: Vec<(u64, usize)>,
    top: Item,
    /// Rows with an error.
    errors_of_rows: u64,
    kept: Mutex<Kept>,
}

/// Where an entry of a snapshot was in the file system.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The index of its root.
    pub root: usize,
    /// The absolute path of its root.
    pub root_path: Vec<u8>,
    /// Its path relative to the root.
    pub below: Vec<u8>,
    /// True for a directory.
    pub is_directory: bool,
    /// Its inode number. `None` if the snapshot does not have it.
    pub inode: Option<u64>,
    /// Its size and times, as far as the snapshot has them.
    pub known: Known,
}

impl SnapshotView {
    /// Creates the view of a snapshot. Reads the rows of the roots.
    ///
    /// # Errors
    ///
    /// If the snapshot is damaged or cannot be read.
    pub fn new(tree: Arc<SnapshotTree>) -> io::Result<Self> {
        let mut view = Self {
            tree,
            roots: Vec::new(),
            top: Item::default(),
            errors_of_rows: 0,
            kept: Mutex::default(),
        };
        view.read_roots().map_err(|error| read_error(&error))?;
        Ok(view)
    }

    fn read_roots(&mut self) -> Result<(), ReadError> {
        let snapshot = self.tree.snapshot();
        let mut cursor = Cursor::default();
        for root in 0..snapshot.info().roots.len() {
            if let Some(row) = cursor.locate(snapshot, root, b"")? {
                self.roots.push((row, root));
            }
        }
        self.roots.sort_unstable();
        let mut roots = Vec::new();
        for (row, _) in &self.roots {
            let (chunk, at) = cursor.row(snapshot, *row, &OF_ITEM)?;
            roots.push(Row { chunk, at }.item(Id(*row), self.root_name(*row)));
        }
        self.errors_of_rows = roots.iter().map(|root| root.errors).sum();
        self.top = if roots.len() == 1 {
            roots.swap_remove(0)
        } else {
            self.top_of(&roots)
        };
        Ok(())
    }

    /// Returns the top of several trees, or of none.
    fn top_of(&self, roots: &[Item]) -> Item {
        let sum = |of: fn(&Item) -> u64| roots.iter().map(of).fold(0, u64::saturating_add);
        let charged = |root: &Item, value: u64| if root.charged { value } else { 0 };
        let alloc = roots.iter().map(|root| charged(root, root.alloc));
        let alloc = alloc.fold(0, u64::saturating_add);
        // A file with names in several trees counts in one of them, and is freeable in none.
        let freeable = sum(|root| root.freeable.unwrap_or(0));
        let name = self.snapshot().name().as_os_str().as_encoded_bytes();
        Item {
            id: Id(self.snapshot().rows()),
            name: name.to_vec(),
            kind: Kind::Directory,
            size: roots
                .iter()
                .map(|root| charged(root, root.size))
                .fold(0, u64::saturating_add),
            alloc,
            freeable: (freeable == alloc).then_some(freeable),
            entries: sum(|root| root.entries),
            mtime: roots.iter().filter_map(|root| root.mtime).max(),
            links: 1,
            charged: true,
            errors: self.errors(),
            ..Item::default()
        }
    }

    /// Returns where an entry was in the file system when the snapshot was taken: the path of its
    /// root, and the rest. `None` for a top that is no entry.
    ///
    /// # Errors
    ///
    /// If the snapshot is damaged or cannot be read.
    pub fn place(&self, id: Id) -> io::Result<Option<Place>> {
        if id.0 >= self.snapshot().rows() {
            return Ok(None);
        }
        let columns = [
            Column::Root,
            Column::Path,
            Column::PathRaw,
            Column::Type,
            Column::Ino,
            Column::Btime,
            Column::Mtime,
            Column::Ctime,
            Column::Size,
            Column::Clamped,
        ];
        let mut kept = ringwalk::sync::lock(&self.kept);
        let row = kept.cursor.row(self.snapshot(), id.0, &columns);
        let (chunk, at) = row.map_err(|error| read_error(&error))?;
        // A time that was clamped is not the time of the file.
        let is_exact = chunk.integer(Column::Clamped, at) != Some(1);
        let time = |column| {
            chunk
                .integer(column, at)
                .filter(|_| is_exact)
                .map(timestamp)
        };
        let mut known = Known {
            birth: time(Column::Btime),
            mtime: time(Column::Mtime),
            ctime: time(Column::Ctime),
            size: chunk.integer(Column::Size, at).map(i64::cast_unsigned),
        };
        // The row may have been read at any moment of the run. Then its times say nothing.
        if known.may_hide_change(self.snapshot().info().run.start.seconds) {
            (known.mtime, known.ctime) = (None, None);
        }
        let root = chunk.integer(Column::Root, at);
        let root = root.and_then(|root| usize::try_from(root).ok());
        let info = root.and_then(|root| self.snapshot().info().roots.get(root));
        Ok(root.zip(info).map(|(root, info)| Place {
            root,
            root_path: info.path.0.clone(),
            below: chunk.path(at).to_vec(),
            is_directory: chunk.file_type(at) == FileType::Directory,
            inode: chunk.integer(Column::Ino, at).map(i64::cast_unsigned),
            known,
        }))
    }

    /// Returns the entry with a path below a root.
    ///
    /// # Errors
    ///
    /// If the snapshot is damaged or cannot be read.
    pub fn find(&self, root: usize, below: &[u8]) -> io::Result<Option<Id>> {
        let mut kept = ringwalk::sync::lock(&self.kept);
        let found = kept.cursor.locate(self.snapshot(), root, below);
        Ok(found.map_err(|error| read_error(&error))?.map(Id))
    }

    /// Returns the snapshot.
    pub fn snapshot(&self) -> &Snapshot {
        self.tree.snapshot()
    }

    /// Returns the snapshot as a tree that can be walked, for a search.
    pub fn tree(&self) -> &Arc<SnapshotTree> {
        &self.tree
    }

    /// Returns true if the snapshot has everything that was to be read.
    pub fn is_complete(&self) -> bool {
        self.errors() == 0
    }

    /// Returns the number of failures, at least 1 if the snapshot is not complete.
    fn errors(&self) -> u64 {
        let verdict = &self.snapshot().info().verdict;
        let said = verdict.errors.max(u64::from(!verdict.complete));
        said.max(self.errors_of_rows)
    }

    /// Returns true if the top is not a row, because the snapshot does not have exactly one root.
    fn has_several_roots(&self) -> bool {
        self.roots.len() != 1
    }

    /// Returns the path of the root that this row stands for; `None` for other rows.
    fn root_name(&self, row: u64) -> Option<&[u8]> {
        let at = self.roots.binary_search_by_key(&row, |root| root.0).ok()?;
        let root = self.snapshot().info().roots.get(self.roots[at].1)?;
        Some(&root.path.0)
    }

    /// Returns the path of an entry relative to the top.
    fn path_of_row(&self, row: u64, cursor: &mut Cursor) -> Result<Vec<u8>, ReadError> {
        let columns = [Column::Root, Column::Path, Column::PathRaw];
        let (chunk, at) = cursor.row(self.snapshot(), row, &columns)?;
        let path = chunk.path(at);
        if !self.has_several_roots() {
            return Ok(path.to_vec());
        }
        let root = chunk.integer(Column::Root, at);
        let root = root.and_then(|root| usize::try_from(root).ok());
        let root = root.and_then(|root| self.snapshot().info().roots.get(root));
        Ok(join(root.map_or(b"", |root| &root.path.0), path))
    }

    /// Returns the absolute path of one that is relative to the top.
    fn absolute(&self, path: &[u8]) -> Vec<u8> {
        match self.roots.first() {
            Some((row, _)) if !self.has_several_roots() => {
                join(self.root_name(*row).unwrap_or_default(), path)
            }
            _ => path.to_vec(),
        }
    }
}

/// Returns the path of the entry that has the path `below` in the directory `directory`.
pub(crate) fn join(directory: &[u8], below: &[u8]) -> Vec<u8> {
    let mut path = directory.to_vec();
    if !path.is_empty() && !below.is_empty() && path.last() != Some(&b'/') {
        path.push(b'/');
    }
    path.extend_from_slice(below);
    path
}
