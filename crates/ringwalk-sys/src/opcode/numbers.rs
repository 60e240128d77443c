//! The numbers of the operations, which a program learns by asking a ring.

use std::sync::OnceLock;

use rustix::io::Errno;

use super::trial::reads_directories;
use crate::probe::IoUring;

/// The last operation of Linux 6.1, the oldest kernel that this crate supports. So the operations
/// for directories have higher numbers.
const LAST_BEFORE: u8 = 48;

/// Numbers of the operations that read directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryOpcodes {
    /// Reads names.
    pub getdents: u8,
    /// Reads names and metadata.
    pub readdirplus: u8,
    /// Reads names and metadata of a directory and of those below it.
    pub readtree: u8,
    /// Brings inodes into memory.
    pub readahead: u8,
}

impl DirectoryOpcodes {
    /// Numbers that no kernel has so far: every ring answers `EINVAL`.
    pub(crate) const NONE: Self = Self {
        getdents: 252,
        readdirplus: 253,
        readtree: 254,
        readahead: 255,
    };

    /// Asks a ring for the numbers, and tries the first of them. Returns `None` if the kernel does
    /// not have the operations.
    ///
    /// # Errors
    ///
    /// Those of [`IoUring::probe`], and those of reading the root directory, which the trial reads.
    pub fn probe() -> Result<Option<Self>, Errno> {
        Self::confirmed(&IoUring::probe()?)
    }

    /// Returns the result of [`probe`](Self::probe), which is called once for the process. Returns
    /// `None` also if the ring could not be asked, because no descriptor was free for instance. The
    /// next call then asks again.
    pub fn cached() -> Option<Self> {
        static FOUND: OnceLock<Option<DirectoryOpcodes>> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return *found;
        }
        let found = Self::probe().ok()?;
        *FOUND.get_or_init(|| found)
    }

    /// Returns what [`cached`](Self::cached) returns, or numbers that the kernel refuses.
    pub(super) fn of_kernel() -> Self {
        Self::cached().unwrap_or(Self::NONE)
    }

    /// Returns the operations of a kernel from what a ring answered and from a trial. Returns
    /// `None` also if nothing could be tried.
    pub fn of(ring: &IoUring) -> Option<Self> {
        Self::confirmed(ring).ok().flatten()
    }

    fn confirmed(ring: &IoUring) -> Result<Option<Self>, Errno> {
        match Self::candidates(ring) {
            Some(found) if reads_directories(found)? => Ok(Some(found)),
            _ => Ok(None),
        }
    }

    /// Returns the last four operations of a kernel. They are those of the patches, or others that
    /// mainline has. Linux 7.3 has 64, the last one `IORING_OP_URING_CMD128`.
    pub(super) fn candidates(ring: &IoUring) -> Option<Self> {
        let last = ring.last_operation();
        let found = Self {
            getdents: last.checked_sub(3)?,
            readdirplus: last.checked_sub(2)?,
            readtree: last.checked_sub(1)?,
            readahead: last,
        };
        let mut all = found.getdents..=last;
        let performed = all.all(|operation| ring.supports(operation));
        (found.getdents > LAST_BEFORE && performed).then_some(found)
    }
}
