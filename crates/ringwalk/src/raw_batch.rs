//! The buffer that a source fills: names of one directory, and metadata where it has been asked.
//!
//! Names lie in `bytes`, as directory records or in any other way, each ended by a NUL; `slots` says where. Metadata
//! lies beside the slots, at the same index. One worker uses one such buffer for its whole life.

use crate::error::{Failure, Operation};
use crate::metadata::Metadata;
use ringwalk_sys::{Dirents, RawFileType as FileType};
use rustix::io::Errno;
use std::ffi::CStr;

/// Where an entry lies in the buffer, and what its directory says of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) ino: u64,
    pub(crate) cookie: i64,
    pub(crate) name_at: usize,
    /// Without the NUL.
    pub(crate) name_length: u32,
    pub(crate) file_type: FileType,
    /// A symbolic link that the walk follows: type and metadata are the target's.
    pub(crate) followed: bool,
}

/// What is known of an entry's metadata.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Known {
    Nothing,
    Metadata(Metadata),
    Failed(Errno),
}

#[derive(Debug, Default)]
pub(crate) struct RawBatch {
    /// The room there is; its first `filled` bytes are in use.
    pub(crate) bytes: Vec<u8>,
    pub(crate) filled: usize,
    pub(crate) slots: Vec<Slot>,
    /// As long as `slots`, or empty while nothing is known of any entry.
    pub(crate) known: Vec<Known>,
    /// Types that entries have, or had before their metadata said otherwise: a bit each.
    types: u16,
    /// How many of them are failures.
    pub(crate) failed: usize,
}

impl RawBatch {
    pub(crate) fn clear(&mut self) {
        self.filled = 0;
        self.slots.clear();
        self.known.clear();
        self.failed = 0;
        self.types = 0;
    }

    /// Whether some entry may have this type. Most batches have no directory, and are done with sooner for it.
    pub(crate) fn has_type(&self, file_type: FileType) -> bool {
        self.types & (1 << file_type as u8) != 0
    }

    /// Notes that an entry has this type.
    pub(crate) fn add_type(&mut self, file_type: FileType) {
        self.types |= 1 << file_type as u8;
    }

    pub(crate) fn name(&self, slot: &Slot) -> &CStr {
        let start = slot.name_at;
        let end = start + slot.name_length as usize + 1;
        CStr::from_bytes_with_nul(&self.bytes[start..end]).unwrap_or_default()
    }

    /// Adds an entry that does not come from a directory record.
    ///
    /// # Panics
    ///
    /// If the name exceeds 4 GiB.
    pub(crate) fn push_name(&mut self, name: &CStr, file_type: FileType) {
        let name_at = self.filled;
        self.bytes.truncate(self.filled);
        self.bytes.extend_from_slice(name.to_bytes_with_nul());
        self.filled = self.bytes.len();
        self.add_type(file_type);
        self.slots.push(Slot {
            ino: 0,
            cookie: 0,
            name_at,
            name_length: u32::try_from(name.count_bytes()).expect("a name within 4 GiB"),
            file_type,
            followed: false,
        });
    }

    /// Finds the entries in the filled bytes, which are directory records, from byte `from` on. `.` and `..` are left
    /// out.
    ///
    /// # Errors
    ///
    /// `EIO` for bytes that are no records; the entries before them are kept.
    pub(crate) fn index_records(&mut self, from: usize) -> Result<(), Failure> {
        let mut dirents = Dirents::starting_at(&self.bytes[..self.filled], from);
        loop {
            let at = dirents.offset();
            match dirents.next() {
                None => return Ok(()),
                Some(Ok(dirent)) if dirent.is_dot() => {}
                Some(Ok(dirent)) => {
                    self.types |= 1 << dirent.file_type as u8;
                    self.slots.push(Slot {
                        ino: dirent.ino,
                        cookie: dirent.cookie,
                        name_at: at + Dirents::NAME_OFFSET,
                        name_length: u32::try_from(dirent.name.count_bytes())
                            .expect("a record is at most 64 KiB"),
                        file_type: dirent.file_type,
                        followed: false,
                    });
                }
                Some(Err(_)) => {
                    return Err(Failure {
                        operation: Operation::Read,
                        errno: Errno::IO,
                    });
                }
            }
        }
    }

    pub(crate) fn sort_by_name(&mut self) {
        let mut slots = std::mem::take(&mut self.slots);
        slots.sort_unstable_by(|a, b| self.name(a).cmp(self.name(b)));
        self.slots = slots;
    }

    /// Moves the entries from `start` on into a buffer of their own.
    pub(crate) fn split_off(&mut self, start: usize) -> RawBatch {
        let mut part = RawBatch::default();
        for slot in &self.slots[start..] {
            let name = self.name(slot);
            part.push_name(name, slot.file_type);
            if let Some(copy) = part.slots.last_mut() {
                copy.ino = slot.ino;
                copy.cookie = slot.cookie;
            }
        }
        self.slots.truncate(start);
        self.known.truncate(start);
        part
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_keeps_what_the_records_said() {
        let mut batch = RawBatch::default();
        for (i, name) in [c"c", c"bb", c"aaa"].into_iter().enumerate() {
            batch.push_name(name, FileType::Regular);
            batch.slots[i].ino = i as u64 + 1;
        }
        let part = batch.split_off(1);
        assert_eq!(batch.slots.len(), 1);
        let names: Vec<_> = part.slots.iter().map(|s| (part.name(s), s.ino)).collect();
        assert_eq!(names, [(c"bb", 2), (c"aaa", 3)]);
    }

    #[test]
    fn bytes_that_are_no_records_are_an_error() {
        let mut batch = RawBatch {
            bytes: vec![0; 40],
            filled: 40,
            ..RawBatch::default()
        };
        let failure = batch.index_records(0).unwrap_err();
        assert_eq!(failure.errno, Errno::IO);
    }
}
