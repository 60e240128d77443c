//! What says that a file has not changed.

use ringwalk::{Errno, Fields, Metadata, Timestamp};
use ringwalk_sys::{Statx, statx};
use rustix::fs::AtFlags;
use rustix::io::retry_on_intr;
use std::os::fd::AsFd;

/// A file with the contents of one moment.
///
/// A change of the contents changes `ctime`, and no program can set that. So equal versions mean
/// equal contents, with one exception: two changes within one step of the file system's clock have
/// the same time. Code that keeps a version must take none that is so young
/// ([`ringwalk::time_stamps`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FileVersion {
    /// Device, in the form of `st_dev`.
    pub dev: u64,
    /// Inode number.
    pub ino: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of the contents.
    pub mtime: Timestamp,
    /// Time of the last change of the inode.
    pub ctime: Timestamp,
    /// Time of birth. `None` where the file system has none. Without it, another file may have the
    /// inode number later.
    pub btime: Option<Timestamp>,
}

impl FileVersion {
    /// The fields of metadata that a version is made of, and the type.
    pub const FIELDS: Fields = Fields::TYPE
        .union(Fields::INO)
        .union(Fields::SIZE)
        .union(Fields::MTIME)
        .union(Fields::CTIME)
        .union(Fields::BTIME);

    /// Takes the version from metadata. Returns `None` if a field other than `btime` is missing.
    pub fn of(metadata: &Metadata) -> Option<Self> {
        let file = metadata.identity()?;
        Some(Self {
            dev: file.dev,
            ino: file.ino,
            size: metadata.size()?,
            mtime: metadata.mtime()?,
            ctime: metadata.ctime()?,
            btime: metadata.btime(),
        })
    }

    /// Asks for the metadata of an open file: the kernel, and the server of a network or FUSE file
    /// system, even if the kernel has an answer in memory.
    ///
    /// # Errors
    ///
    /// The errors of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html).
    pub fn metadata(file: impl AsFd) -> Result<Metadata, Errno> {
        let mut found = Statx::default();
        let fields = Self::FIELDS | Fields::BLOCKS | Fields::NLINK | Fields::MODE;
        let fields = fields | Fields::UID | Fields::GID;
        retry_on_intr(|| {
            let flags = AtFlags::EMPTY_PATH | AtFlags::STATX_FORCE_SYNC;
            statx(&file, c"", flags, fields.bits(), &mut found)
        })?;
        Ok(Metadata::from(&found))
    }
}
