//! Entries packed into bytes, while they wait to be written in order.
//!
//! An entry takes 45 bytes on average, its name included. Numbers are LEB128. The seconds of a time
//! are stored as the difference from the modification time of the entry before.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "values are unpacked as the types that they were packed from"
)]

use crate::entry::{Attributes, Entry, FailedOperation, Failure, Skipped};
use ringwalk::{Errno, FileType, Timestamp};

/// Bits that say what an entry has. The values follow in another order: see [`Packer::push`].
mod has {
    pub(super) const INO: u32 = 1;
    pub(super) const DEV: u32 = 1 << 1;
    pub(super) const MODE: u32 = 1 << 2;
    pub(super) const NLINK: u32 = 1 << 3;
    pub(super) const UID: u32 = 1 << 4;
    pub(super) const GID: u32 = 1 << 5;
    pub(super) const RDEV: u32 = 1 << 6;
    pub(super) const SIZE: u32 = 1 << 7;
    pub(super) const ALLOC: u32 = 1 << 8;
    pub(super) const MTIME: u32 = 1 << 9;
    pub(super) const CTIME: u32 = 1 << 10;
    pub(super) const BTIME: u32 = 1 << 11;
    pub(super) const ATIME: u32 = 1 << 12;
    pub(super) const CHILD: u32 = 1 << 13;
    pub(super) const TARGET: u32 = 1 << 14;
    pub(super) const FAILURE: u32 = 1 << 15;
    pub(super) const SKIPPED: u32 = 1 << 16;
    pub(super) const XATTRS: u32 = 1 << 17;
    pub(super) const CHARGED_ONCE: u32 = 1 << 18;
    /// Device, owner and group are the same as in the entry before.
    pub(super) const SAME_PLACE: u32 = 1 << 19;
    /// The status change time is the modification time.
    pub(super) const CTIME_IS_MTIME: u32 = 1 << 20;
    pub(super) const HASH: u32 = 1 << 21;
}

/// The values of the entry before, from which the next one differs little.
#[derive(Clone, Copy, Debug, Default)]
struct Previous {
    dev: Option<u64>,
    uid: Option<u32>,
    gid: Option<u32>,
    seconds: i64,
}

impl Previous {
    fn of(attributes: &Attributes, seconds: i64) -> Self {
        Self {
            dev: attributes.dev,
            uid: attributes.uid,
            gid: attributes.gid,
            seconds: attributes.mtime.map_or(seconds, |time| time.secs),
        }
    }
}

/// Packs the entries of one sorted run.
#[derive(Debug, Default)]
pub(crate) struct Packer(Previous);

impl Packer {
    /// Appends an entry. `child` is the number under which the contents of a directory are staged.
    pub(crate) fn push(&mut self, entry: &Entry<'_>, child: Option<u64>, out: &mut Vec<u8>) {
        let a = &entry.attributes;
        let is_same = (a.dev, a.uid, a.gid) == (self.0.dev, self.0.uid, self.0.gid);
        let bits = bits_of(entry, child, is_same);
        out.push(entry.file_type as u8);
        number(u64::from(bits), out);
        bytes(entry.name, out);
        if !is_same {
            optional(a.dev, out);
            optional(a.uid.map(u64::from), out);
            optional(a.gid.map(u64::from), out);
        }
        optional(a.ino, out);
        optional(a.mode.map(u64::from), out);
        optional(a.nlink.map(u64::from), out);
        optional(a.rdev, out);
        optional(a.size, out);
        optional(a.alloc, out);
        optional(child, out);
        let mut base = self.0.seconds;
        if let Some(mtime) = a.mtime {
            time(mtime, base, out);
            base = mtime.secs;
        }
        if bits & has::CTIME_IS_MTIME == 0
            && let Some(ctime) = a.ctime
        {
            time(ctime, base, out);
        }
        for each in [a.btime, a.atime].into_iter().flatten() {
            time(each, base, out);
        }
        if let Some(hash) = &a.hash {
            out.extend_from_slice(hash);
        }
        if let Some(target) = entry.target {
            bytes(target, out);
        }
        if let Some(failure) = entry.failure {
            out.push(failure.operation as u8);
            number(u64::from(failure.errno.raw_os_error().unsigned_abs()), out);
        }
        if let Some(skipped) = entry.skipped {
            out.push(skipped as u8);
        }
        if !entry.xattrs.is_empty() {
            number(entry.xattrs.len() as u64, out);
            for (name, value) in entry.xattrs {
                bytes(name, out);
                bytes(value, out);
            }
        }
        self.0 = Previous::of(a, self.0.seconds);
    }
}

