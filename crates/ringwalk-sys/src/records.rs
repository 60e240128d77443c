//! A buffer of directory records with an index. One or more calls of `getdents64` or READDIRPLUS
//! fill it, and each entry has a number.
//!
//! The index takes 8 bytes an entry. Everything but the type stays in the record, and a caller that
//! does not ask for a name does not pay for finding its end. Both kinds of records begin with inode
//! number and cookie, so the index holds only the offset of the name.

use crate::dirent::{ALIGN, DirentError, Dirents, HEADER, RawFileType, name_from};
use crate::getdents::getdents64;
use crate::readdirplus::{PlusEntries, PlusEntry, PlusLayout};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::AsFd;

/// Where an entry lies in the buffer, and its type.
#[derive(Clone, Copy, Debug)]
struct RecordSlot {
    /// Offset of the record in bytes.
    at: u32,
    /// Bytes of the record before the name.
    name: u8,
    file_type: RawFileType,
}

/// Bytes of a record before the cookie.
const COOKIE: usize = 8;

/// Bytes of a `getdents64` record before the name.
const BEFORE_NAME: u8 = 19;

const _: () = assert!(size_of::<RecordSlot>() == 8 && BEFORE_NAME as usize == HEADER);

/// Directory records in a reusable buffer, with an index of the entries.
#[derive(Debug, Default)]
pub struct Records {
    /// The buffer. Its first `filled` bytes hold records.
    bytes: Vec<u8>,
    filled: usize,
    /// How many of the filled bytes have been indexed.
    indexed: usize,
    /// One slot an entry. Each `at` is a multiple of `ALIGN`, and the record there ends within the
    /// filled bytes.
    slots: Vec<RecordSlot>,
    types: u16,
}

