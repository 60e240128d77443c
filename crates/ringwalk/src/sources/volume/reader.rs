//! The traits of a volume and of its readers, and the reasons why they decline.

use crate::shown::one_line;
use crate::sources::older::OlderVolume;
use crate::sources::raw_batch::RawBatch;
use crate::sources::volume::DirectoryCopy;
use crate::sources::wanted::Wanted;
use ringwalk_sys::RawFileType as FileType;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why a source declines, as text that follows `because` or a colon: `the mount is idmapped`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) Cow<'static, str>);

impl Refused {
    /// Leaves out the numbers that the standard library appends to errors of the kernel. Escapes
    /// control characters, as a reason may hold the type of a file system or the path of a mount.
    pub(crate) fn because(reason: impl Into<Cow<'static, str>>) -> Self {
        let reason = one_line(reason);
        if let Some((before, after)) = reason.split_once(" (os error ")
            && let Some((_, after)) = after.split_once(')')
        {
            return Self(format!("{before}{after}").into());
        }
        Self(reason)
    }
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The key of a directory to list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DirectoryKey<'n> {
    /// The directory's inode number, as its entry in the parent has it.
    pub(crate) ino: u64,
    /// The inode number of the parent; `None` for a root. A reader refuses a directory whose `..`
    /// is another one: the directory was moved, or its number was used again.
    pub(crate) parent: Option<u64>,
    /// The directory's name in the parent; for a root the path that was given.
    pub(crate) name: &'n [u8],
}

/// The position at which a reader continues to list a large directory that is not open.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// An offset or an index.
    pub(crate) at: u64,
    /// A copy, if the directory had to be read as a whole.
    pub(crate) bytes: Option<Arc<DirectoryCopy>>,
    /// True for a row of an older tree.
    pub(crate) in_older: bool,
}

impl Position {
    /// Returns a position that needs nothing but its offset or index.
    pub(crate) fn at(at: u64) -> Self {
        Self {
            at,
            bytes: None,
            in_older: false,
        }
    }
}

/// Returns the type of an entry by the number that directories of ext4 and btrfs hold: `FT_*` of
/// `include/linux/fs_types.h`.
pub(crate) fn listed_type(ft: u8) -> FileType {
    match ft {
        1 => FileType::Regular,
        2 => FileType::Directory,
        3 => FileType::CharacterDevice,
        4 => FileType::BlockDevice,
        5 => FileType::Fifo,
        6 => FileType::Socket,
        7 => FileType::Symlink,
        _ => FileType::Unknown,
    }
}

/// A mounted file system that can be read by inode number.
pub(crate) trait Volume: Send + Sync {
    /// Returns a description for people: the device, and how much of the file system is in use.
    fn describe(&self) -> String;

    /// Returns true if the readers of this volume list directories. If not, system calls read
    /// names, and the volume returns metadata.
    fn lists(&self) -> bool {
        true
    }

    /// Returns true if entries of its directories can lead to other volumes without a mount, as
    /// subvolumes of btrfs do.
    fn has_subvolumes(&self) -> bool {
        false
    }

    /// Returns true if the inode number of a directory entry is one of this volume. If not, the
    /// entry leads to another volume.
    fn holds(&self, ino: u64) -> bool {
        let _ = ino;
        true
    }

    /// Returns the number of the subvolume; 0 on file systems without subvolumes.
    fn subvolume(&self) -> u64 {
        0
    }

    /// Returns a volume that gives the same answers, and takes from an older tree what has not
    /// changed since.
    ///
    /// # Errors
    ///
    /// If that cannot be known, or is no faster.
    fn update(self: Arc<Self>, older: OlderVolume) -> Result<Arc<dyn Volume>, Refused> {
        let _ = older;
        Err(Refused::because("reading all of it takes no longer"))
    }

    /// Returns a reader for one worker.
    fn reader(self: Arc<Self>) -> Box<dyn Reader>;
}

/// Reads a volume for one worker.
pub(crate) trait Reader: Send {
    /// Fills `batch` (which is empty) with the entries of a directory, without `.` and `..`, with
    /// types as far as they are known. Returns `None` after all entries, or the position to
    /// continue at after the first few thousand. Inode numbers come from the file system, and
    /// cookies are 0.
    ///
    /// The listing shows one moment: every entry that is in the directory from the first call to
    /// the end of the last call is in exactly one batch, once.
    ///
    /// # Errors
    ///
    /// If the reader cannot answer, or is not certain. `batch` is then empty, and system calls read
    /// the directory. If the reader cannot continue a listing, the rest of the directory is an
    /// error.
    fn list(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused>;

    /// Makes `batch.known` as long as the batch. Fills in the metadata of the entries that the
    /// reader is certain about, on the device and mount of [`OpenMount`](super::OpenMount), with
    /// the mask that statx(2) would return. The reader skips an entry that was deleted, has another
    /// type than was listed, is damaged, or was
    /// [changed too lately](super::OpenMount::is_unsettled). It also skips symbolic links that
    /// `wanted` follows.
    ///
    /// `dir` is the directory of the batch. It was listed a moment ago by this reader, by another
    /// one, or by system calls.
    fn stat(&mut self, dir: DirectoryKey<'_>, batch: &mut RawBatch, wanted: Wanted);
}
