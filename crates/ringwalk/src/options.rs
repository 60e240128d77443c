//! What a walk has been asked for, resolved and shared by all its workers.

use crate::batch::Candidate;
use crate::metadata::Fields;
use crate::root::Root;
use std::ffi::OsStr;
use std::fmt;
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;

/// Which symbolic links are followed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Follow {
    /// None: a link is an entry like any other.
    #[default]
    Never,
    /// Those given as roots.
    CommandLine,
    /// All. A directory that the walk is inside of already, met again through a link to it or to above it, is reported
    /// as an error and not entered. A link whose target does not exist (`ENOENT`, `ENOTDIR`) is an
    /// entry of its own. If the target cannot be looked at for another reason (`EACCES`,
    /// `ELOOP`...), that is an error.
    Always,
}

/// Where a walk does not go on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stay {
    /// It goes everywhere below its roots.
    #[default]
    Anywhere,
    /// It does not descend into directories on another device than their root.
    Device,
    /// It does not descend into directories on another mount than their root; unlike with
    /// [`Device`](Self::Device) that includes bind mounts. Where the kernel gives no mount ids (before Linux 5.8) it
    /// is the same as `Device`.
    Mount,
}

/// The order in which entries of one directory come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// As the source gives them. Which source that is can change in the middle of a walk.
    #[default]
    Any,
    /// As `getdents64` gives them, whatever the source: the same on every run, as long as nothing changes.
    Listed,
    /// By the bytes of their names. The directory is read to its end first and is one batch, so memory for its names is
    /// needed.
    Name,
}

/// Which source a walk reads from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SourceChoice {
    /// The cheapest that is allowed and right for what is walked.
    #[default]
    Auto,
    /// Plain system calls, on any kernel, without privileges.
    Syscall,
    /// Inode tables and directory blocks of ext2, ext3 or ext4 from the block device, which must be readable.
    Ext4,
    /// BULKSTAT of XFS, for metadata; needs `CAP_SYS_ADMIN`.
    Xfs,
    /// `TREE_SEARCH_V2` of btrfs; needs `CAP_SYS_ADMIN`.
    Btrfs,
    /// Names and metadata of whole batches by the kernel module `ringwalk`.
    Module,
    /// The same by operations of `io_uring`, in a kernel that has them.
    Ring,
    /// Many directories at once, completed in any order, names and metadata together.
    #[cfg(test)]
    Shuffled,
    /// As `Module`, of a kernel that is not there.
    #[cfg(test)]
    Emulated(&'static crate::source::Behaviour),
}

impl SourceChoice {
    /// The name that [`from_str`](Self::from_str) takes.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Syscall => "syscall",
            Self::Ext4 => "ext4",
            Self::Xfs => "xfs",
            Self::Btrfs => "btrfs",
            Self::Module => "module",
            Self::Ring => "ring",
            #[cfg(test)]
            Self::Shuffled => "shuffled",
            #[cfg(test)]
            Self::Emulated(_) => "emulated",
        }
    }

    /// Whether it reads past the VFS, and only some file systems.
    pub(crate) fn is_volume(self) -> bool {
        matches!(self, Self::Ext4 | Self::Xfs | Self::Btrfs)
    }

    /// Whether the kernel is to give names and metadata together.
    pub(crate) fn is_kernel(self) -> bool {
        matches!(self, Self::Module | Self::Ring)
    }

    /// All there are in this version, in the order in which they are told of.
    pub const ALL: [Self; 7] = [
        Self::Auto,
        Self::Syscall,
        Self::Module,
        Self::Ring,
        Self::Ext4,
        Self::Xfs,
        Self::Btrfs,
    ];

    /// The names that [`from_str`](Self::from_str) takes.
    pub const NAMES: [&'static str; 7] =
        ["auto", "syscall", "module", "ring", "ext4", "xfs", "btrfs"];
}

/// Whether the blocks that a walk will need are read ahead in the order of the disk. Needs read access to the block device of an ext2,
/// ext3 or ext4 file system; elsewhere there is nothing to be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Prefetch {
    /// Where they are found not to be in memory.
    #[default]
    Auto,
    /// Without looking.
    Always,
    /// Not at all.
    Never,
}

/// A name that no source of this version has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownSource(String);

impl fmt::Display for UnknownSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = SourceChoice::NAMES.join(", ");
        write!(
            f,
            "no source {:?} in this version; there are: {names}",
            self.0
        )
    }
}

impl std::error::Error for UnknownSource {}

/// A source that was asked for by name and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    pub(crate) source: SourceChoice,
    pub(crate) path: Vec<u8>,
    pub(crate) reason: String,
}

impl SourceError {
    /// The root that cannot be read by it, as it was given.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Why not.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, source) = (self.path.escape_ascii(), self.source.as_str());
        write!(
            f,
            "cannot read \"{path}\" by source {source}: {}",
            self.reason
        )
    }
}

impl std::error::Error for SourceError {}

impl FromStr for SourceChoice {
    type Err = UnknownSource;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let found = Self::ALL.into_iter().find(|known| known.as_str() == name);
        found.ok_or_else(|| UnknownSource(name.to_owned()))
    }
}

/// A decision before descending.
pub(crate) type Filter = Box<dyn Fn(&Candidate<'_>) -> bool + Send + Sync>;

#[allow(
    clippy::struct_excessive_bools,
    reason = "independent options, not a state"
)]
pub(crate) struct Options {
    pub(crate) roots: Vec<Root>,
    pub(crate) fields: Fields,
    pub(crate) follow: Follow,
    pub(crate) stay: Stay,
    pub(crate) min_depth: usize,
    pub(crate) max_depth: usize,
    pub(crate) workers: Option<NonZeroUsize>,
    pub(crate) buffer_size: Option<usize>,
    pub(crate) order: Order,
    pub(crate) source: SourceChoice,
    pub(crate) prefetch: Prefetch,
    pub(crate) sync: bool,
    pub(crate) raise_limits: bool,
    /// Descriptors left to the rest of the process; `None` is the default.
    pub(crate) descriptor_reserve: Option<usize>,
    pub(crate) parents_open: bool,
    pub(crate) preorder: bool,
    pub(crate) filter: Option<Filter>,
}

impl Options {
    /// Those of a walk over these roots of which nothing else has been said.
    pub(crate) fn new(roots: Vec<Root>) -> Self {
        Self {
            roots,
            fields: Fields::empty(),
            follow: Follow::default(),
            stay: Stay::default(),
            min_depth: 0,
            max_depth: usize::MAX,
            workers: None,
            buffer_size: None,
            order: Order::default(),
            source: SourceChoice::default(),
            prefetch: Prefetch::default(),
            sync: false,
            raise_limits: false,
            descriptor_reserve: None,
            parents_open: false,
            preorder: false,
            filter: None,
        }
    }
}
