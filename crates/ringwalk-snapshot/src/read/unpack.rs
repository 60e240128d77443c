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
mod tests {
    use super::*;
    use std::io::Write;

    /// Returns a field of a struct, with the number after the one before.
    fn integer(number: u64) -> Vec<u8> {
        let mut bytes = vec![0x15];
        let mut rest = number << 1;
        while rest >= 0x80 {
            bytes.push(u8::try_from(rest & 0x7f | 0x80).unwrap());
            rest >>= 7;
        }
        bytes.push(u8::try_from(rest).unwrap());
        bytes
    }

    /// Returns the header of a data page with a marker where its struct begins.
    fn data_header(unpacked: u64, stored: u64, [rows, encoding, nulls]: [u64; 3]) -> Vec<u8> {
        let mut bytes = [integer(0), integer(unpacked), integer(stored)].concat();
        bytes.push(0x2c);
        for number in [rows, encoding, nulls, 3] {
            bytes.extend(integer(number));
        }
        bytes.extend([0, 0]);
        bytes
    }

    fn dictionary_header(unpacked: u64, stored: u64, count: u64) -> Vec<u8> {
        let mut bytes = [integer(2), integer(unpacked), integer(stored)].concat();
        bytes.push(0x4c);
        bytes.extend([integer(count), integer(0)].concat());
        bytes.extend([0, 0]);
        bytes
    }

    /// Reads a page that is stored as these bytes.
    fn read(
        page: &[u8],
        is_compressed: bool,
        values: Values,
    ) -> Result<(Contents, Vec<u8>), String> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(b"PAR1").unwrap();
        file.write_all(page).unwrap();
        let file = SharedFile::new(file).unwrap();
        let place = Place::of_pages(4..file.len(), is_compressed);
        let mut unpacker = Unpacker::default();
        let page = unpacker.page(&file, 4..file.len(), &place, values);
        page.map(|(contents, bytes)| (contents, bytes.to_vec()))
            .map_err(|reason| match reason {
                Reason::Damaged(what) => what,
                other => panic!("{other:?}"),
            })
    }

    const DATA: [u64; 3] = [10, 0, 3];

    #[test]
    fn pages_of_every_kind() {
        let frame = zstd::bulk::compress(b"some bytes", 1).unwrap();
        let stored = frame.len() as u64;
        let page = [&data_header(10, stored, [7, 8, 3])[..], &frame].concat();
        let data = Contents::Data {
            rows: 7,
            encoding: Encoding::RleDictionary,
        };
        assert_eq!(
            read(&page, true, Values::Text),
            Ok((data, b"some bytes".to_vec()))
        );
        let page = [&dictionary_header(10, stored, 3)[..], &frame].concat();
        let dictionary = Contents::Dictionary { count: 3 };
        assert_eq!(
            read(&page, true, Values::Int64),
            Ok((dictionary, b"some bytes".to_vec()))
        );
        let page = [&data_header(4, 4, DATA)[..], b"text"].concat();
        assert_eq!(read(&page, false, Values::Text).unwrap().1, b"text");
        assert_eq!(
            read(&data_header(0, 0, DATA), true, Values::Text)
                .unwrap()
                .1,
            b""
        );
        for length in 0..page.len() {
            assert!(read(&page[..length], false, Values::Text).is_err());
        }
    }

    #[test]
    fn sizes_that_would_fill_the_memory_are_refused() {
        let frame = zstd::bulk::compress(&vec![0; 5 << 20], 1).unwrap();
        let stored = frame.len() as u64;
        let said = |size: u64, values| {
            let page = [&data_header(size, stored, DATA)[..], &frame].concat();
            read(&page, true, values).unwrap_err()
        };
        for size in [5 << 20, 8 << 30, u64::MAX >> 2] {
            assert_eq!(
                said(size, Values::Int64),
                "a page is too long when it is decompressed"
            );
        }
        let most = MOST_TEXT as u64;
        for size in [most + 1, 8 << 30] {
            assert!(said(size, Values::Text).contains("too long"));
        }
        // The frame has more than the header says.
        assert!(said(100, Values::Text).contains("cannot be decompressed"));
        // And less.
        assert!(said(6 << 20, Values::Text).contains("another length"));
    }

    #[test]
    fn headers_that_are_wrong() {
        let page = |header: Vec<u8>| {
            let page = [&header[..], b"text"].concat();
            read(&page, false, Values::Text).unwrap_err()
        };
        for (found, expected) in [
            (page(data_header(4, 5, DATA)), "another length"),
            (page(data_header(4, 3, DATA)), "another length"),
            (page(data_header(5, 4, DATA)), "another length"),
            (page(data_header(4, 4, [10, 9, 3])), "not stored as"),
            (page(data_header(4, 4, [10, 0, 4])), "not stored as"),
            (page(b"\x00".to_vec()), "malformed"),
            (page(b"".to_vec()), "malformed"),
        ] {
            assert!(found.contains(expected), "{found}");
        }
        let page = [&data_header(4, 4, DATA)[..], b"text"].concat();
        assert!(
            read(&page, true, Values::Text)
                .unwrap_err()
                .contains("cannot be decompressed")
        );
    }
}
