//! Entries of directories.

use crate::Error;
use crate::bytes::Fixed;

/// Bytes of a record's header: inode number, length of the record, length of the name, type.
const HEADER: usize = 8;
/// Bytes of the shortest record: a header and a name, padded to 4 bytes.
const SHORTEST: usize = 12;
/// Number of known types, with 0 (`EXT4_FT_MAX`).
const TYPES: u8 = 8;

/// `EXT4_FT_DIR`.
const DIRECTORY: u8 = 2;

/// An entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'b> {
    /// The inode number.
    pub ino: u32,
    /// The type (`EXT4_FT_*`: 1 regular, 2 directory, 3 character device, 4 block device, 5 FIFO, 6
    /// socket, 7 symbolic link); 0 if the directory does not store types.
    pub file_type: u8,
    /// The name: 1 to 255 bytes, none of them `/` or NUL.
    pub name: &'b [u8],
}

/// How a file system stores directory records.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// True if records store types (`filetype`), not the upper half of the name's length.
    pub(crate) has_types: bool,
    /// Number of inodes of the file system.
    pub(crate) inodes: u32,
}

impl Records {
    /// Calls the visitor for each entry in `room`, which records fill to the last byte.
    #[inline]
    pub(crate) fn each<'b>(
        self,
        room: &'b [u8],
        mut entry: impl FnMut(DirEntry<'b>),
    ) -> Result<(), Error> {
        let mut rest = room;
        while let Some((header, after)) = rest.split_first_chunk::<HEADER>() {
            let header = Fixed(header);
            let length = record_length(header, room.len());
            if length < SHORTEST || !length.is_multiple_of(4) || length > rest.len() {
                return Err(Error::Corrupt("length of a directory's record"));
            }
            let ino = header.u32::<0>();
            if ino != 0 {
                let name = after[..length - HEADER].get(..usize::from(header.u8::<6>()));
                entry(self.entry(header, ino, name)?);
            }
            rest = &rest[length..];
        }
        if rest.is_empty() {
            Ok(())
        } else {
            Err(Error::Corrupt("end of a directory's block"))
        }
    }

    /// Calls the visitor for each entry of inline data. `first` holds the parent's inode number and
    /// records, `second` more records.
    pub(crate) fn each_inline<'b>(
        self,
        first: &'b [u8],
        second: &'b [u8],
        mut entry: impl FnMut(DirEntry<'b>),
    ) -> Result<(), Error> {
        let split = first
            .split_first_chunk()
            .map(|(parent, rest)| (u32::from_le_bytes(*parent), rest));
        let (parent, records) = match split {
            Some((parent, records)) if (1..=self.inodes).contains(&parent) => (parent, records),
            _ => return Err(Error::Corrupt("parent of a directory")),
        };
        entry(DirEntry {
            ino: parent,
            file_type: if self.has_types { DIRECTORY } else { 0 },
            name: b"..",
        });
        self.each(records, &mut entry)?;
        self.each(second, &mut entry)
    }

    #[inline]
    fn entry<'b>(
        self,
        header: Fixed<'_, HEADER>,
        ino: u32,
        name: Option<&'b [u8]>,
    ) -> Result<DirEntry<'b>, Error> {
        let name = name.ok_or(Error::Corrupt("length of a name"))?;
        let byte = header.u8::<7>();
        let file_type = match self.has_types {
            true if byte < TYPES => byte,
            true => 0,
            false if byte == 0 => 0,
            false => return Err(Error::Corrupt("length of a name")),
        };
        if ino > self.inodes {
            return Err(Error::Corrupt("inode number of an entry"));
        }
        if !is_name(name) {
            return Err(Error::Corrupt("name of an entry"));
        }
        Ok(DirEntry {
            ino,
            file_type,
            name,
        })
    }
}

/// Returns the length of a record in a block of `size` bytes. In blocks of 64 KiB a length can need
/// more than 16 bits. Lengths are multiples of 4, so the lower two bits hold bits 16 and 17; 0 and
/// 65535 both mean the whole block.
#[inline]
pub(crate) fn record_length(header: Fixed<'_, HEADER>, size: usize) -> usize {
    let length = usize::from(header.u16::<4>());
    if size < 1 << 16 {
        return length;
    }
    match length {
        0 | 0xFFFF => size,
        length => length & 0xFFFC | (length & 3) << 16,
    }
}

