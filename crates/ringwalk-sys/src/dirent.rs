//! The records of `getdents64`, parsed in place.
//!
//! Layout, from `struct linux_dirent64` in `include/linux/dirent.h` of the kernel and getdents(2):
//!
//! ```text
//! offset  0        8        16         18       19
//!         | d_ino  | d_off  | d_reclen | d_type | d_name, NUL, padding to d_reclen |
//!           u64      i64      u16        u8
//! ```
//!
//! Integers are in the byte order of the machine. `d_reclen` covers the whole record and is a
//! multiple of 8. The kernel passes on what servers of FUSE and network file systems return, and
//! other sources fill the same records. So nothing here trusts a length.

use std::ffi::CStr;
use std::fmt;

/// Bytes before the name of a record.
pub(crate) const HEADER: usize = 19;

/// Alignment of records in a buffer, in bytes.
pub(crate) const ALIGN: usize = 8;

/// The shortest record in bytes: header, one byte of name, NUL, padding.
const LEAST_RECORD: usize = (HEADER + 2).next_multiple_of(ALIGN);

/// The type of a directory entry, from its record (`d_type`).
///
/// [`Unknown`](Self::Unknown) is a valid answer: some file systems do not store types in
/// directories, and then only `statx` has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
#[doc(alias = "d_type")]
pub enum RawFileType {
    /// `DT_UNKNOWN`: the file system did not report a type.
    Unknown = 0,
    /// `DT_FIFO`: a named pipe.
    Fifo = 1,
    /// `DT_CHR`: a character device.
    CharacterDevice = 2,
    /// `DT_DIR`: a directory.
    Directory = 4,
    /// `DT_BLK`: a block device.
    BlockDevice = 6,
    /// `DT_REG`: a regular file.
    Regular = 8,
    /// `DT_LNK`: a symbolic link.
    Symlink = 10,
    /// `DT_SOCK`: a Unix-domain socket.
    Socket = 12,
}

impl RawFileType {
    /// Returns the type for a `d_type` byte; a value that getdents(2) does not list is
    /// [`Unknown`](Self::Unknown).
    pub fn from_d_type(d_type: u8) -> Self {
        const TYPES: [RawFileType; 16] = {
            let mut types = [RawFileType::Unknown; 16];
            types[1] = RawFileType::Fifo;
            types[2] = RawFileType::CharacterDevice;
            types[4] = RawFileType::Directory;
            types[6] = RawFileType::BlockDevice;
            types[8] = RawFileType::Regular;
            types[10] = RawFileType::Symlink;
            types[12] = RawFileType::Socket;
            types
        };
        TYPES.get(usize::from(d_type)).map_or(Self::Unknown, |t| *t)
    }

    /// Returns the type in the `S_IFMT` bits of a mode, as inode(7) lists them.
    pub fn from_mode(mode: u32) -> Self {
        // The kernel defines DT_* as the S_IFMT bits shifted by 12 (include/linux/fs_types.h).
        Self::from_d_type(((mode & 0o170_000) >> 12) as u8)
    }

    /// Returns true for a directory.
    pub const fn is_dir(self) -> bool {
        matches!(self, Self::Directory)
    }

    /// Returns true for a regular file.
    pub const fn is_file(self) -> bool {
        matches!(self, Self::Regular)
    }

    /// Returns true for a symbolic link.
    pub const fn is_symlink(self) -> bool {
        matches!(self, Self::Symlink)
    }
}

/// One directory entry, borrowed from the buffer that `getdents64` filled.
#[derive(Clone, Copy)]
#[doc(alias = "linux_dirent64")]
pub struct Dirent<'a> {
    /// The whole record. The name ends within it.
    record: &'a [[u8; ALIGN]],
}

impl<'a> Dirent<'a> {
    /// Returns the inode number (`d_ino`). For a mount point it is the number of the directory
    /// underneath.
    #[inline]
    pub fn ino(&self) -> u64 {
        u64::from_ne_bytes(self.record[0])
    }

    /// Returns the position of the *next* entry (`d_off`): opaque, valid only for the open file it
    /// came from.
    #[inline]
    pub fn cookie(&self) -> i64 {
        i64::from_ne_bytes(self.record[1])
    }

    /// Returns the type that the file system reports (`d_type`).
    #[inline]
    pub fn file_type(&self) -> RawFileType {
        RawFileType::from_d_type(self.record[FIRST][2])
    }

