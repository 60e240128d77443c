//! Reads the metadata of the entries of a batch, by one `statx` for each entry that needs one.

use crate::sources::project_id;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::saved::SharedReader;
use crate::visit::metadata::{Fields, Metadata};
use crate::walk::options::{Follow, Options, Stay};
use crate::walk::root::Root;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

/// The base of the names of a batch.
#[derive(Clone, Copy, Debug)]
pub(crate) enum NamesAt<'a> {
    Directory(&'a DirectoryFd),
    /// A directory that was read past the VFS.
    Unopened(&'a dyn OpenOnDemand),
    /// Paths relative to the working directory, or open descriptors, at the same index as their
    /// entries.
    Roots(&'a [Root]),
    /// A saved tree, which no system call reaches.
    Saved(&'a SharedReader),
}

/// A directory that is opened when it is first needed.
pub(crate) trait OpenOnDemand: std::fmt::Debug {
    /// Returns the directory, and opens it if it is not yet open.
    fn open(&self) -> Result<&DirectoryFd, Errno>;
}

impl<'a> NamesAt<'a> {
    /// Returns the open directory; `None` for roots.
    pub(crate) fn directory(&self) -> Result<Option<BorrowedFd<'a>>, Errno> {
        match *self {
            Self::Directory(fd) => Ok(Some(fd.as_fd())),
            Self::Unopened(directory) => directory.open().map(|fd| Some(fd.as_fd())),
            Self::Roots(_) => Ok(None),
            Self::Saved(_) => Err(Errno::OPNOTSUPP),
        }
    }

    /// Returns the metadata of the entry `index` with this name.
    pub(crate) fn stat(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
    ) -> Result<Metadata, Errno> {
        let mut stat = Statx::default();
        self.statx(index, name, follow, with_identity(fields), &mut stat)?;
        let mut metadata = Metadata::from(&stat);
        if fields.contains(Fields::PROJECT_ID) {
            project_id::add_at(&mut metadata, *self, index, name, follow)?;
        }
        Ok(metadata)
    }

    /// Calls `statx` once, relative to the directory: the path is one component.
    #[inline]
    fn statx(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
        stat: &mut Statx,
    ) -> Result<(), Errno> {
        // As with stat(2) since Linux 4.11, the call triggers no automount.
        let mut flags = AtFlags::NO_AUTOMOUNT;
        if !follow {
            flags |= AtFlags::SYMLINK_NOFOLLOW;
        }
        let mask = fields.statx_mask();
        match self {
            Self::Directory(fd) => statx(fd, name, flags, mask, stat),
            Self::Unopened(directory) => statx(directory.open()?, name, flags, mask, stat),
            Self::Roots(roots) => match &roots[index].fd {
                Some(fd) => statx(fd, c"", flags | AtFlags::EMPTY_PATH, mask, stat),
                None => statx(CWD, name, flags, mask, stat),
            },
            Self::Saved(_) => Err(Errno::OPNOTSUPP),
        }
    }
}

/// Selects the entries that need a `statx`, and the fields to ask for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wanted {
    /// Fields asked for every entry.
    all: bool,
    /// Fields asked for directories, to see whether they are on the same device or mount.
    directories: bool,
    fields: Fields,
    follow: bool,
}

impl Wanted {
    /// Creates the selection for entries below the roots.
    pub(crate) fn entries(options: &Options) -> Self {
        let base = match options.stay {
            Stay::Mount => Fields::TYPE | Fields::MNT_ID,
            Stay::Anywhere | Stay::Device => Fields::TYPE,
        };
        Self {
            all: !options.fields.is_empty(),
            directories: options.stay != Stay::Anywhere,
            fields: with_identity(options.fields) | base,
            follow: options.follow == Follow::Always,
        }
    }

    /// Creates the selection of these fields of every entry.
    pub(crate) fn of_all(fields: Fields, follow: Follow) -> Self {
        Self {
            all: true,
            directories: false,
            fields: with_identity(fields) | Fields::TYPE,
            follow: follow == Follow::Always,
        }
    }

    /// Creates the selection for the roots, whose type no directory has listed.
    pub(crate) fn roots(options: &Options) -> Self {
        Self {
            all: true,
            follow: options.follow != Follow::Never,
            ..Self::entries(options)
        }
    }

    /// Adds fields.
    pub(crate) fn with(self, fields: Fields) -> Self {
        Self {
            fields: self.fields | fields,
            ..self
        }
    }

    /// Returns true if every entry needs a `statx`.
    pub(crate) fn asks_all(self) -> bool {
        self.all
    }

    /// Returns the fields asked for.
    pub(crate) fn fields(self) -> Fields {
        self.fields
    }

    /// Returns true if any entry of a batch may need a `statx`.
    pub(crate) fn needs_any(self, raw: &RawBatch, descending: bool) -> bool {
        let has = |file_type| raw.records.has_type(file_type);
        self.all
            || descending
                && (has(FileType::Unknown)
                    || self.follow && has(FileType::Symlink)
                    || self.directories && has(FileType::Directory))
    }

    /// Returns the selection for a directory that is on the same device and mount as its root, and
    /// whose entries all are there too.
    pub(crate) fn on_one_mount(self) -> Self {
        Self {
            directories: false,
            ..self
        }
    }

    /// Returns true if symbolic links are followed.
    pub(crate) fn follows(self) -> bool {
        self.follow
    }

    /// Returns true if an entry needs a `statx`. `descending` is true if the walk would descend
    /// into a directory here.
    pub(crate) fn needs(self, file_type: FileType, descending: bool) -> bool {
        if self.all {
            return true;
        }
        match file_type {
            FileType::Unknown => descending,
            FileType::Symlink => self.follow && descending,
            FileType::Directory => self.directories && descending,
            FileType::Regular
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Fifo
            | FileType::Socket => false,
        }
    }
}

/// Returns the fields to ask for. For a project id these include the fields that identify the file,
/// since the id takes another call.
fn with_identity(fields: Fields) -> Fields {
    if fields.contains(Fields::PROJECT_ID) {
        fields | Fields::TYPE | Fields::INO
    } else {
        fields
    }
}

/// Asks for the metadata of all entries in `raw` that need it and have none yet. Sets their types
/// by it, and adds project ids if they are wanted. Returns how many calls were made.
///
/// If `inode_order` is true, asks in the order of inode numbers, which is about the order of a
/// rotational disk.
pub(crate) fn stat_entries(
    raw: &mut RawBatch,
    place: NamesAt<'_>,
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
    if wanted.fields.contains(Fields::PROJECT_ID) {
        calls += project_id::add_to_entries(raw, place);
    }
    calls
}

/// Asks for the metadata of these entries, as [`stat_entries`] does for all, without project ids.
pub(crate) fn stat_range(
    raw: &mut RawBatch,
    range: Range<usize>,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    if !wanted.needs_any(raw, descending) {
        return 0;
    }
    raw.known.resize(raw.records.len(), Known::Nothing);
    let mut stat = Statx::default();
    let mut calls = 0;
    for index in range {
        calls += stat_entry(raw, index, place, wanted, descending, &mut stat);
    }
    calls
}

/// Asks for the metadata of one entry that is on another file system than its directory.
pub(crate) fn stat_elsewhere(
    raw: &mut RawBatch,
    index: usize,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
) -> u64 {
    raw.known.resize(raw.records.len(), Known::Nothing);
    raw.known[index] = Known::Nothing;
    stat_entry(raw, index, place, wanted, descending, &mut Statx::default())
}

/// Settles one entry, and returns how many calls that took. `stat` is a buffer for an answer.
#[inline]
fn stat_entry(
    raw: &mut RawBatch,
    index: usize,
    place: NamesAt<'_>,
    wanted: Wanted,
    descending: bool,
    stat: &mut Statx,
) -> u64 {
    let listed = raw.records.file_type(index);
    if !matches!(raw.known[index], Known::Nothing) || !wanted.needs(listed, descending) {
        return 0;
    }
    let name = raw.records.name(index);
    // Most entries are no links: these take one call, and are never followed, even if they have
    // become links.
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
        // The target of the link does not exist, so the link is an entry of its own. The same holds
        // for `ENOTDIR`: the path to the target leads through a file that is not a directory. Any
        // other error is reported, as the target may exist.
        followed = false;
        answer = place.statx(index, name, followed, wanted.fields, stat);
        calls += 1;
    }
    take_answer(raw, index, answer.map(|()| &*stat), followed);
    calls
}

/// Puts the answer of statx(2) for an entry into a batch. `followed` is true if the answer is for
/// the target of a link.
#[inline]
fn take_answer(raw: &mut RawBatch, index: usize, answer: Result<&Statx, Errno>, followed: bool) {
    raw.known[index] = match answer {
        Ok(stat) => {
            let file_type = FileType::from_mode(u32::from(stat.stx_mode));
            if file_type != raw.records.file_type(index) {
                raw.records.set_file_type(index, file_type);
            }
            let metadata = Metadata::from(stat);
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
}
