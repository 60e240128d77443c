//! Thrift's compact protocol, in which Parquet stores its footer, its indexes and the headers of
//! its pages (`thrift-compact-protocol.md` of Apache Thrift).
//!
//! The decoder of the parquet crate trusts the numbers of a file: it allocates memory for the
//! stated number of elements of a list or a schema, recurses as deep as the schema is nested, and
//! panics on wrong values. A damaged footer can end the process in each of these ways. These
//! functions return `None` for all that is damaged, take time in proportion to the bytes, and take
//! no memory that the bytes do not fill.

use super::packed;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    True,
    False,
    Byte,
    /// An integer of 16, 32 or 64 bits. All are stored in the same way.
    Integer,
    Double,
    Binary,
    /// A list or a set.
    List,
    Map,
    Struct,
    Uuid,
}

/// How deep values that are skipped may lie in each other. In Parquet they are nested 4 deep.
const DEEPEST: u32 = 16;

/// Values that have not been read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'b> {
    bytes: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(super) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes }
    }

    /// Returns the bytes behind all that has been read.
    pub(super) fn rest(self) -> &'b [u8] {
        self.bytes
    }

    /// Reads the fields of a struct. `field` gets the number and the type of each, and reads or
    /// skips its value.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i16, Kind) -> Option<()>,
    ) -> Option<()> {
        let mut number = 0_i16;
        loop {
            let header = self.byte()?;
            let kind = match header & 0xf {
                0 => return Some(()),
                kind => Kind::of(kind)?,
            };
            number = match header >> 4 {
                0 => i16::try_from(self.zigzag()?).ok()?,
                difference => number.checked_add(difference.into())?,
            };
            field(self, number, kind)?;
        }
    }

    /// Reads a struct that is the value of a field or the element of a list.
    pub(super) fn structure(
        &mut self,
        kind: Kind,
        field: impl FnMut(&mut Self, i16, Kind) -> Option<()>,
    ) -> Option<()> {
        (kind == Kind::Struct).then_some(())?;
        self.fields(field)
    }

    /// Reads a list. `element` reads each element.
    pub(super) fn list<T>(
        &mut self,
        kind: Kind,
        mut element: impl FnMut(&mut Self, Kind) -> Option<T>,
    ) -> Option<Vec<T>> {
        (kind == Kind::List).then_some(())?;
        let (kind, count) = self.list_header()?;
        // The count says nothing before the elements are there, so it reserves no memory.
        let mut list = Vec::new();
        for _ in 0..count {
            list.push(element(self, kind)?);
        }
        Some(list)
    }

    pub(super) fn integer(&mut self, kind: Kind) -> Option<i64> {
        (kind == Kind::Integer).then_some(())?;
        self.zigzag()
    }

    pub(super) fn binary(&mut self, kind: Kind) -> Option<&'b [u8]> {
        (kind == Kind::Binary).then_some(())?;
        let length = usize::try_from(self.varint()?).ok()?;
        self.take(length)
    }

    pub(super) fn text(&mut self, kind: Kind) -> Option<&'b str> {
        std::str::from_utf8(self.binary(kind)?).ok()
    }

    /// Skips the value of a field.
    pub(super) fn skip(&mut self, kind: Kind) -> Option<()> {
        self.skip_within(kind, DEEPEST)
    }

    fn skip_within(&mut self, kind: Kind, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        match kind {
            // The type is the value.
            Kind::True | Kind::False => Some(()),
            Kind::Byte => self.take(1).map(drop),
            Kind::Integer => self.varint().map(drop),
            Kind::Double => self.take(8).map(drop),
            Kind::Uuid => self.take(16).map(drop),
            Kind::Binary => self.binary(kind).map(drop),
            Kind::Struct => self.fields(|reader, _, kind| reader.skip_within(kind, depth)),
            Kind::List => {
                let (kind, count) = self.list_header()?;
                (0..count).try_for_each(|_| self.skip_within(kind, depth))
            }
            Kind::Map => {
                let count = self.varint()?;
                if count == 0 {
                    return Some(());
                }
                let kinds = self.byte()?;
                let (key, value) = (
                    Kind::of_element(kinds >> 4)?,
                    Kind::of_element(kinds & 0xf)?,
                );
                (0..count).try_for_each(|_| {
                    self.skip_within(key, depth)?;
                    self.skip_within(value, depth)
                })
            }
        }
    }

    fn list_header(&mut self) -> Option<(Kind, u64)> {
        let header = self.byte()?;
        // Some writers give an empty list no type.
        if header == 0 {
            return Some((Kind::Byte, 0));
        }
        let count = match header >> 4 {
            15 => self.varint()?,
            count => count.into(),
        };
        Some((Kind::of_element(header & 0xf)?, count))
    }

    fn zigzag(&mut self) -> Option<i64> {
        self.varint().map(packed::unzigzag)
    }

    fn varint(&mut self) -> Option<u64> {
        packed::varint(&mut self.bytes)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|byte| byte[0])
    }

    fn take(&mut self, length: usize) -> Option<&'b [u8]> {
        packed::take(&mut self.bytes, length)
    }
}