    /// Returns the name: any bytes except NUL and `/`. The kernel rejects names with `/`
    /// (`verify_dirent_name` in `fs/readdir.c`), so this does not search for it again. A source
    /// that fills records in another way must do so.
    ///
    /// Each call searches for the end of the name.
    #[inline]
    pub fn name(&self) -> &'a CStr {
        name_of(self.record).unwrap_or_default()
    }

    /// Returns whether this is `.` or `..`.
    #[inline]
    pub fn is_dot(&self) -> bool {
        // Names begin within this word, and both of these end within it.
        let [.., first, second, third, _, _] = self.record[FIRST];
        first == b'.' && (second == 0 || second == b'.' && third == 0)
    }
}

impl fmt::Debug for Dirent<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dirent")
            .field("ino", &self.ino())
            .field("cookie", &self.cookie())
            .field("file_type", &self.file_type())
            .field("name", &self.name())
            .finish()
    }
}

/// The reason why a buffer does not hold a sequence of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DirentError {
    /// Fewer bytes are left than a record header needs.
    Truncated,
    /// `d_reclen` is too small for a record, not a multiple of 8, or reaches beyond the buffer.
    BadLength,
    /// The name has no NUL within its record.
    UnterminatedName,
    /// The name is empty.
    EmptyName,
}

impl fmt::Display for DirentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "directory record cut off",
            Self::BadLength => "directory record with an impossible length",
            Self::UnterminatedName => "directory record whose name does not end",
            Self::EmptyName => "directory record with an empty name",
        })
    }
}

impl std::error::Error for DirentError {}

/// The records in a buffer, in order. The iterator ends after an error.
///
/// ```
/// use ringwalk_sys::Dirents;
/// assert!(Dirents::new(&[]).next().is_none());
/// ```
///
/// A record borrows from the buffer, so the buffer cannot be filled again while a record exists:
///
/// ```compile_fail
/// # use ringwalk_sys::Dirents;
/// let mut buffer = vec![0u8; 64];
/// let first = Dirents::new(&buffer).next();
/// buffer.fill(1);
/// drop(first);
/// ```
#[derive(Clone, Debug)]
pub struct Dirents<'a> {
    words: &'a [[u8; ALIGN]],
    /// The first word of the next record.
    at: usize,
    /// True if there are bytes after the last whole word.
    ragged: bool,
}

impl<'a> Dirents<'a> {
    /// Returns the records of `buffer`, which holds as many bytes as `getdents64` returned.
    pub fn new(buffer: &'a [u8]) -> Self {
        let (words, rest) = buffer.as_chunks();
        Self {
            words,
            at: 0,
            ragged: !rest.is_empty(),
        }
    }

    /// Returns the offset in bytes of the next record.
    #[inline]
    pub fn offset(&self) -> usize {
        self.at * ALIGN
    }

    #[inline]
    fn parse(&mut self) -> Result<Dirent<'a>, DirentError> {
        let words = &self.words[self.at..];
        let Some(mixed) = words.get(FIRST) else {
            return Err(DirentError::Truncated);
        };
        let length = usize::from(u16::from_ne_bytes([mixed[0], mixed[1]]));
        // The shortest record has a header, one byte of name and a NUL.
        if length < LEAST_RECORD || length % ALIGN != 0 {
            return Err(DirentError::BadLength);
        }
        let Some(record) = words.get(..length / ALIGN) else {
            return Err(DirentError::BadLength);
        };
        if mixed[BEFORE] == 0 {
            return Err(DirentError::EmptyName);
        }
        // The kernel's records are as short as possible, so the NUL is in the last word. A NUL in
        // an earlier word is valid too.
        let last = record[record.len() - 1];
        let hidden = if record.len() == FIRST + 1 { HIDDEN } else { 0 };
        if zero_bytes(u64::from_le_bytes(last) | hidden) == 0 && name_of(record).is_none() {
            return Err(DirentError::UnterminatedName);
        }
        self.at += record.len();
        Ok(Dirent { record })
    }
}

impl<'a> Iterator for Dirents<'a> {
    type Item = Result<Dirent<'a>, DirentError>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.at >= self.words.len() && !std::mem::take(&mut self.ragged) {
            return None;
        }
        let parsed = self.parse();
        if parsed.is_err() {
            self.at = self.words.len();
            self.ragged = false;
        }
        Some(parsed)
    }
}

