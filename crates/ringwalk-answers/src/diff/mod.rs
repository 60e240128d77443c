//! The comparison of two snapshots.
//!
//! ```text
//!   old rows ──┐
//!              ├──> merge ──> rows that differ ──> classify ──> changes ──> groups, output
//!   new rows ──┘   (threads)
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `version.rs` | what one snapshot says of one path |
//! | `choices.rs` | which of the two snapshots; how renamed files are found |
//! | `change.rs` | the changes: kinds, and which fields count |
//! | `file_systems.rs` | one numbering of file systems for both snapshots |
//! | `pieces.rs` | pieces of a root, which threads merge |
//! | `scan.rs` | the work on files: threads, single values |
//! | `same.rs` | pages that have the same paths in both files |
//! | `merge.rs` | the merge of sorted rows |
//! | `classify.rs` | the rules: from rows that differ to changes |
//! | `renames.rs` | files that have another path |
//! | `charges.rs` | the growth of files with several names |
//! | `unread.rs` | directories that one snapshot could not read |
//! | `groups.rs` | growth by directory, owner or extension |
//! | `lines.rs` | the changes as people read them: whole directories on one line |
//! | `json.rs`, `table.rs` | output as JSON and as Parquet |
//!
//! `docs/diff.md` describes the rules for users. Memory grows with the number of rows that differ,
//! not with the snapshots.

mod change;
mod charges;
mod choices;
mod classify;
mod file_systems;
mod groups;
mod json;
mod lines;
mod merge;
mod pieces;
mod renames;
mod same;
mod scan;
mod table;
mod unread;
mod version;

pub use change::{Change, Kind, Location};
pub use choices::{Renames, Which};
pub use groups::{By, Group, GroupKey};
pub use json::{View, json, ndjson};
pub use lines::Line;
pub use table::write_table;
pub(crate) use version::ancestors;
pub use version::{Unread, Version};

use classify::Classified;
use file_systems::Numbers;
use pieces::SharedRoot;
use ringwalk::FileType;
use ringwalk_snapshot::{
    Column, Compared, Contents, Info, ReadError, RootInfo, RowCounter, Snapshot, order,
};
use scan::Reader;
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::available_parallelism;

/// Options of a comparison.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DiffOptions {
    /// How renamed files are found.
    pub renames: Renames,
    /// Threads that read. The answer does not depend on their number.
    pub threads: NonZeroUsize,
    /// Counts the rows of both snapshots that were compared, for a display of progress.
    pub progress: RowCounter,
    /// A flag that another thread may set to end the work early, with [`DiffError::Stopped`].
    pub stop: Arc<AtomicBool>,
}

impl Default for DiffOptions {
    fn default() -> Self {
        Self {
            renames: Renames::default(),
            threads: available_parallelism().unwrap_or(NonZeroUsize::MIN),
            progress: RowCounter::default(),
            stop: Arc::default(),
        }
    }
}

/// The reason why two snapshots cannot be compared.
#[derive(Debug)]
#[non_exhaustive]
pub enum DiffError {
    /// A snapshot cannot be read.
    Read(ReadError),
    /// Only one snapshot has this root.
    Root {
        /// The absolute path.
        path: Vec<u8>,
        /// The snapshot that does not have it.
        missing_in: Which,
        /// The roots that this snapshot has.
        roots: Vec<Vec<u8>>,
    },
    /// The work was stopped by [`DiffOptions::stop`].
    Stopped,
}

impl From<ReadError> for DiffError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl fmt::Display for DiffError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Read(error) => error.fmt(f),
            Self::Root {
                path, missing_in, ..
            } => write!(
                f,
                "the {} snapshot has no root \"{}\"",
                missing_in.name(),
                path.escape_ascii()
            ),
            Self::Stopped => f.write_str("the comparison was stopped"),
        }
    }
}

impl std::error::Error for DiffError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Read(error) => Some(error),
            Self::Root { .. } | Self::Stopped => None,
        }
    }
}

/// The differences of two snapshots.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Diff {
    /// The changes, in the order of the rows of a snapshot.
    pub changes: Vec<Change>,
    /// Changes that follow from others. They count in groups.
    hidden: Vec<Change>,
    /// What one of the snapshots does not know.
    pub unread: Vec<Unread>,
    /// Paths that only one snapshot has, below a directory that the other one could not read. They
    /// are no changes.
    pub unknown: u64,
    /// What the older snapshot says of itself.
    pub old: Info,
    /// What the newer snapshot says of itself. The numbers of roots come from this snapshot.
    pub new: Info,
}

impl Diff {
    fn of(classified: Classified, old: Info, new: Info) -> Self {
        let (mut changes, hidden): (Vec<_>, Vec<_>) = classified
            .changes
            .into_iter()
            .partition(|change| change.is_shown);
        changes.sort_by(|a, b| {
            let (x, y) = (a.version(), b.version());
            let by_root = x.root.cmp(&y.root);
            let by_path = || order::compare(&x.path, &y.path);
            by_root.then_with(by_path).then_with(|| a.kind.cmp(&b.kind))
        });
        Self {
            changes,
            hidden,
            unread: classified.unread,
            unknown: classified.unknown,
            old,
            new,
        }
    }