impl Kind {
    fn of(number: u8) -> Option<Self> {
        Some(match number {
            1 => Self::True,
            2 => Self::False,
            3 => Self::Byte,
            4..=6 => Self::Integer,
            7 => Self::Double,
            8 => Self::Binary,
            9 | 10 => Self::List,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return None,
        })
    }

    /// Returns the type of elements of a list or map. There, a truth value takes a byte.
    fn of_element(number: u8) -> Option<Self> {
        match Self::of(number)? {
            Self::True | Self::False => Some(Self::Byte),
            kind => Some(kind),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a field with the number after the one before.
    fn field(kind: u8, value: &[u8]) -> Vec<u8> {
        [&[0x10 | kind][..], value].concat()
    }

    fn skipped(kind: u8, value: &[u8]) -> Option<()> {
        let bytes = [&field(kind, value)[..], &[0]].concat();
        let mut reader = Reader::new(&bytes);
        reader.fields(|reader, _, kind| reader.skip(kind))?;
        reader.rest().is_empty().then_some(())
    }

    #[test]
    fn values_of_every_type_are_skipped() {
        for (kind, value) in [
            (1, &b""[..]),
            (2, b""),
            (3, b"x"),
            (5, b"\xff\xff\x03"),
            (7, b"12345678"),
            (8, b"\x03abc"),
            (9, b"\x00"),
            (9, b"\x21\x01\x02"),
            (9, b"\xf3\x10abcdefghijklmnop"),
            (10, b"\x18\x01a"),
            (11, b"\x00"),
            (11, b"\x02\x83\x01ax\x01by"),
            (12, b"\x00"),
            (12, b"\x15\x02\x15\x02\x00"),
            (13, b"0123456789abcdef"),
        ] {
            assert_eq!(skipped(kind, value), Some(()), "{kind} {value:?}");
            let cut = value.len().checked_sub(1).map(|length| &value[..length]);
            if let Some(cut) = cut {
                let bytes = field(kind, cut);
                let read = Reader::new(&bytes).fields(|reader, _, kind| reader.skip(kind));
                assert_eq!(read, None, "{kind} {cut:?}");
            }
        }
        assert_eq!(skipped(14, b""), None);
    }

    #[test]
    fn numbers_of_fields_are_differences_or_whole() {
        let bytes = b"\x35\x02\x15\x03\x05\x14\x04\x00";
        let mut found = Vec::new();
        Reader::new(bytes)
            .fields(|reader, number, kind| {
                found.push((number, reader.integer(kind)?));
                Some(())
            })
            .unwrap();
        assert_eq!(found, [(3, 1), (4, -2), (10, 2)]);
    }

    #[test]
    fn a_list_of_many_elements_takes_no_memory_before_they_are_there() {
        // 2^60 truth values, which a decoder that reads none of their bytes would count.
        let count = b"\x80\x80\x80\x80\x80\x80\x80\x80\x10";
        for kind in [1, 3, 5, 8, 12] {
            let value = [&[0xf0 | kind][..], count, b"\x01\x01"].concat();
            assert_eq!(skipped(9, &value), None);
            let bytes = [&field(9, &value)[..], &[0]].concat();
            let mut reader = Reader::new(&bytes);
            let list = reader.fields(|reader, _, kind| {
                reader.list(kind, Reader::skip)?;
                Some(())
            });
            assert_eq!(list, None);
        }
    }

    #[test]
    fn values_that_lie_too_deep_are_refused() {
        let nested = |depth: usize| [b"\x1c".repeat(depth), b"\x00".repeat(depth + 1)].concat();
        let read = |depth| {
            let bytes = nested(depth);
            Reader::new(&bytes).fields(|reader, _, kind| reader.skip(kind))
        };
        assert_eq!(read(16), Some(()));
        assert_eq!(read(17), None);
        assert_eq!(read(1_000_000), None);
    }

    #[test]
    fn other_types_than_the_expected_ones_are_refused() {
        for kind in [Kind::True, Kind::Byte, Kind::Map, Kind::Double] {
            let mut reader = Reader::new(b"\x00\x00");
            assert_eq!(reader.integer(kind), None);
            assert_eq!(reader.binary(kind), None);
            assert_eq!(reader.list(kind, |_, _| Some(())), None);
            assert_eq!(reader.structure(kind, |_, _, _| Some(())), None);
        }
        let mut reader = Reader::new(b"\x02\xff\xfe");
        assert_eq!(reader.text(Kind::Binary), None);
    }
}