impl std::iter::FusedIterator for Dirents<'_> {}

/// The index of the word in which a record's name begins, and the number of bytes before the name
/// in that word.
const FIRST: usize = HEADER / ALIGN;
const BEFORE: usize = HEADER % ALIGN;
const HIDDEN: u64 = hidden(HEADER);

/// Returns a mask of the bytes that are before byte `start` in its word.
#[inline]
const fn hidden(start: usize) -> u64 {
    (1 << (8 * (start % ALIGN))) - 1
}

/// Returns the name in a record, or in more than one record. `None` if the name has no NUL.
#[inline]
pub(crate) fn name_of(record: &[[u8; ALIGN]]) -> Option<&CStr> {
    name_from(record, HEADER)
}

/// Returns the name that begins at byte `start`. `None` if the name has no NUL.
///
/// Most names end within three words, which this function tests together. A loop is slower: the CPU
/// mispredicts its end for every other name, which takes longer than all the rest.
#[inline]
pub(crate) fn name_from(bytes: &[[u8; ALIGN]], start: usize) -> Option<&CStr> {
    let words = bytes.get(start / ALIGN..)?;
    if let Some(words) = words.first_chunk::<3>() {
        let word = |index: usize| u64::from_le_bytes(words[index]);
        let nuls = [
            zero_bytes(word(0) | hidden(start)),
            zero_bytes(word(1)),
            zero_bytes(word(2)),
        ];
        let first = usize::from(nuls[0] == 0) + usize::from(nuls[0] | nuls[1] == 0);
        if nuls[first] != 0 {
            return Some(name_to(bytes, start, start / ALIGN + first, nuls[first]));
        }
    }
    long_name_from(bytes, start)
}

/// Does the same as [`name_from`], one word at a time.
fn long_name_from(bytes: &[[u8; ALIGN]], start: usize) -> Option<&CStr> {
    // Bytes before the name do not count as NUL.
    let mut hidden = hidden(start);
    for (index, word) in bytes.iter().enumerate().skip(start / ALIGN) {
        let nul = zero_bytes(u64::from_le_bytes(*word) | hidden);
        hidden = 0;
        if nul == 0 {
            continue;
        }
        return Some(name_to(bytes, start, index, nul));
    }
    None
}

/// Returns the name that begins at byte `start` and ends in the word `index`. That word is the
/// first one, from byte `start` on, that [`zero_bytes`] marked; `nul` is its mark.
#[inline]
fn name_to(bytes: &[[u8; ALIGN]], start: usize, index: usize, nul: u64) -> &CStr {
    let end = index * ALIGN + (nul.trailing_zeros() / 8) as usize;
    let name = &bytes.as_flattened()[start..=end];
    debug_assert!(CStr::from_bytes_with_nul(name).is_ok());
    // SAFETY: byte `end` is NUL, and the bytes from `start` up to it are not: `zero_bytes` marks
    // the first zero byte of a word exactly, words without a mark have none, and the bytes before
    // the name are masked.
    unsafe { CStr::from_bytes_with_nul_unchecked(name) }
}

/// A word in which every byte is 1.
const EVERY_BYTE: u64 = 0x0101_0101_0101_0101;

/// Returns the high bit of the lowest zero byte, and possibly of bytes above it; 0 if there is no
/// zero byte. (Mycroft's test, as in Knuth, The Art of Computer Programming, 4A, section 7.1.3.)
#[inline]
fn zero_bytes(word: u64) -> u64 {
    word.wrapping_sub(EVERY_BYTE) & !word & (EVERY_BYTE << 7)
}

#[cfg(test)]
mod tests {
    //! Parses records that were written, records that were damaged, and random bytes.

    use super::*;
    use proptest::prelude::*;

