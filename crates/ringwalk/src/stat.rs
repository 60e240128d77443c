//! Metadata of the entries of a batch, by one `statx` for each that needs one.

use crate::metadata::{Fields, Metadata};
use crate::options::{Follow, Options, Stay};
use crate::raw_batch::{Known, RawBatch};
use crate::root::Root;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd};

/// What the names of a batch are relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Directory(&'a DirectoryFd),
    /// A directory that was read past the VFS.
    Unopened(&'a dyn OpenOnDemand),
    /// Paths relative to the working directory, or open descriptors, at the same index as their entries.
    Roots(&'a [Root]),
}

/// A directory that is opened when somebody asks for it.
pub(crate) trait OpenOnDemand: std::fmt::Debug {
    /// The directory, opened if it is not yet.
    fn open(&self) -> Result<&DirectoryFd, Errno>;
}

impl<'a> Place<'a> {
    /// The open directory; `None` for roots.
    pub(crate) fn directory(&self) -> Result<Option<BorrowedFd<'a>>, Errno> {
        match *self {
            Self::Directory(fd) => Ok(Some(fd.as_fd())),
            Self::Unopened(directory) => directory.open().map(|fd| Some(fd.as_fd())),
            Self::Roots(_) => Ok(None),
        }
    }

    /// Metadata of the entry `index` with this name.
    pub(crate) fn stat(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
    ) -> Result<Metadata, Errno> {
        let mut stat = Statx::default();
        self.statx(index, name, follow, fields, &mut stat)?;
        Ok(Metadata::from(&stat))
    }

    /// One `statx`, relative to the directory: the path is one component.
    #[inline]
    fn statx(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
        stat: &mut Statx,
    ) -> Result<(), Errno> {
        // Looking at an entry never mounts anything, as with stat(2) since Linux 4.11.
        let mut flags = AtFlags::NO_AUTOMOUNT;
        if !follow {
            flags |= AtFlags::SYMLINK_NOFOLLOW;
        }
        let mask = fields.bits();
        retry_on_intr(|| match self {
            Self::Directory(fd) => statx(fd, name, flags, mask, stat),
            Self::Unopened(directory) => statx(directory.open()?, name, flags, mask, stat),
            Self::Roots(roots) => match &roots[index].fd {
                Some(fd) => statx(fd, c"", flags | AtFlags::EMPTY_PATH, mask, stat),
                None => statx(CWD, name, flags, mask, stat),
            },
        })
    }
}

/// Which entries need a `statx`, and what it asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Asked for every entry.
    all: bool,
    /// Asked for directories: to see whether they are on the same device or mount.
    directories: bool,
    fields: Fields,
    follow: bool,
}

impl Wanted {
    /// For entries below the roots.
    pub(crate) fn entries(options: &Options) -> Self {
        let base = match options.stay {
            Stay::Mount => Fields::TYPE | Fields::MNT_ID,
            Stay::Anywhere | Stay::Device => Fields::TYPE,
        };
        Self {
            all: !options.fields.is_empty(),
            directories: options.stay != Stay::Anywhere,
            fields: options.fields | base,
            follow: options.follow == Follow::Always,
        }
    }

    /// These fields of every entry.
    pub(crate) fn of_all(fields: Fields, follow: Follow) -> Self {
        Self {
            all: true,
            directories: false,
            fields: fields | Fields::TYPE,
            follow: follow == Follow::Always,
        }
    }

    /// For the roots, whose type no directory tells.
    pub(crate) fn roots(options: &Options) -> Self {
        Self {
            all: true,
            follow: options.follow != Follow::Never,
            ..Self::entries(options)
        }
    }

    /// With more fields.
    pub(crate) fn with(self, fields: Fields) -> Self {
        Self {
            fields: self.fields | fields,
            ..self
        }
    }

    /// Whether every entry is asked about.
    pub(crate) fn asks_all(self) -> bool {
        self.all
    }

    /// The fields asked for.
    pub(crate) fn fields(self) -> Fields {
        self.fields
    }

    /// Whether any entry of a batch may need a `statx`.
    pub(crate) fn needs_any(self, raw: &RawBatch, descending: bool) -> bool {
        let has = |file_type| raw.records.has_type(file_type);
        self.all
            || descending
                && (has(FileType::Unknown)
                    || self.follow && has(FileType::Symlink)
                    || self.directories && has(FileType::Directory))
    }

