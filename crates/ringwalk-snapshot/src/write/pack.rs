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

use crate::entry::{Entry, FailedOperation, Failure, Skipped};
use crate::schema::{ATTRIBUTES, AttributeSink, AttributeSource, Attributes, Column, HASH_BYTES};
use ringwalk::{Errno, FileType, Timestamp};

/// Bits that say what an entry has. The values follow in another order: see [`Packer::push`].
mod has {
    pub(super) const CHILD: u32 = 1;
    pub(super) const TARGET: u32 = 1 << 1;
    pub(super) const FAILURE: u32 = 1 << 2;
    pub(super) const SKIPPED: u32 = 1 << 3;
    pub(super) const XATTRS: u32 = 1 << 4;
    pub(super) const CHARGED_ONCE: u32 = 1 << 5;
    /// Device, owner and group are the same as in the entry before.
    pub(super) const SAME_PLACE: u32 = 1 << 6;
    /// The status change time is the modification time.
    pub(super) const CTIME_IS_MTIME: u32 = 1 << 7;
    /// The bit of the first attribute. The others follow.
    const FIRST: usize = 8;

    /// Returns the bit of an attribute.
    #[inline]
    pub(super) const fn attribute(column: super::Column) -> u32 {
        match column.attribute() {
            Some(place) => 1 << (FIRST + place),
            None => 0,
        }
    }

    const _: () = assert!(FIRST + super::ATTRIBUTES.len() <= 32);
}

/// Returns true for the attributes of which `SAME_PLACE` speaks.
const fn is_place(column: Column) -> bool {
    matches!(column, Column::Fs | Column::Uid | Column::Gid)
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
        let bits = self.bits_of(entry, child);
        out.push(entry.file_type as u8);
        number(u64::from(bits), out);
        bytes(entry.name, out);
        optional(child, out);
        entry.attributes.give(&mut Values {
            bits,
            base: self.0.seconds,
            out,
        });
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
        self.0 = Previous::of(&entry.attributes, self.0.seconds);
    }

    fn bits_of(&self, entry: &Entry<'_>, child: Option<u64>) -> u32 {
        let a = &entry.attributes;
        let is_same = (a.dev, a.uid, a.gid) == (self.0.dev, self.0.uid, self.0.gid);
        let bit = |is_set: bool, bit: u32| if is_set { bit } else { 0 };
        let mut known = Known(0);
        a.give(&mut known);
        known.0
            | bit(child.is_some(), has::CHILD)
            | bit(entry.target.is_some(), has::TARGET)
            | bit(entry.failure.is_some(), has::FAILURE)
            | bit(entry.skipped.is_some(), has::SKIPPED)
            | bit(!entry.xattrs.is_empty(), has::XATTRS)
            | bit(a.charged_once, has::CHARGED_ONCE)
            | bit(is_same, has::SAME_PLACE)
            | bit(a.ctime.is_some() && a.ctime == a.mtime, has::CTIME_IS_MTIME)
    }
}

/// Gathers the bits of the attributes that are known.
struct Known(u32);

impl Known {
    #[inline]
    fn add(&mut self, column: Column, is_known: bool) {
        if is_known {
            self.0 |= has::attribute(column);
        }
    }
}

impl AttributeSink for Known {
    #[inline]
    fn number(&mut self, column: Column, value: Option<u64>) {
        self.add(column, value.is_some());
    }

    #[inline]
    fn time(&mut self, column: Column, value: Option<Timestamp>) {
        self.add(column, value.is_some());
    }

    #[inline]
    fn bytes(&mut self, column: Column, value: Option<&[u8; HASH_BYTES]>) {
        self.add(column, value.is_some());
    }
}

/// Packs the attributes that are known.
struct Values<'o> {
    bits: u32,
    /// The seconds from which those of the next time differ little.
    base: i64,
    out: &'o mut Vec<u8>,
}

impl AttributeSink for Values<'_> {
    #[inline]
    fn number(&mut self, column: Column, value: Option<u64>) {
        if !(is_place(column) && self.bits & has::SAME_PLACE != 0) {
            optional(value, self.out);
        }
    }

    #[inline]
    fn time(&mut self, column: Column, value: Option<Timestamp>) {
        if column == Column::Ctime && self.bits & has::CTIME_IS_MTIME != 0 {
            return;
        }
        if let Some(value) = value {
            time(value, self.base, self.out);
            if column == Column::Mtime {
                self.base = value.secs;
            }
        }
    }

    #[inline]
    fn bytes(&mut self, _: Column, value: Option<&[u8; HASH_BYTES]>) {
        if let Some(value) = value {
            self.out.extend_from_slice(value);
        }
    }
}

/// An unpacked entry.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unpacked<'a> {
    /// The entry, without its extended attributes.
    pub(crate) entry: Entry<'a>,
    pub(crate) child: Option<u64>,
    /// The packed extended attributes.
    xattrs: Option<&'a [u8]>,
}

impl<'a> Unpacked<'a> {
    /// Returns device, inode number and number of links of a file whose first name alone counts in
    /// sums.
    pub(super) fn link(&self) -> Option<((u64, u64), u32)> {
        let a = &self.entry.attributes;
        let is_counted = a.charged_once && self.entry.skipped.is_none();
        let ino = a.ino.filter(|_| is_counted)?;
        Some((
            (a.dev.unwrap_or_default(), ino),
            a.nlink.unwrap_or(u32::MAX),
        ))
    }

    /// Returns true if a file may have further names: then its removal may free nothing. The
    /// further links of a directory come from its subdirectories.
    pub(super) fn has_links(&self) -> bool {
        let a = &self.entry.attributes;
        a.charged_once && self.entry.file_type != FileType::Directory && a.nlink != Some(1)
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
        let unpacked = unpack(&mut from, self.previous);
        self.previous = Previous::of(&unpacked.entry.attributes, self.previous.seconds);
        self.at = from.at;
        Some(unpacked)
    }
}

