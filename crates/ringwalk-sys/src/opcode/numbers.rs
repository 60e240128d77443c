//! The numbers of the operations, which a program learns by asking a ring.

use std::sync::OnceLock;

use rustix::io::Errno;

use crate::probe::IoUring;

/// `IORING_FEAT_DIR`: the three highest operations are those for directories. Mainline does not use
/// this bit.
pub(super) const FEATURE: u32 = 1 << 30;

/// The number of operations of Linux 6.1, the oldest kernel that the patches are for. So the
/// operations for directories have higher numbers. (Linux 7.3 has 64, the last one
/// `IORING_OP_URING_CMD128`.)
const LEAST: u8 = 48;

/// Numbers of the operations that read directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryOpcodes {
    /// Reads names.
    pub getdents: u8,
    /// Reads names and metadata.
    pub readdirplus: u8,
    /// Brings inodes into memory.
    pub readahead: u8,
}

impl DirectoryOpcodes {
    /// Numbers that no kernel has so far: every ring answers `EINVAL`.
    pub(super) const NONE: Self = Self {
        getdents: 253,
        readdirplus: 254,
        readahead: 255,
    };

    /// Asks a ring for the numbers. Returns `None` if the kernel does not have the operations.
    ///
    /// # Errors
    ///
    /// Those of [`IoUring::probe`].
    pub fn probe() -> Result<Option<Self>, Errno> {
        IoUring::probe().map(|ring| Self::of(&ring))
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

    /// Returns the operations of a kernel from what a ring answered. Version and number alone prove
    /// nothing: a feature bit says that the kernel has the operations, and they are the last ones.
    pub fn of(ring: &IoUring) -> Option<Self> {
        let last = ring.last_operation();
        let found = Self {
            getdents: last.checked_sub(2)?,
            readdirplus: last.checked_sub(1)?,
            readahead: last,
        };
        let performed = |operation| ring.supports(operation);
        let all = [found.getdents, found.readdirplus, found.readahead];
        (ring.features() & FEATURE != 0 && found.getdents > LEAST && all.into_iter().all(performed))
            .then_some(found)
    }
}