fn bits_of(entry: &Entry<'_>, child: Option<u64>, is_same: bool) -> u32 {
    let a = &entry.attributes;
    let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
    bit(a.ino.is_some(), has::INO)
        | bit(a.dev.is_some(), has::DEV)
        | bit(a.mode.is_some(), has::MODE)
        | bit(a.nlink.is_some(), has::NLINK)
        | bit(a.uid.is_some(), has::UID)
        | bit(a.gid.is_some(), has::GID)
        | bit(a.rdev.is_some(), has::RDEV)
        | bit(a.size.is_some(), has::SIZE)
        | bit(a.alloc.is_some(), has::ALLOC)
        | bit(a.mtime.is_some(), has::MTIME)
        | bit(a.ctime.is_some(), has::CTIME)
        | bit(a.btime.is_some(), has::BTIME)
        | bit(a.atime.is_some(), has::ATIME)
        | bit(child.is_some(), has::CHILD)
        | bit(entry.target.is_some(), has::TARGET)
        | bit(entry.failure.is_some(), has::FAILURE)
        | bit(entry.skipped.is_some(), has::SKIPPED)
        | bit(!entry.xattrs.is_empty(), has::XATTRS)
        | bit(a.charged_once, has::CHARGED_ONCE)
        | bit(is_same, has::SAME_PLACE)
        | bit(a.ctime.is_some() && a.ctime == a.mtime, has::CTIME_IS_MTIME)
        | bit(a.hash.is_some(), has::HASH)
}

/// An unpacked entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacked<'a> {
    pub(crate) name: &'a [u8],
    pub(crate) file_type: FileType,
    pub(crate) attributes: Attributes,
    pub(crate) child: Option<u64>,
    pub(crate) target: Option<&'a [u8]>,
    pub(crate) failure: Option<Failure>,
    pub(crate) skipped: Option<Skipped>,
    /// The packed extended attributes.
    xattrs: Option<&'a [u8]>,
}

impl<'a> Unpacked<'a> {
    /// Returns device, inode number and number of links of a file whose first name alone counts in
    /// sums.
    pub(super) fn link(&self) -> Option<((u64, u64), u32)> {
        let a = &self.attributes;
        let ino = a.ino.filter(|_| a.charged_once && self.skipped.is_none())?;
        Some((
            (a.dev.unwrap_or_default(), ino),
            a.nlink.unwrap_or(u32::MAX),
        ))
    }

    /// Returns true if a file may have further names: then its removal may free nothing. The
    /// further links of a directory come from its subdirectories.
    pub(super) fn has_links(&self) -> bool {
        let a = &self.attributes;
        a.charged_once && self.file_type != FileType::Directory && a.nlink != Some(1)
    }

    /// Returns names and values of the extended attributes.
    pub(crate) fn xattrs(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let mut at = Cursor {
            data: self.xattrs.unwrap_or_default(),
            at: 0,
        };
        let count = if self.xattrs.is_some() {
            at.number()
        } else {
            0
        };
        (0..count).map(move |_| (at.bytes(), at.bytes()))
    }
}

/// Unpacks the entries of a run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Unpacker {
    previous: Previous,
    at: usize,
}

impl Unpacker {
    /// Returns the next entry of `run`, or `None` at its end.
    pub(crate) fn next<'a>(&mut self, run: &'a [u8]) -> Option<Unpacked<'a>> {
        if self.at >= run.len() {
            return None;
        }
        let mut from = Cursor {
            data: run,
            at: self.at,
        };
        let entry = unpack(&mut from, self.previous);
        self.previous = Previous::of(&entry.attributes, self.previous.seconds);
        self.at = from.at;
        Some(entry)
    }
}

