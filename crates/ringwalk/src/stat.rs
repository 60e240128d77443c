//! Metadata of the entries of a batch, by one `statx` for each that needs one.

use crate::metadata::{Fields, Metadata};
use crate::options::{Follow, Options, Stay};
use crate::raw_batch::{Known, RawBatch, Slot};
use crate::root::Root;
use ringwalk_sys::RawFileType as FileType;
use rustix::fs::{AtFlags, CWD, statx};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

/// What the names of a batch are relative to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place<'a> {
    Directory(&'a OwnedFd),
    /// Paths relative to the working directory, or open descriptors, at the same index as their entries.
    Roots(&'a [Root]),
}

impl<'a> Place<'a> {
    pub(crate) fn directory(&self) -> Option<BorrowedFd<'a>> {
        match *self {
            Self::Directory(fd) => Some(fd.as_fd()),
            Self::Roots(_) => None,
        }
    }

    /// One `statx`, relative to the directory: the path is one component.
    pub(crate) fn stat(
        &self,
        index: usize,
        name: &CStr,
        follow: bool,
        fields: Fields,
    ) -> Result<Metadata, Errno> {
        // Looking at an entry never mounts anything, as with stat(2) since Linux 4.11.
        let mut flags = AtFlags::NO_AUTOMOUNT;
        if !follow {
            flags |= AtFlags::SYMLINK_NOFOLLOW;
        }
        let mask = fields.statx_flags();
        let stat = match self {
            Self::Directory(fd) => statx(fd, name, flags, mask),
            Self::Roots(roots) => match &roots[index].fd {
                Some(fd) => statx(fd, c"", flags | AtFlags::EMPTY_PATH, mask),
                None => statx(CWD, name, flags, mask),
            },
        };
        stat.map(|stat| Metadata::from(&stat))
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

    /// For the roots, whose type no directory tells.
    pub(crate) fn roots(options: &Options) -> Self {
        Self {
            all: true,
            follow: options.follow != Follow::Never,
            ..Self::entries(options)
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

    /// Whether an entry needs a `statx`. `descending`: whether it matters that it may be a directory.
    fn needs(self, slot: &Slot, descending: bool) -> bool {
        if self.all {
            return true;
        }
        match slot.file_type {
            FileType::Unknown => descending,
            FileType::Symlink => self.follow && descending,
            FileType::Directory => self.directories && descending,
            _ => false,
        }
    }
}

/// Asks for the metadata of all entries in `raw` that need it, and settles their types by it. Returns how many calls
/// were made.
///
/// `inode_order`: in the order of inode numbers, which on a rotational disk is about the order of the disk.
pub(crate) fn stat_entries(
    raw: &mut RawBatch,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
    inode_order: bool,
) -> u64 {
    raw.known.clear();
    let mut calls = 0;
    if inode_order {
        let mut order: Vec<_> = (0..raw.slots.len()).collect();
        order.sort_unstable_by_key(|&index| raw.slots[index].ino);
        raw.known.resize(raw.slots.len(), Known::Nothing);
        for index in order {
            let (known, made) = stat_entry(raw, index, place, wanted, descending);
            raw.known[index] = known;
            calls += made;
        }
    } else if wanted.all || raw.slots.iter().any(|slot| wanted.needs(slot, descending)) {
        for index in 0..raw.slots.len() {
            let (known, made) = stat_entry(raw, index, place, wanted, descending);
            raw.known.push(known);
            calls += made;
        }
    }
    calls
}

fn stat_entry(
    raw: &mut RawBatch,
    index: usize,
    place: Place<'_>,
    wanted: Wanted,
    descending: bool,
) -> (Known, u64) {
    let slot = raw.slots[index];
    if !wanted.needs(&slot, descending) {
        return (Known::Nothing, 0);
    }
    let name = raw.name(&slot);
    let mut calls = 0;
    let mut stat = |follow| {
        calls += 1;
        place.stat(index, name, follow, wanted.fields)
    };
    // Most entries are no links: those are asked about once, and never followed if they have become one.
    let may_be_link = matches!(slot.file_type, FileType::Symlink | FileType::Unknown);
    let (answer, followed) = if wanted.follow && may_be_link {
        match stat(true) {
            Ok(metadata) => (Ok(metadata), true),
            Err(_) => (stat(false), false),
        }
    } else {
        (stat(false), false)
    };
    match answer {
        Ok(metadata) => {
            let slot = &mut raw.slots[index];
            slot.followed = followed;
            slot.file_type = metadata.file_type();
            (Known::Metadata(metadata), calls)
        }
        Err(errno) => (Known::Failed(errno), calls),
    }
}
