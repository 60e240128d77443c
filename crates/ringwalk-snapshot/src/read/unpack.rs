//! The bytes of a page: its header, and its values after decompression.

use super::error::Reason;
use super::file::SharedFile;
use super::layout::Place;
use super::thrift::{Kind, Reader};
use crate::columnar::Encoding;
use crate::schema::{MOST_TEXT, Values};
use std::io::ErrorKind;
use std::ops::Range;
use zstd::bulk::Decompressor;

/// The most bytes of a page of numbers, and of a dictionary of them. Ringwalk writes dictionaries
/// of 1 MiB.
const MOST_NUMBERS: usize = 4 << 20;

/// Returns the most bytes of a page of such values. A page that is said to have more is refused
/// before it takes memory.
fn most(values: Values) -> usize {
    match values {
        Values::Text | Values::Bytes => MOST_TEXT,
        _ => MOST_NUMBERS,
    }
}

/// What a page holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Contents {
    Data { rows: usize, encoding: Encoding },
    Dictionary { count: usize },
}

/// Reads pages, and keeps their memory.
#[derive(Default)]
pub(super) struct Unpacker {
    stored: Vec<u8>,
    unpacked: Vec<u8>,
    /// `None` before the first page. A decoder takes 30 us to create, as much as decoding a page.
    zstd: Option<Decompressor<'static>>,
}

impl std::fmt::Debug for Unpacker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Unpacker").finish_non_exhaustive()
    }
}

impl Unpacker {
    /// Reads a range of bytes as they are.
    pub(super) fn read(&mut self, file: &SharedFile, range: Range<u64>) -> Result<&[u8], Reason> {
        file.read(range, &mut self.stored)?;
        Ok(&self.stored)
    }

    /// Reads the page at a range of bytes.
    pub(super) fn page(
        &mut self,
        file: &SharedFile,
        range: Range<u64>,
        place: &Place,
        values: Values,
    ) -> Result<(Contents, &[u8]), Reason> {
        let damaged = |what: &str| Reason::Damaged(what.to_owned());
        let most = most(values);
        // No compressed form is longer by more than that.
        if range.end - range.start > 2 * most as u64 {
            return Err(damaged("a page is too long"));
        }
        file.read(range, &mut self.stored)?;
        let mut reader = Reader::new(&self.stored);
        let header = Header::read(&mut reader);
        let header = header.ok_or_else(|| damaged("the header of a page is malformed"))?;
        let stored = reader.rest();
        if usize::try_from(header.stored) != Ok(stored.len()) {
            return Err(damaged("a page has another length than its header says"));
        }
        if !file.ignores_checksums && header.crc.is_some_and(|crc| crc != crc_of(stored)) {
            return Err(damaged("a page has another checksum than its header says"));
        }
        let length = usize::try_from(header.unpacked).ok();
        let length = length.filter(|length| *length <= most);
        let length = length.ok_or_else(|| damaged("a page is too long when it is decompressed"))?;
        let contents = header.contents.ok_or_else(|| {
            damaged("a page is not stored as this version of the schema stores it")
        })?;
        if !place.is_compressed {
            if stored.len() != length {
                return Err(damaged("a page has another length than its header says"));
            }
            return Ok((contents, stored));
        }
        self.unpacked.clear();
        let reserved = self.unpacked.try_reserve_exact(length);
        reserved.map_err(|_| Reason::Io(ErrorKind::OutOfMemory.into()))?;
        // A page without values has no contents.
        if length > 0 {
            let zstd = match &mut self.zstd {
                Some(zstd) => zstd,
                none => none.insert(Decompressor::new().map_err(Reason::Io)?),
            };
            let unpacked = zstd.decompress_to_buffer(stored, &mut self.unpacked);
            unpacked.map_err(|error| {
                Reason::Damaged(format!("a page cannot be decompressed: {error}"))
            })?;
        }
        if self.unpacked.len() != length {
            return Err(damaged("a page has another length than its header says"));
        }
        Ok((contents, &self.unpacked))
    }
}

/// The header of a page, `PageHeader` in `parquet.thrift`.
struct Header {
    /// Bytes after decompression.
    unpacked: i64,
    /// Bytes in the file.
    stored: i64,
    /// The checksum of the bytes in the file. Snapshots of older versions have none.
    crc: Option<i64>,
    /// `None` for contents that Ringwalk does not write.
    contents: Option<Contents>,
}

/// Returns the checksum of stored bytes, as a header has it: an integer of 32 bits with a sign.
fn crc_of(stored: &[u8]) -> i64 {
    crc32fast::hash(stored).cast_signed().into()
}

impl Header {
    fn read(reader: &mut Reader<'_>) -> Option<Self> {
        let (mut unpacked, mut stored, mut crc) = (None, None, None);
        let (mut data, mut dictionary) = (None, None);
        reader.fields(|reader, number, kind| {
            match number {
                2 => unpacked = Some(reader.integer(kind)?),
                3 => stored = Some(reader.integer(kind)?),
                4 => crc = Some(reader.integer(kind)?),
                5 => data = Some(integers(reader, kind)?),
                7 => dictionary = Some(integers(reader, kind)?),
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        Some(Self {
            unpacked: unpacked?,
            stored: stored?,
            crc,
            contents: match (data, dictionary) {
                (Some(data), None) => data_page(data),
                (None, Some(dictionary)) => dictionary_page(dictionary),
                _ => None,
            },
        })
    }
}

/// Reads the first three integers of a struct: the fields of the header of a data page or of a
/// dictionary that are of interest.
fn integers(reader: &mut Reader<'_>, kind: Kind) -> Option<[Option<i64>; 3]> {
    let mut integers = [None; 3];
    reader.structure(kind, |reader, number, kind| {
        let place = usize::try_from(number).ok();
        let place = place.and_then(|number| number.checked_sub(1));
        match place.and_then(|place| integers.get_mut(place)) {
            Some(integer) if kind == Kind::Integer => *integer = Some(reader.integer(kind)?),
            _ => reader.skip(kind)?,
        }
        Some(())
    })?;
    Some(integers)
}

fn data_page([rows, encoding, nulls]: [Option<i64>; 3]) -> Option<Contents> {
    (nulls == Some(Encoding::Rle as i64)).then_some(Contents::Data {
        rows: usize::try_from(rows?).ok()?,
        encoding: Encoding::of_number(encoding?)?,
    })
}

fn dictionary_page([count, encoding, _]: [Option<i64>; 3]) -> Option<Contents> {
    let is_plain = matches!(
        Encoding::of_number(encoding?)?,
        Encoding::Plain | Encoding::PlainDictionary
    );
    is_plain.then_some(Contents::Dictionary {
        count: usize::try_from(count?).ok()?,
    })
}

#[cfg(test)]
mod tests;
