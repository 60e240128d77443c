//! Settings of a walk: which links it follows, where it stays, in which order entries come, and
//! whether blocks are read ahead.

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// No links: a link is an entry like any other.
    #[default]
    Never,
    /// Links that are given as roots.
    CommandLine,
    /// All links. If a link leads to a directory that the walk is inside of already, or above it,
    /// the walk reports an error and does not enter. A link whose target does not exist (`ENOENT`,
    /// `ENOTDIR`) is an entry of its own. If the target cannot be looked at for another reason
    /// (`EACCES`, `ELOOP`...), the walk reports an error.
    Always,
}

/// Where a walk does not go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stay {
    /// The walk goes everywhere below its roots.
    #[default]
    Anywhere,
    /// The walk does not descend into directories on another device than their root.
    Device,
    /// The walk does not descend into directories on another mount than their root. Unlike
    /// [`Device`](Self::Device) this includes bind mounts. Where the kernel gives no mount ids
    /// (before Linux 5.8), it is the same as `Device`.
    Mount,
}

/// The order in which entries of one directory come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// The order in which the source gives them. The source can change in the middle of a walk.
    #[default]
    Any,
    /// The order of `getdents64`, whatever the source is: the same on every run, as long as nothing
    /// changes.
    Listed,
    /// The order of the bytes of their names. The directory is read to its end first and is one
    /// batch, so all of its names are in memory.
    Name,
}

/// Whether the blocks that a walk will need are read ahead in the order of the disk. Needs read
/// access to the block device of an ext2, ext3 or ext4 file system; elsewhere there is nothing to
/// be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Prefetch {
    /// Where they are found not to be in memory.
    #[default]
    Auto,
    /// Without looking.
    Always,
    /// Not at all.
    Never,
}
