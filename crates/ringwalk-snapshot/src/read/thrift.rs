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
mod tests;