impl Records {
    /// Removes all entries and keeps the buffer.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.indexed = 0;
        self.slots.clear();
        self.types = 0;
    }

    /// Grows the buffer to at least `bytes` in all.
    pub fn reserve(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }

    /// Returns the size of the buffer in bytes.
    pub fn room(&self) -> usize {
        self.bytes.len()
    }

    /// Returns the number of free bytes in the buffer.
    pub fn room_left(&self) -> usize {
        self.bytes.len() - self.filled
    }

    /// Reads the next records of the directory `fd` into the free part of the buffer, with one
    /// `getdents64`. Returns the number of bytes read, 0 at the end of the directory.
    ///
    /// # Errors
    ///
    /// The errors of [`getdents64`].
    pub fn fill(&mut self, fd: impl AsFd) -> Result<usize, Errno> {
        self.fill_with(|room| getdents64(fd, room))
    }

    /// Lets `read` fill the free part of the buffer, and return the number of bytes that it wrote.
    ///
    /// # Errors
    ///
    /// The errors of `read`; the buffer then stays as it was.
    #[inline]
    pub fn fill_with<E>(
        &mut self,
        read: impl FnOnce(&mut [u8]) -> Result<usize, E>,
    ) -> Result<usize, E> {
        let room = &mut self.bytes[self.filled..];
        let most = room.len();
        let read = read(room)?.min(most);
        self.filled += read;
        Ok(read)
    }

    /// Moves the buffer out, to be filled elsewhere after the bytes whose number is returned with
    /// it. Until [`give_back`](Self::give_back) no entry can be read.
    pub fn lend(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.bytes), self.filled)
    }

    /// Puts the buffer back, with `more` bytes of new records.
    ///
    /// # Panics
    ///
    /// If the buffer is shorter than that.
    pub fn give_back(&mut self, bytes: Vec<u8>, more: usize) {
        assert!(self.filled + more <= bytes.len());
        self.bytes = bytes;
        self.filled += more;
    }

    /// Swaps the buffer for `bytes`, whose first `filled` bytes hold records that are not indexed
    /// yet. Removes all entries.
    ///
    /// # Panics
    ///
    /// If `bytes` is shorter than `filled`.
    pub fn swap_buffer(&mut self, bytes: &mut Vec<u8>, filled: usize) {
        assert!(filled <= bytes.len());
        self.clear();
        std::mem::swap(&mut self.bytes, bytes);
        self.filled = filled;
    }

    /// Indexes the records filled since the last call. Leaves out `.` and `..`.
    ///
    /// # Errors
    ///
    /// For bytes that are not records. The entries before them are kept, and the rest is removed.
    pub fn index(&mut self) -> Result<(), DirentError> {
        let mut begin = self.indexed;
        let mut dirents = Dirents::new(&self.bytes[begin..self.filled]);
        loop {
            let at = begin + dirents.offset();
            match dirents.next() {
                None => {
                    self.indexed = self.filled;
                    return Ok(());
                }
                Some(Ok(dirent)) if dirent.is_dot() => {
                    let cookie = dirent.cookie();
                    begin += dirents.offset();
                    self.leave_out(cookie);
                    dirents = Dirents::new(&self.bytes[begin..self.filled]);
                }
                Some(Ok(dirent)) => {
                    let file_type = dirent.file_type();
                    self.types |= 1 << file_type as u8;
                    self.slots.push(RecordSlot {
                        at: u32::try_from(at).map_err(|_| DirentError::BadLength)?,
                        name: BEFORE_NAME,
                        file_type,
                    });
                }
                Some(Err(error)) => {
                    self.filled = at;
                    self.indexed = at;
                    return Err(error);
                }
            }
        }
    }

    /// Indexes records of READDIRPLUS, as [`index`](Self::index) does. Calls `each` for every
    /// entry, in order, and takes the type from it.
    ///
    /// # Errors
    ///
    /// As for [`index`](Self::index).
    #[inline]
    pub fn index_plus(
        &mut self,
        layout: &PlusLayout,
        mut each: impl FnMut(&PlusEntry<'_>) -> RawFileType,
    ) -> Result<(), DirentError> {
        let mut begin = self.indexed;
        let mut entries = PlusEntries::new(&self.bytes[begin..self.filled], layout);
        loop {
            let at = begin + entries.offset();
            match entries.next() {
                None => {
                    self.indexed = self.filled;
                    return Ok(());
                }
                Some(Ok(entry)) if entry.is_dot() => {
                    let cookie = entry.cookie();
                    begin += entries.offset();
                    self.leave_out(cookie);
                    entries = PlusEntries::new(&self.bytes[begin..self.filled], layout);
                }
                Some(Ok(entry)) => {
                    let place = (u32::try_from(at), u8::try_from(entry.name_offset()));
                    let (Ok(at), Ok(name)) = place else {
                        return Err(DirentError::BadLength);
                    };
                    let file_type = each(&entry);
                    self.types |= 1 << file_type as u8;
                    self.slots.push(RecordSlot {
                        at,
                        name,
                        file_type,
                    });
                }
                Some(Err(error)) => {
                    self.filled = at;
                    self.indexed = at;
                    return Err(error);
                }
            }
        }
    }

    /// Leaves out a record behind those that are indexed. The entry before it is then followed by
    /// the one behind it, which has this cookie. In directories of one block, ext4 lists `.` and
    /// `..` among others.
    fn leave_out(&mut self, cookie: i64) {
        if let Some(last) = self.slots.last() {
            let at = last.at as usize + COOKIE;
            self.bytes[at..at + 8].copy_from_slice(&cookie.to_ne_bytes());
        }
    }

    /// Adds an entry with this name, which contains no NUL and which `getdents64` did not return.
    ///
    /// # Panics
    ///
    /// If all names together exceed 4 GiB.
    #[inline]
    pub fn push_bytes(&mut self, name: &[u8], file_type: RawFileType, ino: u64) {
        self.push_entry(name, file_type, ino, 0);
    }

    /// Adds an entry as [`push_bytes`](Self::push_bytes) does, with a cookie.
    ///
    /// # Panics
    ///
    /// If all names together exceed 4 GiB.
    #[inline]
    pub fn push_entry(&mut self, name: &[u8], file_type: RawFileType, ino: u64, cookie: i64) {
        let at = self.filled;
        let end = (at + HEADER + name.len() + 1).next_multiple_of(ALIGN);
        if self.bytes.len() < end {
            self.bytes.resize(end.next_power_of_two(), 0);
        }
        let record = &mut self.bytes[at..end];
        record[..8].copy_from_slice(&ino.to_ne_bytes());
        record[8..16].copy_from_slice(&cookie.to_ne_bytes());
        record[16..HEADER].fill(0);
        record[HEADER..HEADER + name.len()].copy_from_slice(name);
        record[HEADER + name.len()..].fill(0);
        self.filled = end;
        self.indexed = end;
        self.types |= 1 << file_type as u8;
        self.slots.push(RecordSlot {
            at: u32::try_from(at).expect("names within 4 GiB"),
            name: BEFORE_NAME,
            file_type,
        });
    }

    /// Adds an entry that no directory was read for.
    ///
    /// # Panics
    ///
    /// If all names together exceed 4 GiB.
    pub fn push(&mut self, name: &CStr, file_type: RawFileType, ino: u64, cookie: i64) {
        let at = u32::try_from(self.filled).expect("names within 4 GiB");
        self.bytes.truncate(self.filled);
        self.bytes.extend_from_slice(&ino.to_ne_bytes());
        self.bytes.extend_from_slice(&cookie.to_ne_bytes());
        self.bytes.resize(self.filled + HEADER, 0);
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
        self.bytes
            .resize(self.bytes.len().next_multiple_of(ALIGN), 0);
        self.filled = self.bytes.len();
        self.indexed = self.filled;
        self.types |= 1 << file_type as u8;
        self.slots.push(RecordSlot {
            at,
            name: BEFORE_NAME,
            file_type,
        });
    }

    /// Returns the number of entries.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Returns whether there are no entries.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Returns the name of an entry: any bytes except `/` and NUL.
    ///
    /// # Panics
    ///
    /// This and the following functions panic if `index` is not less than the number of entries.
    #[inline]
    pub fn name(&self, index: usize) -> &CStr {
        self.name_at(self.slots[index])
    }

    #[inline]
    fn name_at(&self, slot: RecordSlot) -> &CStr {
        let (words, _) = self.bytes[slot.at as usize..self.filled].as_chunks();
        name_from(words, usize::from(slot.name)).unwrap_or_default()
    }

    /// Returns the type of an entry.
    #[inline]
    pub fn file_type(&self, index: usize) -> RawFileType {
        self.slots[index].file_type
    }

    /// Corrects the type of an entry.
    pub fn set_file_type(&mut self, index: usize, file_type: RawFileType) {
        self.slots[index].file_type = file_type;
        self.types |= 1 << file_type as u8;
    }

    /// Returns false if certainly no entry has this type.
    #[inline]
    pub fn has_type(&self, file_type: RawFileType) -> bool {
        self.types & (1 << file_type as u8) != 0
    }

    /// Returns the inode number of an entry (`d_ino`).
    pub fn ino(&self, index: usize) -> u64 {
        u64::from_ne_bytes(self.word(index, 0))
    }

    /// Returns the cookie of the entry after this one (`d_off`).
    pub fn cookie(&self, index: usize) -> i64 {
        i64::from_ne_bytes(self.word(index, COOKIE))
    }

    /// Returns where the record of an entry begins in the buffer, in bytes.
    pub fn offset(&self, index: usize) -> usize {
        self.slots[index].at as usize
    }

    fn word(&self, index: usize, offset: usize) -> [u8; 8] {
        let at = self.slots[index].at as usize + offset;
        let word = self.bytes[at..].first_chunk::<8>();
        *word.expect("a record has a header")
    }

    /// Sorts the entries by the bytes of their names.
    pub fn sort_by_name(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.sort_unstable_by(|a, b| self.name_at(*a).cmp(self.name_at(*b)));
        self.slots = slots;
    }

    /// Sorts the entries by their inode numbers.
    pub fn sort_by_ino(&mut self) {
        let numbered = self.slots.iter().enumerate();
        let mut order: Vec<_> = numbered.map(|(i, slot)| (self.ino(i), *slot)).collect();
        order.sort_by_key(|(ino, _)| *ino);
        self.slots.clear();
        self.slots.extend(order.into_iter().map(|(_, slot)| slot));
    }

    /// Moves the entry that is now at `order[n]` to index `n`.
    ///
    /// # Panics
    ///
    /// If `order` names an entry that does not exist.
    pub fn arrange(&mut self, order: &[u32]) {
        let slots = order.iter().map(|&index| self.slots[index as usize]);
        self.slots = slots.collect();
    }

    /// Returns a copy in a buffer that is no larger than needed.
    #[must_use]
    pub fn to_exact(&self) -> Records {
        Records {
            bytes: self.bytes[..self.filled].to_vec(),
            filled: self.filled,
            indexed: self.indexed,
            slots: self.slots.clone(),
            types: self.types,
        }
    }

    /// Moves the entries from `start` on into a buffer of their own.
    #[must_use]
    pub fn split_off(&mut self, start: usize) -> Records {
        let mut part = Records::default();
        for index in start..self.len() {
            let (ino, cookie) = (self.ino(index), self.cookie(index));
            part.push(self.name(index), self.file_type(index), ino, cookie);
        }
        self.slots.truncate(start);
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, open};
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::DirEntryExt;

    #[test]
    fn a_directory_in_many_calls_is_that_of_the_standard_library() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..200 {
            fs::write(
                dir.path().join(format!("{i:0width$}", width = 1 + i % 40)),
                b"",
            )
            .unwrap();
        }
        fs::create_dir(dir.path().join("dir")).unwrap();
        let expected: BTreeSet<_> = fs::read_dir(dir.path())
            .unwrap()
            .map(|entry| entry.unwrap())
            .map(|entry| (entry.file_name().into_encoded_bytes(), entry.ino()))
            .collect();
        let fd = open(
            dir.path(),
            OFlags::RDONLY | OFlags::DIRECTORY,
            Mode::empty(),
        )
        .unwrap();
        let mut records = Records::default();
        records.reserve(1024);
        while records.fill(&fd).unwrap() > 0 {
            records.index().unwrap();
            records.reserve(records.room() + 1024 - records.room_left());
        }
        let found: BTreeSet<_> = (0..records.len())
            .map(|index| (records.name(index).to_bytes().to_vec(), records.ino(index)))
            .collect();
        assert_eq!(found.len(), records.len());
        assert_eq!(found, expected);
        assert!(records.has_type(RawFileType::Directory));
        assert!(!records.has_type(RawFileType::Symlink));
        records.clear();
        assert!(records.is_empty() && records.room_left() == records.room());
    }

    #[test]
    fn inode_numbers_in_order() {
        let mut records = Records::default();
        for (ino, name) in [(30, c"a"), (7, c"b"), (12, c"c")] {
            records.push(name, RawFileType::Regular, ino, 0);
        }
        records.sort_by_ino();
        let found: Vec<_> = (0..3).map(|i| (records.name(i), records.ino(i))).collect();
        assert_eq!(found, [(c"b", 7), (c"c", 12), (c"a", 30)]);
    }

    #[test]
    fn what_is_pushed_sorted_and_split_stays_itself() {
        let mut records = Records::default();
        for (ino, name) in [(3, c"c"), (2, c"bb"), (1, c"aaa")] {
            records.push(name, RawFileType::Regular, ino, -5);
        }
        records.sort_by_name();
        let part = records.split_off(1);
        assert_eq!(
            (records.len(), records.name(0), records.ino(0)),
            (1, c"aaa", 1)
        );
        let names: Vec<_> = (0..2)
            .map(|i| (part.name(i), part.ino(i), part.cookie(i)))
            .collect();
        assert_eq!(names, [(c"bb", 2, -5), (c"c", 3, -5)]);
    }

    #[test]
    fn bytes_that_are_no_records_are_an_error_and_what_was_before_stays() {
        let mut records = Records::default();
        records.push(c"before", RawFileType::Regular, 1, 1);
        records.bytes.extend([0; 40]);
        records.filled += 40;
        assert_eq!(records.index(), Err(DirentError::BadLength));
        assert_eq!(records.len(), 1);
        assert_eq!(records.index(), Ok(()));
    }

    /// A record of `getdents64`.
    fn record(name: &[u8], cookie: i64) -> Vec<u8> {
        let length = (HEADER + name.len() + 1).next_multiple_of(ALIGN);
        let mut bytes = 7_u64.to_ne_bytes().to_vec();
        bytes.extend(cookie.to_ne_bytes());
        bytes.extend(u16::try_from(length).unwrap().to_ne_bytes());
        bytes.push(libc::DT_REG);
        bytes.extend(name);
        bytes.resize(length, 0);
        bytes
    }

    #[test]
    fn a_cookie_is_that_of_the_entry_that_follows() {
        let mut records = Records::default();
        records.reserve(1024);
        let listed = [
            (&b"."[..], 10),
            (b"a", 20),
            (b"..", 30),
            (b"b", 40),
            (b"c", 50),
            (b".", 60),
            (b"..", 70),
        ];
        for (name, cookie) in listed {
            let bytes = record(name, cookie);
            let filled = records.fill_with(|room| {
                room[..bytes.len()].copy_from_slice(&bytes);
                Ok::<_, ()>(bytes.len())
            });
            filled.unwrap();
        }
        records.index().unwrap();
        let found: Vec<_> = (0..records.len())
            .map(|index| (records.name(index), records.cookie(index)))
            .collect();
        assert_eq!(found, [(c"a", 30), (c"b", 40), (c"c", 70)]);
    }
}
