//! A buffer of directory records with an index: what one or more calls of `getdents64` or READDIRPLUS brought, each entry
//! found again by its number.
//!
//! The index is 8 bytes an entry: everything but the type stays in the record, and who does not ask for a name does not
//! pay for finding its end. Both kinds of records begin with inode number and cookie, so only the place of the name is in the index.

use crate::dirent::{ALIGN, DirentError, Dirents, HEADER, RawFileType, name_from};
use crate::getdents::getdents64;
use crate::readdirplus::{PlusEntries, PlusEntry, PlusLayout};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::AsFd;

/// Where an entry lies in the buffer, and its type.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Offset of the record in bytes.
    at: u32,
    /// Bytes of the record before the name.
    name: u8,
    file_type: RawFileType,
}

/// Before the name of a `getdents64` record.
const BEFORE_NAME: u8 = 19;

const _: () = assert!(size_of::<Slot>() == 8 && BEFORE_NAME as usize == HEADER);

/// Directory records in a buffer that is used again and again, and where each entry is.
#[derive(Debug, Default)]
pub struct Records {
    /// The room there is; its first `filled` bytes hold records.
    bytes: Vec<u8>,
    filled: usize,
    /// How many of the filled bytes have been indexed.
    indexed: usize,
    /// The `at` of each is a multiple of `ALIGN`, and the record there ends within the filled bytes.
    slots: Vec<Slot>,
    types: u16,
}

impl Records {
    /// Forgets all entries, and keeps the room.
    pub fn clear(&mut self) {
        self.filled = 0;
        self.indexed = 0;
        self.slots.clear();
        self.types = 0;
    }

