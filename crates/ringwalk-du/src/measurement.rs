//! What is measured of each file that counts, and the level down to which there are lines.

use ringwalk::{Fields, FileType, Metadata};

use crate::one_sum::Measure;
use crate::rule::Rule;
use crate::totals::Totals;

/// What `ringwalk du` measures, and for which directories and files it writes lines.
#[derive(Clone, Debug)]
pub struct Measurement {
    /// Which files count.
    pub rule: Rule,
    /// The size of a file.
    pub size: Size,
    /// The time whose latest value below a directory is found.
    pub time: Option<TimeKind>,
    /// Files have lines, not only directories and operands.
    pub all: bool,
    /// The depth of the last level that has lines.
    pub max_depth: usize,
    /// Subdirectories do not count for a directory.
    pub separate: bool,
}

/// The size of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// The space that the file takes.
    Allocated,
    /// The bytes of regular files and symbolic links.
    Apparent,
    /// The space that the file shares with no other file.
    Exclusive,
    /// One for each file: inodes are counted, not space.
    Inodes,
}

/// A time of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeKind {
    /// The time of the last change of the contents.
    Modified,
    /// The time of the last reading.
    Accessed,
    /// The time of the last change of contents or attributes.
    Changed,
}

impl Size {
    /// Returns the amount that a line shows and that thresholds are compared with.
    pub fn amount(self, totals: &Totals) -> u64 {
        match self {
            Self::Inodes => totals.inodes,
            Self::Allocated | Self::Apparent | Self::Exclusive => totals.size,
        }
    }
}

impl Measurement {
    /// Returns the metadata that a walk must ask for.
    pub(crate) fn fields(&self) -> Fields {
        let fields = Fields::TYPE | Fields::INO;
        let links = if self.rule.counts_links() {
            Fields::empty()
        } else {
            Fields::NLINK
        };
        let size = match self.size {
            Size::Inodes => Fields::empty(),
            Size::Apparent => Fields::SIZE,
            Size::Allocated | Size::Exclusive => Fields::BLOCKS,
        };
        let time = match self.time {
            Some(TimeKind::Modified) => Fields::MTIME,
            Some(TimeKind::Accessed) => Fields::ATIME,
            Some(TimeKind::Changed) => Fields::CTIME,
            None => Fields::empty(),
        };
        fields | links | size | time
    }

    /// Returns the fields that a file of a saved tree need not have: without a number of links it
    /// has one link, and then its inode number does not matter.
    pub(crate) fn optional_fields() -> Fields {
        Fields::INO | Fields::NLINK
    }

    /// Returns the totals of one file. For exclusive space, the size is the size of the whole file.
    #[inline]
    pub(crate) fn totals(&self, metadata: &Metadata) -> Totals {
        Totals {
            size: match self.size {
                Size::Inodes => 0,
                Size::Apparent => apparent_size(metadata),
                Size::Allocated | Size::Exclusive => allocated_size(metadata),
            },
            inodes: 1,
            time: self.time.map(|kind| match kind {
                TimeKind::Modified => known(metadata.mtime()),
                TimeKind::Accessed => known(metadata.atime()),
                TimeKind::Changed => known(metadata.ctime()),
            }),
        }
    }

    /// Returns the depth of the directories into which everything below them is merged.
    pub(crate) fn merges_from(&self) -> usize {
        if self.separate || self.rule.directories_count_once() {
            usize::MAX
        } else {
            self.max_depth
        }
    }

    /// Returns true if everything is added to one sum, so that the order does not matter.
    pub(crate) fn is_one_sum(&self) -> bool {
        self.merges_from() == 0 && self.rule.is_one_tree()
    }
}

impl Measure for Measurement {
    type Sum = Totals;

    fn add(&self, sum: &mut Totals, file: &Metadata, times: u64) {
        let one = self.totals(file);
        *sum += Totals {
            size: one.size.saturating_mul(times),
            inodes: times,
            time: one.time,
        };
    }
}

/// Returns a value that the walk asks for. The engine gives no metadata without it.
#[inline]
fn known<T>(value: Option<T>) -> T {
    value.expect("the walk asks for this field")
}

/// Returns the size of a regular file or a symbolic link in bytes, and 0 for every other type, as
/// POSIX does not define `st_size` for them. A negative size counts as 0.
pub(crate) fn apparent_size(metadata: &Metadata) -> u64 {
    match metadata.file_type() {
        FileType::Regular | FileType::Symlink => {
            let size = known(metadata.size());
            i64::try_from(size).map_or(0, |_| size)
        }
        FileType::Directory
        | FileType::BlockDevice
        | FileType::CharacterDevice
        | FileType::Fifo
        | FileType::Socket
        | FileType::Unknown => 0,
    }
}

/// Returns the space that a file takes, in bytes.
pub(crate) fn allocated_size(metadata: &Metadata) -> u64 {
    known(metadata.blocks()).saturating_mul(512)
}
