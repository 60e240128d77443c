//! The changes that a comparison returns.

use super::version::Version;
use ringwalk::FileType;
use ringwalk_snapshot::{Column, ColumnSet, Compared, count_numbers, numbers};
use std::sync::Arc;

/// The columns of numbers whose difference is a change.
const COUNTED: [Column; count_numbers(&[Compared::Change])] = numbers(&[Compared::Change]);

/// What has happened to a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Kind {
    /// The file is new.
    Added,
    /// The file is gone.
    Removed,
    /// The same file, with other metadata.
    Modified,
    /// Another file of the same type has the path.
    Replaced,
    /// A file of another type has the path.
    Retyped,
    /// The same file has another path. Its metadata may have changed, too.
    Renamed,
    /// A new name of a file that has kept another name.
    LinkAdded,
    /// A name is gone of a file that has kept another name.
    LinkRemoved,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Added,
        Self::Removed,
        Self::Modified,
        Self::Replaced,
        Self::Retyped,
        Self::Renamed,
        Self::LinkAdded,
        Self::LinkRemoved,
    ];

    /// Returns the name in every output.
    pub fn name(self) -> &'static str {
        match self {
            Self::Added => "added",
            Self::Removed => "removed",
            Self::Modified => "modified",
            Self::Replaced => "replaced",
            Self::Retyped => "retyped",
            Self::Renamed => "renamed",
            Self::LinkAdded => "link-added",
            Self::LinkRemoved => "link-removed",
        }
    }
}

/// A path of one of the snapshots.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// Number of the root in the newer snapshot.
    pub root: u32,
    /// The path relative to the root.
    pub path: Arc<[u8]>,
}

/// One change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What has happened.
    pub kind: Kind,
    /// The file in the older snapshot.
    pub old: Option<Version>,
    /// The file in the newer snapshot.
    pub new: Option<Version>,
    /// The columns that differ, of a file that both snapshots have.
    pub changed: ColumnSet,
    /// Bytes by which the allocated space has grown. A file with several names counts once. The sum
    /// over all changes is the growth of the trees.
    pub growth: i64,
    /// For a rename: the inode numbers, sizes and times agree, but the file system keeps no time of
    /// birth or no inode number. The number may belong to another file by now. For a replaced file:
    /// it may still be the same one, with another inode number.
    pub is_likely: bool,
    /// For a link: a name that the file has kept. For a file that was replaced by a link to another
    /// file: a name of that file.
    pub link_to: Option<Location>,
    /// Old and new target of a symbolic link that has changed.
    pub targets: Option<[Vec<u8>; 2]>,
    /// False for a change that follows from another change: files in a directory that was moved,
    /// and names for which a file now counts in sums in place of another name.
    pub(super) is_shown: bool,
    /// True if the older snapshot has the inode of the new version.
    pub(super) is_known_inode: bool,
}

impl Change {
    pub(super) fn new(kind: Kind, old: Option<Version>, new: Option<Version>) -> Self {
        let mut change = Self {
            kind,
            growth: 0,
            changed: ColumnSet::default(),
            is_likely: false,
            link_to: None,
            targets: None,
            is_shown: true,
            is_known_inode: matches!(kind, Kind::Modified | Kind::Renamed | Kind::LinkAdded),
            old,
            new,
        };
        change.growth = change.new_bytes() - change.old_bytes();
        if let (Some(old), Some(new)) = (&change.old, &change.new) {
            change.changed = Self::differences(kind, old, new);
        }
        change
    }

    /// Returns the version that the change is named after: the newer one, if there is one.
    ///
    /// # Panics
    ///
    /// Never: a change has a version.
    pub fn version(&self) -> &Version {
        let version = self.new.as_ref().or(self.old.as_ref());
        version.expect("a change has a version")
    }

    /// Returns the older version if the file had another path: before a rename, or before its
    /// directory was moved.
    pub fn from(&self) -> Option<&Version> {
        let (old, new) = (self.old.as_ref()?, self.new.as_ref()?);
        (old.place() != new.place()).then_some(old)
    }

    /// Returns the bytes of the row of the older snapshot in sums.
    pub(super) fn old_bytes(&self) -> i64 {
        self.old.as_ref().map_or(0, Version::bytes)
    }

    /// Returns the bytes of the row of the newer snapshot in sums.
    pub(super) fn new_bytes(&self) -> i64 {
        self.new.as_ref().map_or(0, Version::bytes)
    }

    /// Returns the columns whose values both versions know, and that differ.
    ///
    /// The time of the last access says nothing of a change. The number of links changes by names,
    /// which are changes of their own. Times of a directory change by the names in it, likewise.
    /// The change time of the inode counts where nothing else explains it: the contents may have
    /// changed and the modification time may have been set back, or an access list has changed.
    pub(super) fn differences(kind: Kind, old: &Version, new: &Version) -> ColumnSet {
        let mut changed = ColumnSet::default();
        if old.differs_in_type(new) {
            changed.insert(Column::Type);
        }
        if old.differs_in_hash(new) {
            changed.insert(Column::Hash);
        }
        for column in COUNTED {
            if old.differs_in(new, column) {
                changed.insert(column);
            }
        }
        if new.file_type == FileType::Directory && changed.contains(Column::Mtime) {
            changed.remove(Column::Mtime);
            changed.remove(Column::Ctime);
        }
        let mut others = changed;
        others.remove(Column::Ctime);
        if old.differs_in(new, Column::Nlink) || kind == Kind::Renamed || !others.is_empty() {
            return others;
        }
        changed
    }
}
