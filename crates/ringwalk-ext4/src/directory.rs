//! Entries of directories.

use crate::Error;
use crate::bytes::Fixed;

/// Inode number, length of the record, length of the name, type.
const HEADER: usize = 8;
/// The shortest record: a header and a name, padded to 4 bytes.
const SHORTEST: usize = 12;
/// Types known, and 0 (`EXT4_FT_MAX`).
const TYPES: u8 = 8;

/// `EXT4_FT_DIR`.
const DIRECTORY: u8 = 2;

/// An entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'b> {
    /// The inode.
    pub ino: u32,
    /// The type (`EXT4_FT_*`: 1 regular, 2 directory, 3 character device, 4 block device, 5 FIFO, 6 socket, 7 symbolic
    /// link); 0 if the directory does not tell.
    pub file_type: u8,
    /// The name: 1 to 255 bytes, none of them `/` or NUL.
    pub name: &'b [u8],
}

/// How records are to be read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Records {
    /// Types are stored (`filetype`), not the upper half of the name's length.
    pub(crate) has_types: bool,
    /// Inodes in all.
    pub(crate) inodes: u32,
}

impl Records {
    /// Gives the entries in `room`, which records fill to the last byte.
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

    /// Gives the entries of inline data: the parent's inode number and records in `first`, more records in `second`.
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

/// The length of a record in a block of `size` bytes. Blocks of 64 KiB take more than 16 bits: lengths are multiples of 4, so the
/// lower two hold bits 16 and 17, and 0 as well as 65535 are the whole block.
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

/// Whether a name can be one.
#[inline]
fn is_name(name: &[u8]) -> bool {
    !name.is_empty() && memchr::memchr2(b'/', 0, name).is_none()
}
