//! What one snapshot says of one path.

use super::choices::Which;
use ringwalk::FileType;
use ringwalk::identity::IdentityTrust;
use ringwalk_snapshot::{
    ATTRIBUTES, COLUMN_COUNT, Column, ColumnSet, Compared, HASH_BYTES, count_numbers, numbers,
};
use std::sync::Arc;

const SHOWN: &[Compared] = &[Compared::Shown, Compared::Identity, Compared::Change];

/// The columns of numbers that a [`Version`] has, in the order of the file.
pub(super) const NUMBERS: [Column; count_numbers(SHOWN)] = numbers(SHOWN);

/// Returns the place of a column in [`ATTRIBUTES`]; for any other column a place beyond its end.
#[inline]
fn place(column: Column) -> usize {
    // Each row that differs asks for dozens of numbers.
    #[expect(clippy::cast_possible_truncation, reason = "there are few columns")]
    const PLACES: [u8; COLUMN_COUNT] = {
        let mut places = [u8::MAX; COLUMN_COUNT];
        let mut place = 0;
        while place < ATTRIBUTES.len() {
            places[ATTRIBUTES[place] as usize] = place as u8;
            place += 1;
        }
        places
    };
    PLACES[column as usize].into()
}

/// What one snapshot says of one path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Version {
    /// Number of the root in the newer snapshot. Both snapshots have the same roots.
    pub root: u32,
    /// True if the file counts in sums. Only one of the names of an inode counts.
    pub charged: bool,
    /// The type of the file.
    pub file_type: FileType,
    /// The columns whose values are known.
    known: ColumnSet,
    /// The row in the snapshot.
    pub row: u64,
    /// The path relative to the root.
    pub path: Arc<[u8]>,
    /// The hash of the contents, if both snapshots have hashes and this one knows it.
    pub hash: Option<Box<[u8; HASH_BYTES]>>,
    /// The values, in the order of [`ATTRIBUTES`].
    values: [i64; ATTRIBUTES.len()],
}

impl Version {
    /// Creates a version without any known number.
    pub fn new(root: u32, row: u64, path: Arc<[u8]>, file_type: FileType) -> Self {
        Self {
            root,
            charged: false,
            file_type,
            known: ColumnSet::default(),
            row,
            path,
            hash: None,
            values: [0; ATTRIBUTES.len()],
        }
    }

    /// Sets the number of an attribute. Unsigned numbers of 64 bits keep their bits. `fs` is the
    /// number of the file system, the same for both snapshots.
    #[inline]
    pub fn set(&mut self, column: Column, value: Option<i64>) {
        let Some(place) = self.values.get_mut(place(column)) else {
            return;
        };
        match value {
            Some(value) => {
                self.known.insert(column);
                *place = value;
            }
            None => self.known.remove(column),
        }
    }

    /// Returns the number of an attribute, or `None` if it is not known.
    #[inline]
    pub fn get(&self, column: Column) -> Option<i64> {
        let value = *self.values.get(place(column))?;
        self.known.contains(column).then_some(value)
    }

    /// Returns true if both versions know the number of an attribute, and it differs.
    #[inline]
    pub(super) fn differs_in(&self, other: &Self, column: Column) -> bool {
        let place = place(column);
        self.known.contains(column)
            && other.known.contains(column)
            && self.values.get(place) != other.values.get(place)
    }

    /// Returns the file system and the inode number, if both are known.
    pub(super) fn inode(&self) -> Option<InodeKey> {
        Some((self.get(Column::Fs)?, self.get(Column::Ino)?))
    }

    /// Returns true if the inode has several names, below the roots or elsewhere. Directories have
    /// one.
    pub(super) fn has_links(&self) -> bool {
        self.file_type != FileType::Directory
            && self.get(Column::Nlink).is_some_and(|links| links > 1)
    }

    /// Returns the bytes that this row adds to sums.
    pub fn bytes(&self) -> i64 {
        if self.charged {
            // Only a damaged file has less than 0.
            self.get(Column::Alloc).unwrap_or(0).max(0)
        } else {
            0
        }
    }

    /// Returns true if two versions of one path are the same file, on file systems that may be one.
    ///
    /// Where inode numbers last, no known part of the identity differs. Elsewhere another inode
    /// number says nothing: the same size and time of modification are the same file. A directory
    /// is the same while it has its path.
    pub(super) fn is_same_file(&self, other: &Self, trust: IdentityTrust) -> bool {
        let agrees = |field| match (self.get(field), other.get(field)) {
            (Some(a), Some(b)) => a == b,
            _ => true,
        };
        let has_same_inode =
            || agrees(Column::Ino) && (!trust.keeps_birth || agrees(Column::Btime));
        let is_directory = [self.file_type, other.file_type] == [FileType::Directory; 2];
        let looks_same = || self.look().is_some() && self.look() == other.look();
        !self.differs_in_type(other)
            && (has_same_inode() || !trust.keeps_inode && (is_directory || looks_same()))
    }

    /// Returns size and time of modification, if both are known.
    pub(super) fn look(&self) -> Option<(i64, i64)> {
        Some((self.get(Column::Size)?, self.get(Column::Mtime)?))
    }

    /// Returns true if both types are known and differ.
    pub(super) fn differs_in_type(&self, other: &Self) -> bool {
        let unknown = FileType::Unknown;
        self.file_type != other.file_type && self.file_type != unknown && other.file_type != unknown
    }

