//! The shapes of records and blocks. The documentation of the module draws them.

use super::NotKept;
use crate::FileVersion;
use ringwalk::Timestamp;
use ringwalk_sys::FileSystemIdentity;

/// Bytes of a block: of the header, and of each block of the sorted section.
pub(super) const BLOCK: usize = 4096;

/// Bytes before the records of a block.
const HEAD: usize = 32;

/// Bytes of a record in a block.
const RECORD: usize = 72;

/// The most records of a block.
pub(super) const PER_BLOCK: usize = (BLOCK - HEAD) / RECORD;

/// Bytes of an appended record: file system, record, checksum.
pub(super) const APPENDED: usize = FILE_SYSTEM + RECORD + 4;

/// Bytes that name a file system.
const FILE_SYSTEM: usize = 24;

/// Bytes of a UUID.
const UUID: usize = 16;

const NANOS: i64 = 1_000_000_000;

/// A file system, and a subvolume of btrfs: where inode numbers are unique.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FileSystem([u8; FILE_SYSTEM]);

impl FileSystem {
    /// Returns `None` if the file system has no UUID of 16 bytes.
    pub(super) fn new(identity: &FileSystemIdentity) -> Option<Self> {
        let uuid: [u8; UUID] = identity.uuid.as_deref()?.try_into().ok()?;
        let mut bytes = [0; FILE_SYSTEM];
        bytes[..UUID].copy_from_slice(&uuid);
        // btrfs begins with 5, so 0 is never a number.
        let subvolume = identity.subvolume.unwrap_or(0);
        bytes[UUID..].copy_from_slice(&subvolume.to_le_bytes());
        Some(Self(bytes))
    }
}

/// The version of a file as records have it, without its file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StoredVersion {
    pub(super) ino: u64,
    btime: i64,
    size: u64,
    mtime: i64,
    ctime: i64,
}

impl StoredVersion {
    pub(super) fn of(version: &FileVersion) -> Result<Self, NotKept> {
        let birth = version.btime.ok_or(NotKept::NoBirthTime)?;
        let nanos = |time| nanoseconds(time).ok_or(NotKept::FarTime);
        Ok(Self {
            ino: version.ino,
            btime: nanos(birth)?,
            size: version.size,
            mtime: nanos(version.mtime)?,
            ctime: nanos(version.ctime)?,
        })
    }

    /// Returns the second of the last change of contents or inode.
    pub(super) fn last_change(&self) -> i64 {
        self.mtime.max(self.ctime).div_euclid(NANOS)
    }
}

/// Returns the nanoseconds since the epoch, from 1677 to 2262.
fn nanoseconds(time: Timestamp) -> Option<i64> {
    let nanos = i64::from(time.nanos);
    // Two times must not have the same number.
    if nanos >= NANOS {
        return None;
    }
    i64::try_from(i128::from(time.secs) * i128::from(NANOS) + i128::from(nanos)).ok()
}

/// The hash of one version of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) version: StoredVersion,
    pub(super) hash: [u8; 32],
}

impl Record {
    fn encode(&self, out: &mut Vec<u8>) {
        let version = &self.version;
        out.extend_from_slice(&version.ino.to_le_bytes());
        out.extend_from_slice(&version.btime.to_le_bytes());
        out.extend_from_slice(&version.size.to_le_bytes());
        out.extend_from_slice(&version.mtime.to_le_bytes());
        out.extend_from_slice(&version.ctime.to_le_bytes());
        out.extend_from_slice(&self.hash);
    }

    fn decode(bytes: &[u8; RECORD]) -> Self {
        let word = |at: usize| -> [u8; 8] { part(&bytes[at..]) };
        Self {
            version: StoredVersion {
                ino: u64::from_le_bytes(word(0)),
                btime: i64::from_le_bytes(word(8)),
                size: u64::from_le_bytes(word(16)),
                mtime: i64::from_le_bytes(word(24)),
                ctime: i64::from_le_bytes(word(32)),
            },
            hash: part(&bytes[40..]),
        }
    }