fn unpack<'a>(from: &mut Cursor<'a>, previous: Previous) -> Unpacked<'a> {
    let file_type = file_type_of(from.byte());
    let bits = from.number() as u32;
    let is = |bit: u32| bits & bit != 0;
    let mut entry = Entry::new(from.bytes(), file_type);
    let child = is(has::CHILD).then(|| from.number());
    entry.attributes = Attributes::take(&mut PackedValues {
        from: &mut *from,
        bits,
        mtime: None,
        previous,
    });
    entry.attributes.charged_once = is(has::CHARGED_ONCE);
    entry.target = is(has::TARGET).then(|| from.bytes());
    entry.failure = is(has::FAILURE).then(|| from.failure());
    if is(has::SKIPPED) {
        entry.skipped = Skipped::of_number(from.byte());
    }
    let xattrs = is(has::XATTRS).then(|| from.skip_xattrs());
    Unpacked {
        entry,
        child,
        xattrs,
    }
}

/// Unpacks the attributes that are known.
struct PackedValues<'f, 'a> {
    from: &'f mut Cursor<'a>,
    bits: u32,
    mtime: Option<Timestamp>,
    previous: Previous,
}

impl PackedValues<'_, '_> {
    #[inline]
    fn has(&self, bit: u32) -> bool {
        self.bits & bit != 0
    }
}

impl AttributeSource for PackedValues<'_, '_> {
    #[inline]
    fn number(&mut self, column: Column) -> Option<u64> {
        if is_place(column) && self.has(has::SAME_PLACE) {
            return match column {
                Column::Uid => self.previous.uid.map(u64::from),
                Column::Gid => self.previous.gid.map(u64::from),
                _ => self.previous.dev,
            };
        }
        let is_known = self.has(has::attribute(column));
        is_known.then(|| self.from.number())
    }

    #[inline]
    fn time(&mut self, column: Column) -> Option<Timestamp> {
        if column == Column::Ctime && self.has(has::CTIME_IS_MTIME) {
            return self.mtime;
        }
        if !self.has(has::attribute(column)) {
            return None;
        }
        let base = self.mtime.map_or(self.previous.seconds, |mtime| mtime.secs);
        let time = self.from.time(base);
        if column == Column::Mtime {
            self.mtime = Some(time);
        }
        Some(time)
    }

    #[inline]
    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
        let is_known = self.has(has::attribute(column));
        is_known.then(|| self.from.array())
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
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::option;
    use proptest::prelude::*;

    /// Values of attributes, in the order of the table.
    struct Made(Vec<Option<u64>>);

    impl AttributeSource for Made {
        fn number(&mut self, column: Column) -> Option<u64> {
            let value = self.0[column.attribute().unwrap()]?;
            // These are mostly the same as in the entry before.
            Some(if is_place(column) { value % 3 } else { value })
        }

        fn time(&mut self, column: Column) -> Option<Timestamp> {
            self.number(column).map(|value| Timestamp {
                secs: value.cast_signed(),
                nanos: (value % 1_000_000_000) as u32,
            })
        }

        fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
            self.number(column).map(|value| [value as u8; HASH_BYTES])
        }
    }

    prop_compose! {
        fn attributes()(
            // Small numbers are as likely as large ones.
            values in vec(option::of((any::<u64>(), 0..64_u32).prop_map(|(bits, zeros)| bits >> zeros)), ATTRIBUTES.len()),
            same in any::<bool>(),
            charged_once in any::<bool>(),
        ) -> Attributes {
            let mut attributes = Attributes::take(&mut Made(values));
            attributes.charged_once = charged_once;
            if same {
                attributes.ctime = attributes.mtime;
            }
            attributes
        }
    }

    proptest! {
        #[test]
        fn entries_are_unpacked_as_they_were(
            all in vec((
                attributes(),
                any::<Vec<u8>>(),
                any::<Option<u64>>(),
                any::<Option<Vec<u8>>>(),
                vec((any::<Vec<u8>>(), any::<Vec<u8>>()), 0..3),
            ), 1..10)
        ) {
            let mut run = Vec::new();
            let mut packer = Packer::default();
            for (attributes, name, child, target, xattrs) in &all {
                let entry = Entry {
                    attributes: *attributes,
                    target: target.as_deref(),
                    xattrs,
                    failure: target.as_ref().map(|_| Failure { operation: FailedOperation::Xattr, errno: Errno::IO }),
                    skipped: child.map(|_| Skipped::Loop),
                    ..Entry::new(name, FileType::Fifo)
                };
                packer.push(&entry, *child, &mut run);
            }
            let mut unpacker = Unpacker::default();
            for (attributes, name, child, target, xattrs) in &all {
                let entry = unpacker.next(&run).unwrap();
                prop_assert_eq!(&entry.entry.attributes, attributes);
                prop_assert_eq!(entry.entry.name, name);
                prop_assert_eq!(entry.entry.file_type, FileType::Fifo);
                prop_assert_eq!(entry.child, *child);
                prop_assert_eq!(entry.entry.target, target.as_deref());
                prop_assert_eq!(entry.entry.failure.is_some(), target.is_some());
                prop_assert_eq!(entry.entry.skipped, child.map(|_| Skipped::Loop));
                let found: Vec<_> = entry.xattrs().map(|(a, b)| (a.to_vec(), b.to_vec())).collect();
                prop_assert_eq!(&found, xattrs);
            }
            prop_assert!(unpacker.next(&run).is_none());
        }
    }
}