    fn record(ino: u64, cookie: i64, d_type: u8, name: &[u8], padding: usize) -> Vec<u8> {
        let length = (HEADER + name.len() + 1).next_multiple_of(ALIGN) + padding * ALIGN;
        let mut bytes = Vec::new();
        bytes.extend(ino.to_ne_bytes());
        bytes.extend(cookie.to_ne_bytes());
        bytes.extend(u16::try_from(length).unwrap().to_ne_bytes());
        bytes.push(d_type);
        bytes.extend(name);
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn a_record_is_read_back() {
        let buffer = record(7, -2, 8, b"name", 0);
        let dirent = Dirents::new(&buffer).next().unwrap().unwrap();
        assert_eq!((dirent.ino(), dirent.cookie()), (7, -2));
        assert_eq!(dirent.file_type(), RawFileType::Regular);
        assert_eq!(dirent.name(), c"name");
    }

    #[test]
    fn dots_are_known() {
        for (name, dot) in [
            (&b"."[..], true),
            (b"..", true),
            (b"...", false),
            (b".a", false),
        ] {
            let buffer = record(1, 1, 4, name, 0);
            assert_eq!(Dirents::new(&buffer).next().unwrap().unwrap().is_dot(), dot);
        }
    }

    #[test]
    fn bad_records_are_errors_and_the_end() {
        let good = record(1, 1, 8, b"abc", 0);
        let cases = [
            (good[..18].to_vec(), DirentError::Truncated),
            (good[..16].to_vec(), DirentError::Truncated),
            (
                {
                    let mut b = good.clone();
                    b[16] = 16;
                    b
                },
                DirentError::BadLength,
            ),
            (
                {
                    let mut b = good.clone();
                    b[16] = 23;
                    b
                },
                DirentError::BadLength,
            ),
            (
                {
                    let mut b = good.clone();
                    b[16] = 32;
                    b
                },
                DirentError::BadLength,
            ),
            (
                {
                    let mut b = good.clone();
                    b[16] = 0;
                    b
                },
                DirentError::BadLength,
            ),
            (
                {
                    let mut b = good.clone();
                    b[19..].fill(b'x');
                    b
                },
                DirentError::UnterminatedName,
            ),
            (record(1, 1, 8, b"", 0), DirentError::EmptyName),
        ];
        for (buffer, error) in cases {
            let mut dirents = Dirents::new(&buffer);
            assert_eq!(dirents.next().unwrap().unwrap_err(), error);
            assert!(dirents.next().is_none());
        }
    }

    #[test]
    fn padding_is_not_looked_at() {
        for length in 1..40 {
            let name = vec![b'n'; length];
            let mut buffer = record(1, 1, 8, &name, 2);
            buffer[HEADER + length + 1..].fill(b'/');
            let dirent = Dirents::new(&buffer).next().unwrap().unwrap();
            assert_eq!(dirent.name().to_bytes(), name);
        }
    }

    #[test]
    fn types_follow_the_mode_bits() {
        for (mode, file_type) in [
            (0o040_755, RawFileType::Directory),
            (0o100_644, RawFileType::Regular),
            (0o120_777, RawFileType::Symlink),
            (0o140_777, RawFileType::Socket),
            (0o010_644, RawFileType::Fifo),
            (0o060_660, RawFileType::BlockDevice),
            (0o020_660, RawFileType::CharacterDevice),
            (0o000_644, RawFileType::Unknown),
        ] {
            assert_eq!(RawFileType::from_mode(mode), file_type);
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(entries in prop::collection::vec(
            (any::<u64>(), any::<i64>(), 0u8..16, prop::collection::vec(1u8..=255, 1..256), 0usize..3), 0..50)) {
            let entries: Vec<_> = entries
                .into_iter()
                .map(|(ino, cookie, d_type, mut name, padding)| {
                    for byte in &mut name {
                        if *byte == b'/' {
                            *byte = b'_';
                        }
                    }
                    (ino, cookie, d_type, name, padding)
                })
                .collect();
            let buffer: Vec<u8> = entries
                .iter()
                .flat_map(|(ino, cookie, d_type, name, padding)| record(*ino, *cookie, *d_type, name, *padding))
                .collect();
            let read: Vec<_> = Dirents::new(&buffer).map(Result::unwrap).collect();
            prop_assert_eq!(read.len(), entries.len());
            for (dirent, (ino, cookie, d_type, name, _)) in read.iter().zip(&entries) {
                prop_assert_eq!(dirent.ino(), *ino);
                prop_assert_eq!(dirent.cookie(), *cookie);
                prop_assert_eq!(dirent.file_type(), RawFileType::from_d_type(*d_type));
                prop_assert_eq!(dirent.name().to_bytes(), &name[..]);
            }
        }

        #[test]
        fn any_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..4096)) {
            // Every record takes at least 24 bytes, which limits the number of records.
            prop_assert!(Dirents::new(&bytes).count() <= bytes.len() / 24 + 1);
        }
    }
}