/// Returns whether the bytes are a valid name.
#[inline]
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && memchr::memchr2(b'/', 0, name).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TYPED: Records = Records {
        has_types: true,
        inodes: 100,
    };

    /// Returns a record of `length` bytes.
    fn record(ino: u32, length: u16, name: &[u8], kind: u8) -> Vec<u8> {
        let mut bytes = ino.to_le_bytes().to_vec();
        bytes.extend(length.to_le_bytes());
        bytes.extend([u8::try_from(name.len()).unwrap(), kind]);
        bytes.extend(name);
        bytes.resize(bytes.len().max(length.into()), 0xAA);
        bytes
    }

    fn names(records: Records, room: &[u8]) -> (Vec<(u32, u8, Vec<u8>)>, bool) {
        let mut names = Vec::new();
        let result = records.each(room, |entry| {
            names.push((entry.ino, entry.file_type, entry.name.to_vec()));
        });
        (names, result.is_ok())
    }

    #[test]
    fn records_in_use_are_given() {
        let room = [
            record(2, 12, b".", 2),
            record(0, 16, b"gone", 1),
            record(11, 20, b"a name", 99),
        ]
        .concat();
        let expected = vec![(2, 2, b".".to_vec()), (11, 0, b"a name".to_vec())];
        assert_eq!(names(TYPED, &room), (expected, true));
        assert_eq!(names(TYPED, &[]), (vec![], true));
    }

    #[test]
    fn without_types_that_byte_belongs_to_the_length() {
        let untyped = Records {
            has_types: false,
            ..TYPED
        };
        let room = record(7, 12, b"abc", 0);
        assert_eq!(names(untyped, &room), (vec![(7, 0, b"abc".to_vec())], true));
        assert_eq!(names(untyped, &record(7, 12, b"abc", 1)), (vec![], false));
    }

    #[test]
    fn what_cannot_be_is_an_error() {
        for room in [
            record(7, 8, b"", 1),
            record(7, 0, b"abcd", 1),
            record(7, 14, b"abcdef", 1),
            record(7, 12, b"abcde", 1),
            record(7, 12, b"", 1),
            record(7, 12, b"a/b", 1),
            record(7, 12, b"a\0b", 1),
            record(101, 12, b"abc", 1),
            [record(7, 12, b"abc", 1), vec![0; 4]].concat(),
            [record(7, 12, b"abc", 1), vec![0; 8]].concat(),
            record(7, 24, b"abc", 1)[..20].to_vec(),
        ] {
            let (found, is_whole) = names(TYPED, &room);
            assert!(!is_whole, "{room:?} {found:?}");
        }
    }

    #[test]
    fn records_of_64_kib_have_18_bits() {
        let mut room = vec![0; 1 << 16];
        // Lengths of 65524 and 12 bytes.
        room[..12].copy_from_slice(&record(7, 0xFFF4, b"abc", 1)[..12]);
        room[0xFFF4..].copy_from_slice(&record(8, 12, b"def", 1));
        let both = vec![(7, 1, b"abc".to_vec()), (8, 1, b"def".to_vec())];
        assert_eq!(names(TYPED, &room), (both, true));
        for whole in [0, 0xFFFF] {
            room[4..6].copy_from_slice(&u16::to_le_bytes(whole));
            assert_eq!(names(TYPED, &room), (vec![(7, 1, b"abc".to_vec())], true));
        }
        let header = [0, 0, 0, 0, 0xF5, 0xFF, 0, 0];
        assert_eq!(record_length(Fixed(&header), 1 << 16), 0x1_FFF4);
        assert_eq!(record_length(Fixed(&header), 1 << 15), 0xFFF5);
    }

    #[test]
    fn inline_data_begins_with_the_parent() {
        let first = [&[2, 0, 0, 0], &record(5, 56, b"one", 1)[..]].concat();
        let second = record(6, 16, b"two", 1);
        let mut names = Vec::new();
        let result = TYPED.each_inline(&first, &second, |entry| {
            names.push((entry.ino, entry.name.to_vec()));
        });
        assert!(result.is_ok());
        assert_eq!(
            names,
            [
                (2, b"..".to_vec()),
                (5, b"one".to_vec()),
                (6, b"two".to_vec())
            ]
        );
        assert!(
            TYPED.each_inline(&[0; 60], &[], |_| ()).is_err(),
            "no parent"
        );
    }
}
