//! The descriptors of a walk that are no directories of the tree.

/// Something that a walk opens on its way, counted with the most descriptors that it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Extra {
    /// A source of one worker that asks the kernel for whole batches: its ring and a directory that
    /// is being closed on it, or the device of the module.
    Kernel,
    /// A file system that is read past the VFS, for the whole walk: its block device, and a
    /// directory on it that keeps it mounted. While the file system is examined, also the table of
    /// mounts, and a mount point.
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