fn unpack<'a>(from: &mut Cursor<'a>, previous: Previous) -> Unpacked<'a> {
    let file_type = file_type_of(from.byte());
    let bits = from.number() as u32;
    let is = |bit: u32| bits & bit != 0;
    let name = from.bytes();
    let mut a = Attributes {
        charged_once: is(has::CHARGED_ONCE),
        ..Attributes::default()
    };
    if is(has::SAME_PLACE) {
        (a.dev, a.uid, a.gid) = (previous.dev, previous.uid, previous.gid);
    } else {
        a.dev = is(has::DEV).then(|| from.number());
        a.uid = is(has::UID).then(|| from.number() as u32);
        a.gid = is(has::GID).then(|| from.number() as u32);
    }
    a.ino = is(has::INO).then(|| from.number());
    a.mode = is(has::MODE).then(|| from.number() as u16);
    a.nlink = is(has::NLINK).then(|| from.number() as u32);
    a.rdev = is(has::RDEV).then(|| from.number());
    a.size = is(has::SIZE).then(|| from.number());
    a.alloc = is(has::ALLOC).then(|| from.number());
    let child = is(has::CHILD).then(|| from.number());
    let mut base = previous.seconds;
    if is(has::MTIME) {
        let mtime = from.time(base);
        base = mtime.secs;
        a.mtime = Some(mtime);
    }
    if is(has::CTIME_IS_MTIME) {
        a.ctime = a.mtime;
    } else {
        a.ctime = is(has::CTIME).then(|| from.time(base));
    }
    a.btime = is(has::BTIME).then(|| from.time(base));
    a.atime = is(has::ATIME).then(|| from.time(base));
    a.hash = is(has::HASH).then(|| from.array());
    let target = is(has::TARGET).then(|| from.bytes());
    let failure = is(has::FAILURE).then(|| from.failure());
    let skipped = if is(has::SKIPPED) {
        Skipped::of_number(from.byte())
    } else {
        None
    };
    let xattrs = is(has::XATTRS).then(|| from.skip_xattrs());
    Unpacked {
        name,
        file_type,
        attributes: a,
        child,
        target,
        failure,
        skipped,
        xattrs,
    }
}

/// The types, with the numbers of `d_type` (readdir(3)).
fn file_type_of(number: u8) -> FileType {
    const ALL: [FileType; 7] = [
        FileType::Regular,
        FileType::Directory,
        FileType::Symlink,
        FileType::BlockDevice,
        FileType::CharacterDevice,
        FileType::Fifo,
        FileType::Socket,
    ];
    let known = ALL.into_iter().find(|each| *each as u8 == number);
    known.unwrap_or(FileType::Unknown)
}

/// Appends a number as LEB128.
pub(crate) fn number(mut number: u64, out: &mut Vec<u8>) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

fn optional(value: Option<u64>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        number(value, out);
    }
}

/// Appends a length and bytes.
pub(crate) fn bytes(bytes: &[u8], out: &mut Vec<u8>) {
    number(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

fn time(time: Timestamp, base: i64, out: &mut Vec<u8>) {
    let difference = time.secs.wrapping_sub(base);
    number(
        (difference.wrapping_shl(1) ^ (difference >> 63)) as u64,
        out,
    );
    // Most are too large for fewer bytes.
    out.extend_from_slice(&time.nanos.to_le_bytes());
}

/// A position in packed data, which this process has packed itself.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Cursor<'a> {
    fn byte(&mut self) -> u8 {
        let byte = self.data[self.at];
        self.at += 1;
        byte
    }

    fn array<const LENGTH: usize>(&mut self) -> [u8; LENGTH] {
        let data = &self.data[self.at..];
        let array = data.first_chunk().copied().unwrap_or([0; LENGTH]);
        self.at += LENGTH;
        array
    }

    fn word(&mut self) -> u32 {
        u32::from_le_bytes(self.array())
    }

    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = self.byte();
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    pub(crate) fn bytes(&mut self) -> &'a [u8] {
        let length = self.number() as usize;
        let bytes = &self.data[self.at..self.at + length];
        self.at += length;
        bytes
    }

    fn time(&mut self, base: i64) -> Timestamp {
        let folded = self.number();
        let difference = (folded >> 1) as i64 ^ -((folded & 1) as i64);
        Timestamp {
            secs: base.wrapping_add(difference),
            nanos: self.word(),
        }
    }

    fn failure(&mut self) -> Failure {
        let operation = FailedOperation::of_number(self.byte()).unwrap_or(FailedOperation::Stat);
        let errno = Errno::from_raw_os_error(self.number() as i32);
        Failure { operation, errno }
    }

    fn skip_xattrs(&mut self) -> &'a [u8] {
        let begin = self.at;
        for _ in 0..self.number() * 2 {
            self.bytes();
        }
        &self.data[begin..self.at]
    }
}

#[cfg(test)]
mod tests;
