//! What is kept of a file.

use super::DirId;
use ringwalk_hash::FileVersion;
use ringwalk_snapshot::{clamp, timestamp};
use std::sync::atomic::{AtomicU32, Ordering};

/// No time of birth.
const NO_BIRTH: i64 = i64::MIN;

/// If a file has this many hard links or more, their number is in
/// [`Inventory::many_links`](super::Inventory::many_links).
pub(super) const MANY_LINKS: u8 = u8::MAX;

/// [`FileRecord::mark`]: the file was not compared with others, or is unlike all of them.
pub(crate) const NO_GROUP: u32 = u32::MAX;

/// [`FileRecord::mark`] of a file whose hash is known: this bit, and the place in
/// [`Inventory::known`](super::Inventory::known).
pub(crate) const KNOWN: u32 = 1 << 31;

/// A regular file under one of its names.
#[derive(Debug)]
pub(crate) struct FileRecord {
    pub(crate) size: u64,
    pub(crate) ino: u64,
    mtime: i64,
    ctime: i64,
    btime: i64,
    pub(crate) dir: DirId,
    name_low: u32,
    /// Which of [`Inventory::devices`](super::Inventory::devices).
    pub(crate) device: u16,
    name_high: u8,
    /// Number of hard links, at most [`MANY_LINKS`].
    links: u8,
    /// The group, or [`NO_GROUP`], or [`KNOWN`].
    pub(crate) mark: AtomicU32,
}

const _: () = assert!(size_of::<FileRecord>() == 56);

/// What a scan found out about a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FoundFile {
    pub(crate) version: FileVersion,
    pub(crate) nlink: u32,
    pub(crate) device: u16,
    pub(crate) dir: DirId,
}

impl FileRecord {
    pub(super) fn new(found: &FoundFile, name: u64) -> Self {
        let FileVersion {
            ino,
            size,
            mtime,
            ctime,
            btime,
            ..
        } = found.version;
        // All names take less than 2^40 bytes, because a u32 limits the number of files.
        let name = name.to_le_bytes();
        Self {
            size,
            ino,
            mtime: clamp(mtime).0,
            ctime: clamp(ctime).0,
            btime: btime.map_or(NO_BIRTH, |time| clamp(time).0),
            dir: found.dir,
            name_low: u32::from_le_bytes([name[0], name[1], name[2], name[3]]),
            device: found.device,
            name_high: name[4],
            links: u8::try_from(found.nlink).unwrap_or(MANY_LINKS),
            mark: AtomicU32::new(NO_GROUP),
        }
    }

    pub(super) fn name(&self) -> usize {
        (usize::from(self.name_high) << 32) | self.name_low as usize
    }

    /// Returns true if two names have the same inode number.
    pub(super) fn has_inode_of(&self, other: &Self) -> bool {
        (self.device, self.ino) == (other.device, other.ino)
    }

    /// Returns true if two names with the same inode number belong to one file, although two files
    /// can have that number: the file has several links, and all times are the same.
    pub(super) fn is_linked_like(&self, other: &Self) -> bool {
        let times = |file: &Self| (file.mtime, file.ctime, file.btime);
        self.links > 1 && self.links == other.links && times(self) == times(other)
    }

    /// Returns the order in which the names of one file stand beside each other.
    pub(super) fn identity(&self) -> (u16, u64, i64, DirId) {
        (self.device, self.ino, self.ctime, self.dir)
    }

    /// Returns true if a file that was opened is the one that was found, and has not changed. Times
    /// outside of 1677 to 2262 count as equal to the nearer end.
    pub(crate) fn is_version(&self, version: &FileVersion) -> bool {
        let birth = version.btime.map_or(NO_BIRTH, |time| clamp(time).0);
        self.ino == version.ino
            && self.size == version.size
            && self.mtime == clamp(version.mtime).0
            && self.ctime == clamp(version.ctime).0
            && self.btime == birth
    }

    /// Returns the version, on the device with this number.
    pub(crate) fn version(&self, dev: u64) -> FileVersion {
        FileVersion {
            dev,
            ino: self.ino,
            size: self.size,
            mtime: timestamp(self.mtime),
            ctime: timestamp(self.ctime),
            btime: (self.btime != NO_BIRTH).then(|| timestamp(self.btime)),
        }
    }

    /// Returns the time of the last change of the contents, in nanoseconds.
    pub(crate) fn mtime(&self) -> i64 {
        self.mtime
    }

    /// Notes that the number of hard links is not known.
    pub(super) fn forget_links(&mut self) {
        self.links = 0;
    }

    /// Returns the number of hard links: 0 if it is not known, and [`MANY_LINKS`] also for more.
    pub(super) fn links(&self) -> u8 {
        self.links
    }

    pub(crate) fn group(&self) -> Option<u32> {
        let mark = self.mark.load(Ordering::Relaxed);
        (mark & KNOWN == 0).then_some(mark)
    }

    /// Notes that the hash is known, and its place in
    /// [`Inventory::known`](super::Inventory::known).
    pub(crate) fn set_known(&self, place: u32) {
        debug_assert!(place < KNOWN - 1);
        self.mark.store(KNOWN | place, Ordering::Relaxed);
    }

    pub(crate) fn set_group(&self, group: u32) {
        debug_assert!(group < KNOWN);
        self.mark.store(group, Ordering::Relaxed);
    }
}