    /// For entries of a directory that is on the same device and mount as its root, as none of them is elsewhere.
    pub(crate) fn on_one_mount(self) -> Self {
        Self {
            directories: false,
            ..self
        }
    }

    /// Whether symbolic links are followed.
    pub(crate) fn follows(self) -> bool {
        self.follow
    }

    /// Whether an entry needs a `statx`. `descending`: whether it matters that it may be a directory.
    pub(crate) fn needs(self, file_type: FileType, descending: bool) -> bool {
        if self.all {
            return true;
        }
        match file_type {
            FileType::Unknown => descending,
            FileType::Symlink => self.follow && descending,
            FileType::Directory => self.directories && descending,
            _ => false,
        }
    }
}

/// Asks for the metadata of all entries in `raw` that need it and of which nothing is known yet, and settles their types by
/// it. Returns how many calls were made.
///
/// `inode_order`: in the order of inode numbers, which on a rotational disk is about the order of the disk.
pub(crate) fn stat_entries(
    raw: &mut RawBatch,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
    inode_order: bool,
) -> u64 {
    if !wanted.needs_any(raw, descending) {
        return 0;
    }
    raw.known.resize(raw.records.len(), Known::Nothing);
    let mut stat = Statx::default();
    let mut calls = 0;
    if inode_order {
        let mut order: Vec<_> = (0..raw.records.len()).collect();
        order.sort_unstable_by_key(|&index| raw.records.ino(index));
        for index in order {
            calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
        }
    } else {
        for index in 0..raw.records.len() {
            calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
        }
    }
    calls
}

/// Asks for the metadata of the first `count` entries, as [`stat_entries`] does for all.
pub(crate) fn stat_first(
    raw: &mut RawBatch,
    count: usize,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    if !wanted.needs_any(raw, descending) {
        return 0;
    }
    raw.known.resize(raw.records.len(), Known::Nothing);
    let mut stat = Statx::default();
    let first = 0..count.min(raw.records.len());
    first
        .map(|index| stat_entry(raw, index, place, wanted, descending, &mut stat))
        .sum()
}

/// Asks for the metadata of one entry that leads to another file system than its directory is on.
pub(crate) fn stat_elsewhere(
    raw: &mut RawBatch,
    index: usize,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    raw.known.resize(raw.records.len(), Known::Nothing);
    raw.known[index] = Known::Nothing;
    stat_entry(raw, index, place, wanted, descending, &mut Statx::default())
}

/// Settles one entry, and returns how many calls that took. `stat` is room for an answer.
#[inline]
fn stat_entry(
    raw: &mut RawBatch,
    index: usize,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
    stat: &mut Statx,
) -> u64 {
    let listed = raw.records.file_type(index);
    if !matches!(raw.known[index], Known::Nothing) || !wanted.needs(listed, descending) {
        return 0;
    }
    let name = raw.records.name(index);
    // Most entries are no links: those are asked about once, and never followed if they have become one.
    let mut followed = wanted.follow && listed == FileType::Symlink;
    let mut answer = place.statx(index, name, followed, wanted.fields, stat);
    let mut calls = 1;
    if wanted.follow
        && listed == FileType::Unknown
        && answer.is_ok()
        && FileType::from_mode(u32::from(stat.stx_mode)) == FileType::Symlink
    {
        followed = true;
        answer = place.statx(index, name, followed, wanted.fields, stat);
        calls += 1;
    }
    if followed && matches!(answer, Err(Errno::NOENT | Errno::NOTDIR)) {
        // The target of the link does not exist, so the link is an entry of its own. `ENOTDIR` says
        // that too: the path to the target leads through a file that is no directory. Any other
        // error is reported, as the target may exist.
        followed = false;
        answer = place.statx(index, name, followed, wanted.fields, stat);
        calls += 1;
    }
    raw.known[index] = match answer {
        Ok(()) => {
            let file_type = FileType::from_mode(u32::from(stat.stx_mode));
            if file_type != listed {
                raw.records.set_file_type(index, file_type);
            }
            let metadata = Metadata::from(&*stat);
            if followed {
                Known::Followed(metadata)
            } else {
                Known::Metadata(metadata)
            }
        }
        Err(errno) => {
            raw.failed += 1;
            Known::Failed(errno)
        }
    };
    calls
}
