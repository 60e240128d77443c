//! File systems read past the VFS, by inode number.
//!
//! A [`Volume`] is one mounted file system. Each worker has a [`Reader`] of it, which answers at once: from the page cache of a
//! block device, or by an ioctl. A worker asks it for a directory's entries and for the metadata of a batch; what the
//! reader refuses, and every entry that it leaves [`Known::Nothing`](crate::raw_batch::Known), is asked by system calls, as
//! if there were no volume. So a reader may be as picky as it likes, and must be where it is not sure.
//!
//! | file | what is in it |
//! |---|---|
//! | `mounted.rs` | the mount that a volume is read below of: what holds for all files of it |
//! | `bulk.rs` | which directories of a walk are read so |
//! | `grounds.rs` | which of its roots lie on which volume |
//! | `budget.rs` | the memory that a walk may hold in snapshots of large directories |
//! | `covered.rs` | entries that something else is mounted on |
//! | `ext4/` | ext2, ext3 and ext4 from the block device |
//! | `xfs/` | metadata by BULKSTAT |
//! | `btrfs/` | names and metadata by TREE_SEARCH_V2 |

pub(crate) mod btrfs;
mod budget;
mod bulk;
mod covered;
pub(crate) mod ext4;
mod grounds;
mod mounted;
pub(crate) mod xfs;

pub(crate) use budget::{Budget, Share, Snapshot};
pub(crate) use bulk::Bulk;
pub(crate) use covered::Covered;
pub(crate) use grounds::{Grounds, open_root};
pub(crate) use mounted::{Mounted, now as seconds_now, read_mounts};

use crate::raw_batch::RawBatch;
use crate::shown::one_line;
use crate::stat::Wanted;
use ringwalk_sys::RawFileType as FileType;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Why something is not answered past the VFS; words that go on after `because` or a colon, such as `the mount is idmapped`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Refused(pub(crate) Cow<'static, str>);

impl Refused {
    /// Leaves out the numbers that the standard library puts behind the kernel's answers. Escapes
    /// control characters: a reason may hold the type of a file system or the path of a mount.
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

/// A directory to be listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Wanting<'n> {
    /// Its inode number, as the directory above has it.
    pub(crate) ino: u64,
    /// The inode number of the directory above; `None` for a root. A directory whose `..` is another one has been moved, or
    /// its number has been used again, and is refused.
    pub(crate) parent: Option<u64>,
    /// Its name in the directory above; for a root whatever it was called.
    pub(crate) name: &'n [u8],
}

/// Where the listing of a large directory goes on: whatever its reader needs for that.
#[derive(Clone, Debug)]
pub(crate) struct Position {
    /// An offset, an index.
    pub(crate) at: u64,
    /// What has been read ahead, if the directory had to be read at one go.
    pub(crate) bytes: Option<Arc<Snapshot>>,
}

/// The type that a directory of ext4 or btrfs tells of an entry: `FT_*` of `include/linux/fs_types.h`.
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
    /// As `--source` names it.
    fn name(&self) -> &'static str;

    /// What speaks for it, for people: the device, how much of the file system is in use.
    fn describe(&self) -> String;

    /// Whether its readers list directories; if not, names come by system calls and metadata from here.
    fn lists(&self) -> bool {
        true
    }

    /// Whether entries of its directories may lead to other volumes, though nothing is mounted there.
    fn has_parts(&self) -> bool {
        false
    }

    /// Whether the inode number of a directory entry is one of this volume; if not, the entry leads to another one.
    fn holds(&self, ino: u64) -> bool {
        let _ = ino;
        true
    }

    /// A reader for one worker.
    fn reader(self: Arc<Self>) -> Box<dyn Reader>;
}

/// One worker's means to read a volume.
pub(crate) trait Reader: Send {
    /// Fills `batch` (which is empty) with the entries of a directory, `.` and `..` left out, types told as far as they are known; all of
    /// them, or the first some thousand and where to go on. Inode numbers are those of the file system, cookies 0.
    ///
    /// A snapshot is given: every entry that is in the directory from the first call to the end of the last is in one batch, once.
    ///
    /// # Errors
    ///
    /// If it cannot or will not answer: nothing is in `batch` then, and the directory is read by system calls. Where it
    /// cannot go on, the rest of the directory is an error.
    fn list(
        &mut self,
        dir: Wanting<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused>;

    /// Makes `batch.known` as long as the batch and fills in the metadata of the entries it is sure of, on
    /// [`Mounted`]'s device and mount, with the mask that statx(2) would return. An entry that it is not sure of stays as it is: one that was
    /// deleted or is not of the type it was listed with, damaged, changed too lately
    /// ([`Mounted::is_unsettled`]). Symbolic links that `wanted` follows are left out, too.
    ///
    /// `dir` is the directory that the batch is of, listed a moment ago by this reader or another one, or by system calls.
    fn stat(&mut self, dir: Wanting<'_>, batch: &mut RawBatch, wanted: Wanted);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_for_people() {
        let errno = rustix::io::Errno::PERM;
        let reason = Refused::because(format!("/dev/sda: {errno}, twice"));
        assert_eq!(
            reason.to_string(),
            "/dev/sda: Operation not permitted, twice"
        );
        assert_eq!(Refused::because("plain").to_string(), "plain");
        assert_eq!(
            Refused::because("on fuse.\u{1b}[2J\n".to_owned()).to_string(),
            "on fuse.\\033[2J\\n"
        );
    }
}
