//! The numbers of the operations, which are not known before a ring has been asked.

use std::sync::OnceLock;

use rustix::io::Errno;

use crate::probe::IoUring;

/// `IORING_FEAT_DIR`: the three highest operations are those for directories. Mainline does not use the bit.
pub(super) const FEATURE: u32 = 1 << 30;

/// The last operation of mainline (`IORING_OP_URING_CMD128` of Linux 7.3) is number 64, of Linux 6.1 48: what reads directories
/// comes after the 48 of the oldest kernel that the patches are for.
const LEAST: u8 = 48;

/// Numbers of the operations that read directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirectoryOpcodes {
    /// Names.
    pub getdents: u8,
    /// Names and metadata.
    pub readdirplus: u8,
    /// Inodes brought in.
    pub readahead: u8,
}

impl DirectoryOpcodes {
    /// Numbers that no kernel has so far: whatever it knows, a ring answers `EINVAL`.
    pub(super) const NONE: Self = Self {
        getdents: 253,
        readdirplus: 254,
        readahead: 255,
    };

    /// Asks a ring. `None`: this kernel does not have them.
    ///
    /// # Errors
    ///
    /// Those of [`IoUring::probe`].
    pub fn probe() -> Result<Option<Self>, Errno> {
        IoUring::probe().map(|ring| Self::of(&ring))
    }

    /// As [`probe`](Self::probe), once for the whole process. A failure to ask (no descriptor was left, say) is not remembered,
    /// and told as if there were none.
    pub fn cached() -> Option<Self> {
        static FOUND: OnceLock<Option<DirectoryOpcodes>> = OnceLock::new();
        if let Some(found) = FOUND.get() {
            return *found;
        }
        let found = Self::probe().ok()?;
        *FOUND.get_or_init(|| found)
    }

    /// The operations of a kernel that has answered. Not told by version or number alone: a bit says that they are there, and they are the last.
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