    /// Makes room for at least `bytes` in all.
    pub fn reserve(&mut self, bytes: usize) {
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes, 0);
        }
    }

    /// The room in all, in bytes.
    pub fn room(&self) -> usize {
        self.bytes.len()
    }

    /// The room that is left, in bytes.
    pub fn room_left(&self) -> usize {
        self.bytes.len() - self.filled
    }

    /// Reads the next records of the directory `fd` into the room that is left, with one `getdents64`; returns how many
    /// bytes it brought, 0 at the end of the directory.
    ///
    /// # Errors
    ///
    /// Those of [`getdents64`].
    pub fn fill(&mut self, fd: impl AsFd) -> Result<usize, Errno> {
        self.fill_with(|room| getdents64(fd, room))
    }

    /// Has `read` fill the room that is left, and tell how many bytes it has put there.
    ///
    /// # Errors
    ///
    /// Those of `read`; then nothing is filled.
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

    /// Takes the buffer away, to be filled elsewhere behind the bytes that are returned with it. Until it is [given
    /// back](Self::give_back) entries cannot be looked at.
    pub fn lend(&mut self) -> (Vec<u8>, usize) {
        (std::mem::take(&mut self.bytes), self.filled)
    }

    /// Takes the buffer back, with so many bytes more of records.
    ///
    /// # Panics
    ///
    /// If it is not as long as that.
    pub fn give_back(&mut self, bytes: Vec<u8>, more: usize) {
        assert!(self.filled + more <= bytes.len());
        self.bytes = bytes;
        self.filled += more;
    }

    /// Changes the buffer for `bytes`, of which the first `filled` hold records that are not indexed yet. All entries are forgotten.
    ///
    /// # Panics
    ///
    /// If `bytes` is not as long as that.
    pub fn swap_buffer(&mut self, bytes: &mut Vec<u8>, filled: usize) {
        assert!(filled <= bytes.len());
        self.clear();
        std::mem::swap(&mut self.bytes, bytes);
        self.filled = filled;
    }

    /// Finds the entries in what has been filled since the last time. `.` and `..` are left out.
    ///
    /// # Errors
    ///
    /// For bytes that are no records; the entries before them are kept, what follows is forgotten.
    pub fn index(&mut self) -> Result<(), DirentError> {
        let mut dirents = Dirents::new(&self.bytes[self.indexed..self.filled]);
        loop {
            let at = self.indexed + dirents.offset();
            match dirents.next() {
                None => {
                    self.indexed = self.filled;
                    return Ok(());
                }
                Some(Ok(dirent)) if dirent.is_dot() => {}
                Some(Ok(dirent)) => {
                    let file_type = dirent.file_type();
                    self.types |= 1 << file_type as u8;
                    self.slots.push(Slot {
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

    /// As [`index`](Self::index), for records of READDIRPLUS. `each` is given every entry, in order, and tells its type.
    ///
    /// # Errors
    ///
    /// As of [`index`](Self::index).
    #[inline]
    pub fn index_plus(
        &mut self,
        layout: &PlusLayout,
        mut each: impl FnMut(&PlusEntry<'_>) -> RawFileType,
    ) -> Result<(), DirentError> {
        let mut entries = PlusEntries::new(&self.bytes[self.indexed..self.filled], layout);
        loop {
            let at = self.indexed + entries.offset();
            match entries.next() {
                None => {
                    self.indexed = self.filled;
                    return Ok(());
                }
                Some(Ok(entry)) if entry.is_dot() => {}
                Some(Ok(entry)) => {
                    let place = (u32::try_from(at), u8::try_from(entry.name_offset()));
                    let (Ok(at), Ok(name)) = place else {
                        return Err(DirentError::BadLength);
                    };
                    let file_type = each(&entry);
                    self.types |= 1 << file_type as u8;
                    self.slots.push(Slot {
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

    /// Adds an entry with this name, which has no NUL in it, that `getdents64` was not asked for.
    ///
    /// # Panics
    ///
    /// If all names together exceed 4 GiB.
    #[inline]
    pub fn push_bytes(&mut self, name: &[u8], file_type: RawFileType, ino: u64) {
        let at = self.filled;
        let end = (at + HEADER + name.len() + 1).next_multiple_of(ALIGN);
        if self.bytes.len() < end {
            self.bytes.resize(end.next_power_of_two(), 0);
        }
        let record = &mut self.bytes[at..end];
        record[..8].copy_from_slice(&ino.to_ne_bytes());
        record[8..HEADER].fill(0);
        record[HEADER..HEADER + name.len()].copy_from_slice(name);
        record[HEADER + name.len()..].fill(0);
        self.filled = end;
        self.indexed = end;
        self.types |= 1 << file_type as u8;
        self.slots.push(Slot {
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
        self.slots.push(Slot {
            at,
            name: BEFORE_NAME,
            file_type,
        });
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The name of an entry: any bytes except `/` and NUL.
    ///
    /// # Panics
    ///
    /// Like the others below, if there are not that many entries.
    #[inline]
    pub fn name(&self, index: usize) -> &CStr {
        self.name_at(self.slots[index])
    }

    #[inline]
    fn name_at(&self, slot: Slot) -> &CStr {
        let (words, _) = self.bytes[slot.at as usize..self.filled].as_chunks();
        name_from(words, usize::from(slot.name)).unwrap_or_default()
    }

    /// The type of an entry.
    #[inline]
    pub fn file_type(&self, index: usize) -> RawFileType {
        self.slots[index].file_type
    }

    /// Puts right the type of an entry.
    pub fn set_file_type(&mut self, index: usize, file_type: RawFileType) {
        self.slots[index].file_type = file_type;
        self.types |= 1 << file_type as u8;
    }

    /// Whether some entry may have this type: false is certain.
    #[inline]
    pub fn has_type(&self, file_type: RawFileType) -> bool {
        self.types & (1 << file_type as u8) != 0
    }

    /// The inode number of an entry (`d_ino`).
    pub fn ino(&self, index: usize) -> u64 {
        u64::from_ne_bytes(self.word(index, 0))
    }

    /// The cookie of the entry after this one (`d_off`).
    pub fn cookie(&self, index: usize) -> i64 {
        i64::from_ne_bytes(self.word(index, 8))
    }

    fn word(&self, index: usize, offset: usize) -> [u8; 8] {
        let at = self.slots[index].at as usize + offset;
        let word = self.bytes[at..].first_chunk::<8>();
        *word.expect("a record has a header")
    }

    /// Puts the entries into the order of the bytes of their names.
    pub fn sort_by_name(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.sort_unstable_by(|a, b| self.name_at(*a).cmp(self.name_at(*b)));
        self.slots = slots;
    }

    /// Puts the entries into the order of their inode numbers.
    pub fn sort_by_ino(&mut self) {
        let numbered = self.slots.iter().enumerate();
        let mut order: Vec<_> = numbered.map(|(i, slot)| (self.ino(i), *slot)).collect();
        order.sort_by_key(|(ino, _)| *ino);
        self.slots.clear();
        self.slots.extend(order.into_iter().map(|(_, slot)| slot));
    }

    /// Puts the entry that is now at `order[n]` into place `n`.
    ///
    /// # Panics
    ///
    /// If `order` names entries that there are not.
    pub fn arrange(&mut self, order: &[u32]) {
        let slots = order.iter().map(|&index| self.slots[index as usize]);
        self.slots = slots.collect();
    }

    /// The same entries in a buffer that is no larger than they need.
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
}