    /// Returns true if both hashes are known and differ.
    pub(super) fn differs_in_hash(&self, other: &Self) -> bool {
        match (&self.hash, &other.hash) {
            (Some(a), Some(b)) => a != b,
            _ => false,
        }
    }

    /// Returns the name: what comes behind the last slash.
    pub(super) fn name(&self) -> &[u8] {
        split(&self.path).1
    }

    /// Returns the root and the path of the directory that has this name. A root has none.
    pub(super) fn parent(&self) -> Option<Place<'_>> {
        (!self.path.is_empty()).then(|| (self.root, split(&self.path).0))
    }

    /// Returns root and path.
    pub(super) fn place(&self) -> Place<'_> {
        (self.root, &self.path)
    }
}

/// The numbers of a file system and of an inode on it.
pub(super) type InodeKey = (i64, i64);

/// A root and a path relative to it.
pub(super) type Place<'a> = (u32, &'a [u8]);

/// Returns the path of the directory and the name in it.
pub(super) fn split(path: &[u8]) -> (&[u8], &[u8]) {
    match path.iter().rposition(|byte| *byte == b'/') {
        Some(slash) => (&path[..slash], &path[slash + 1..]),
        None => (b"", path),
    }
}

/// Returns the directories that a path lies in, from the nearest to the root.
pub(crate) fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    let parent = |path: &[u8]| split(path).0.len();
    let first = (!path.is_empty()).then(|| &path[..parent(path)]);
    std::iter::successors(first, move |above| {
        (!above.is_empty()).then(|| &path[..parent(above)])
    })
}

/// Something that a snapshot does not know: a file that could not be read, or was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The snapshot.
    pub which: Which,
    /// Number of the root in the newer snapshot.
    pub root: u32,
    /// The path relative to the root.
    pub path: Arc<[u8]>,
    /// The type of the file.
    pub file_type: FileType,
    /// The number of the error.
    pub errno: Option<i32>,
    /// The operation that failed, or the reason why the file was left out.
    pub reason: String,
}

impl Unread {
    /// Returns true if names below this directory may be missing.
    pub(super) fn hides_names(&self) -> bool {
        let may_list = matches!(self.file_type, FileType::Directory | FileType::Unknown);
        may_list && self.reason != "xattr"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_lies_in_every_directory_up_to_the_root() {
        let all = |path: &'static [u8]| ancestors(path).collect::<Vec<_>>();
        assert_eq!(all(b""), Vec::<&[u8]>::new(), "a root lies in none");
        assert_eq!(all(b"a"), [b""]);
        assert_eq!(all(b"a/b/c"), [&b"a/b"[..], b"a", b""]);
    }

    #[test]
    fn unknown_parts_of_an_identity_do_not_differ() {
        let ext4 = IdentityTrust::of_type("ext4");
        let mut a = Version::new(0, 0, Arc::from(&b"a"[..]), FileType::Regular);
        let mut b = a.clone();
        assert!(a.is_same_file(&b, ext4));
        a.set(Column::Ino, Some(1));
        assert!(a.is_same_file(&b, ext4));
        b.set(Column::Ino, Some(2));
        assert!(!a.is_same_file(&b, ext4));
        b.set(Column::Ino, Some(1));
        a.set(Column::Btime, Some(5));
        b.set(Column::Btime, Some(6));
        assert!(!a.is_same_file(&b, ext4), "an inode number used again");
        b.set(Column::Btime, None);
        assert!(a.is_same_file(&b, ext4));
        b.file_type = FileType::Symlink;
        assert!(!a.is_same_file(&b, ext4));
    }

    #[test]
    fn size_and_time_come_before_inode_numbers_that_do_not_last() {
        let version = |ino, size, file_type| {
            let mut version = Version::new(0, 0, Arc::from(&b"a"[..]), file_type);
            version.set(Column::Ino, Some(ino));
            version.set(Column::Btime, Some(ino));
            version.set(Column::Size, Some(size));
            version.set(Column::Mtime, Some(7));
            version
        };
        let same = |kind, a: &Version, b: &Version| a.is_same_file(b, IdentityTrust::of_type(kind));
        let (file, directory) = (FileType::Regular, FileType::Directory);
        let one = version(1, 5, file);
        for kind in ["fuse.sshfs", "overlay", "vfat", "9p", "vfat", ""] {
            assert!(same(kind, &one, &version(2, 5, file)), "{kind}");
            assert!(!same(kind, &one, &version(2, 6, file)), "{kind}");
            assert!(same(kind, &one, &version(1, 6, file)), "{kind}");
            assert!(!same(kind, &one, &version(1, 5, directory)), "{kind}");
            let directories = [version(1, 5, directory), version(2, 6, directory)];
            assert!(same(kind, &directories[0], &directories[1]), "{kind}");
        }
        for kind in ["ext4", "btrfs", "nfs"] {
            assert!(!same(kind, &one, &version(2, 5, file)), "{kind}");
        }
        let mut copied_up = version(1, 6, file);
        copied_up.set(Column::Btime, Some(9));
        assert!(same("overlay", &one, &copied_up));
        assert!(
            !same("vfat", &one, &copied_up),
            "a time of birth that stays"
        );
    }
}
