//! What a walk has open besides directories.

/// Something that a walk opens on its way, by the descriptors that it takes at the most.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extra {
    /// A source that asks the kernel for whole batches, of one worker: its ring and a directory
    /// that is being closed on it, or the device of the module.
    Kernel,
    /// A file system read past the VFS, for the whole walk: its block device, and a directory on it
    /// that keeps it mounted. While it is looked at, the table of mounts, and a mount point.
    Volume,
    /// Reading ahead, while it lasts: the block device, a ring, the table of mounts and a root.
    Prefetch,
}

impl Extra {
    /// Returns how many descriptors it takes.
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Kernel => 2,
            Self::Volume | Self::Prefetch => 4,
        }
    }
}
