//! Thrift's compact protocol (`thrift-compact-protocol.md` of Apache Thrift), as far as Parquet
//! needs it. `read/thrift.rs` reads it.

use super::bits::{varint, zigzag};

/// The numbers of types.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kind {
    True = 1,
    False = 2,
    Byte = 3,
    I32 = 5,
    I64 = 6,
    Binary = 8,
    List = 9,
    Struct = 12,
}

/// Writes the fields of a struct, in the order of their numbers.
pub(super) struct Fields<'o> {
    out: &'o mut Vec<u8>,
    last: u8,
}

/// Appends a struct.
pub(super) fn structure(out: &mut Vec<u8>, write: impl FnOnce(&mut Fields<'_>)) {
    write(&mut Fields { out, last: 0 });
    out.push(0);
}

impl Fields<'_> {
    fn header(&mut self, number: u8, kind: Kind) {
        // The fields of Parquet are less than 15 apart.
        self.out.push((number - self.last) << 4 | kind as u8);
        self.last = number;
    }

    /// Writes an integer of 32 bits.
    pub(super) fn i32(&mut self, number: u8, value: i32) {
        self.header(number, Kind::I32);
        varint(zigzag(value.into()), self.out);
    }

    /// Writes an integer of 64 bits.
    pub(super) fn i64(&mut self, number: u8, value: u64) {
        self.header(number, Kind::I64);
        varint(zigzag(value.cast_signed()), self.out);
    }

    pub(super) fn byte(&mut self, number: u8, value: u8) {
        self.header(number, Kind::Byte);
        self.out.push(value);
    }

    pub(super) fn boolean(&mut self, number: u8, value: bool) {
        self.header(number, if value { Kind::True } else { Kind::False });
    }

    pub(super) fn binary(&mut self, number: u8, value: &[u8]) {
        self.header(number, Kind::Binary);
        binary(value, self.out);
    }

    pub(super) fn structure(&mut self, number: u8, write: impl FnOnce(&mut Fields<'_>)) {
        self.header(number, Kind::Struct);
        structure(self.out, write);
    }

    /// Writes a list. `element` appends each element.
    pub(super) fn list<T>(
        &mut self,
        number: u8,
        kind: Kind,
        list: &[T],
        mut element: impl FnMut(&T, &mut Vec<u8>),
    ) {
        self.header(number, Kind::List);
        if let Ok(count @ 0..15) = u8::try_from(list.len()) {
            self.out.push(count << 4 | kind as u8);
        } else {
            self.out.push(0xf0 | kind as u8);
            varint(list.len() as u64, self.out);
        }
        for value in list {
            element(value, self.out);
        }
    }
}

/// Appends bytes as an element of a list.
pub(super) fn binary(value: &[u8], out: &mut Vec<u8>) {
    varint(value.len() as u64, out);
    out.extend_from_slice(value);
}

/// Appends an integer as an element of a list.
pub(super) fn integer(value: i64, out: &mut Vec<u8>) {
    varint(zigzag(value), out);
}

/// Appends a truth value as an element of a list.
pub(super) fn boolean(value: bool, out: &mut Vec<u8>) {
    out.push(if value { Kind::True } else { Kind::False } as u8);
}