    /// Appends the record in the form of the appended section.
    pub(super) fn append(&self, file_system: FileSystem, out: &mut Vec<u8>) {
        let from = out.len();
        out.extend_from_slice(&file_system.0);
        self.encode(out);
        let sum = crc32c::crc32c(&out[from..]);
        out.extend_from_slice(&sum.to_le_bytes());
    }

    /// Reads a record of the appended section. Returns `None` if it is damaged or
    /// incomplete.
    pub(super) fn appended(bytes: &[u8]) -> Option<(FileSystem, Self)> {
        let bytes: &[u8; APPENDED] = bytes.try_into().ok()?;
        let (checked, sum) = bytes.split_at(APPENDED - 4);
        if crc32c::crc32c(checked).to_le_bytes() != *sum {
            return None;
        }
        let (file_system, record) = checked.split_at(FILE_SYSTEM);
        Some((FileSystem(part(file_system)), Self::decode(&part(record))))
    }
}

/// Returns the first bytes. There must be as many.
fn part<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let mut first = [0; N];
    first.copy_from_slice(&bytes[..N]);
    first
}

/// Returns a block of records of one file system. There must be no more than a block takes.
pub(super) fn encode_block(file_system: FileSystem, records: &[Record]) -> Vec<u8> {
    debug_assert!(records.len() <= PER_BLOCK);
    let count = u32::try_from(records.len()).unwrap_or(0);
    let mut block = Vec::with_capacity(BLOCK);
    block.extend_from_slice(&[0; 4]);
    block.extend_from_slice(&count.to_le_bytes());
    block.extend_from_slice(&file_system.0);
    for record in records {
        record.encode(&mut block);
    }
    block.resize(BLOCK, 0);
    let sum = crc32c::crc32c(&block[4..]);
    block[..4].copy_from_slice(&sum.to_le_bytes());
    block
}

/// A block of the sorted section that is not damaged.
#[derive(Clone, Copy)]
pub(super) struct Block<'b>(&'b [u8]);

impl<'b> Block<'b> {
    /// Returns `None` if the block is damaged.
    pub(super) fn check(bytes: &'b [u8]) -> Option<Self> {
        let block = Self(bytes);
        let is_sound = bytes.len() == BLOCK
            && crc32c::crc32c(&bytes[4..]).to_le_bytes() == bytes[..4]
            && (1..=PER_BLOCK).contains(&block.len());
        is_sound.then_some(block)
    }

    /// Takes a block that has been checked before.
    pub(super) fn checked(bytes: &'b [u8]) -> Self {
        Self(bytes)
    }

    pub(super) fn len(self) -> usize {
        u32::from_le_bytes(part(&self.0[4..])) as usize
    }

    pub(super) fn file_system(self) -> FileSystem {
        FileSystem(part(&self.0[8..]))
    }

    pub(super) fn record(self, number: usize) -> Record {
        Record::decode(&part(&self.0[HEAD + number * RECORD..]))
    }

    fn ino(self, number: usize) -> u64 {
        u64::from_le_bytes(part(&self.0[HEAD + number * RECORD..]))
    }

    /// Returns the file of the last record.
    pub(super) fn last(self) -> (FileSystem, u64) {
        (self.file_system(), self.ino(self.len() - 1))
    }

    /// Returns the record of a file.
    pub(super) fn find(self, file_system: FileSystem, ino: u64) -> Option<Record> {
        if self.file_system() != file_system {
            return None;
        }
        let (mut from, mut to) = (0, self.len());
        while from < to {
            let middle = from.midpoint(to);
            if self.ino(middle) < ino {
                from = middle + 1;
            } else {
                to = middle;
            }
        }
        (from < self.len() && self.ino(from) == ino).then(|| self.record(from))
    }
}