    /// Returns true if no change was found.
    pub fn is_same(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns true if both snapshots are complete. Otherwise there may be more changes than those
    /// that were found.
    pub fn is_certain(&self) -> bool {
        self.unread.is_empty() && self.old.verdict.complete && self.new.verdict.complete
    }

    /// Returns the bytes by which all trees have grown.
    pub fn growth(&self) -> i64 {
        let growths = self.changes.iter().map(|change| change.growth);
        growths.fold(0, i64::saturating_add)
    }

    /// Returns the number of changes of a kind.
    pub fn count(&self, kind: Kind) -> u64 {
        let changes = self.changes.iter();
        changes.filter(|change| change.kind == kind).count() as u64
    }

    /// Returns the path of a root.
    pub fn root_path(&self, root: u32) -> &[u8] {
        let root = self.new.roots.get(root as usize);
        root.map_or(b"", |root| &root.path.0)
    }

    /// Returns the absolute path of a file.
    pub fn absolute(&self, root: u32, path: &[u8]) -> Vec<u8> {
        let root = self.new.roots.get(root as usize);
        root.unwrap_or(&RootInfo::default()).absolute(path)
    }

    /// Returns the name of an owner.
    pub fn owner_name(&self, uid: u32) -> Option<&[u8]> {
        let name = self
            .new
            .users
            .get(&uid)
            .or_else(|| self.old.users.get(&uid));
        name.map(|name| &name.0[..])
    }

    /// Returns all rows that differ.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter().chain(&self.hidden)
    }
}

/// Returns what a snapshot of a live tree must have to be compared with `old`: the parts that `old`
/// has and whose difference is a change. Hashes are left out, because all contents would be read.
pub fn contents_to_compare(old: &Snapshot) -> Contents {
    let is_compared = |column: Column| {
        let facts = column.facts();
        facts.compared == Compared::Change && !facts.fields.is_empty() && old.has(column)
    };
    Contents::of(is_compared, false)
}

/// Compares two snapshots. Both must have the same roots.
///
/// # Errors
///
/// If a snapshot cannot be read, or a root is not in both.
pub fn diff(old: &Snapshot, new: &Snapshot, options: &DiffOptions) -> Result<Diff, DiffError> {
    let (old_info, new_info) = (old.info(), new.info());
    let roots = shared_roots(old, new)?;
    let numbers = Numbers::of(&old_info.file_systems, &new_info.file_systems);
    let columns = merge::columns_of(old, new);
    let reader = Reader {
        old,
        new,
        columns: &columns,
        numbers: &numbers,
        roots: &roots,
        threads: options.threads,
        progress: &options.progress,
        stop: &options.stop,
    };
    options.progress.begin(old.rows() + new.rows());
    let found = reader.merge()?;
    check_stop(options)?;
    let classified = classify::classify(found, options.renames, &numbers, &reader)?;
    check_stop(options)?;
    let mut diff = Diff::of(classified, old_info.clone(), new_info.clone());
    read_targets(&mut diff.changes, old, new)?;
    Ok(diff)
}

fn check_stop(options: &DiffOptions) -> Result<(), DiffError> {
    if options.stop.load(Ordering::Relaxed) {
        return Err(DiffError::Stopped);
    }
    Ok(())
}

/// Returns the rows of each root.
fn shared_roots(old: &Snapshot, new: &Snapshot) -> Result<Vec<SharedRoot>, DiffError> {
    let paths = |snapshot: &Snapshot| -> Vec<Vec<u8>> {
        let roots = snapshot.info().roots.iter();
        roots.map(|root| root.path.0.clone()).collect()
    };
    let (old_paths, new_paths) = (paths(old), paths(new));
    let missing = |from: &[Vec<u8>], in_: &[Vec<u8>], missing_in| {
        let path = from.iter().find(|path| !in_.contains(path))?.clone();
        let roots = in_.to_vec();
        Some(DiffError::Root {
            path,
            missing_in,
            roots,
        })
    };
    let error = missing(&old_paths, &new_paths, Which::New)
        .or_else(|| missing(&new_paths, &old_paths, Which::Old));
    if let Some(error) = error {
        return Err(error);
    }
    let (old_rows, new_rows) = (scan::root_rows(old)?, scan::root_rows(new)?);
    let mut shared = Vec::new();
    for (root, (path, new)) in (0..).zip(new_paths.iter().zip(new_rows)) {
        let at = old_paths.iter().position(|old| old == path);
        let old = at.and_then(|at| old_rows.get(at)).cloned().unwrap_or(0..0);
        shared.push(SharedRoot { root, old, new });
    }
    Ok(shared)
}

/// Reads the targets of symbolic links that have changed.
fn read_targets(changes: &mut [Change], old: &Snapshot, new: &Snapshot) -> Result<(), ReadError> {
    let is_link = |version: &Option<Version>| {
        let version = version.as_ref();
        version.is_some_and(|version| version.file_type == FileType::Symlink)
    };
    let links: Vec<usize> = (0..changes.len())
        .filter(|at| is_link(&changes[*at].old) && is_link(&changes[*at].new))
        .collect();
    let sorted = |row: fn(&Change) -> u64| {
        let mut rows: Vec<(u64, usize)> =
            links.iter().map(|at| (row(&changes[*at]), *at)).collect();
        rows.sort_unstable();
        rows
    };
    let old_rows = sorted(|change| change.old.as_ref().map_or(0, |old| old.row));
    let new_rows = sorted(|change| change.new.as_ref().map_or(0, |new| new.row));
    let read = |snapshot: &Snapshot, rows: &[(u64, usize)]| -> Result<_, ReadError> {
        let targets = scan::targets(snapshot, &rows.iter().map(|row| row.0).collect::<Vec<_>>())?;
        let mut targets: Vec<_> = rows.iter().map(|row| row.1).zip(targets).collect();
        targets.sort_unstable_by_key(|target| target.0);
        Ok(targets)
    };
    let (old, new) = (read(old, &old_rows)?, read(new, &new_rows)?);
    for ((at, old), (_, new)) in old.into_iter().zip(new) {
        if let (Some(old), Some(new)) = (old, new)
            && old != new
        {
            changes[at].changed.insert(Column::Target);
            changes[at].targets = Some([old, new]);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
