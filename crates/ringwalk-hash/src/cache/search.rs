//! A search in both sections.

use super::HashCache;
use super::appended::Reader;
use super::record::{FileSystem, Record};
use super::sorted::Window;
use std::cmp::Ordering;
use std::io;

/// A search for files in their order, in both sections.
pub(super) struct Search<'c> {
    cache: &'c HashCache,
    pub(super) window: Window<'c>,
    reader: Reader<'c>,
    /// The appended records of the file system, from the one that is next.
    files: &'c [(u64, u32)],
    file_system: Option<FileSystem>,
}

impl<'c> Search<'c> {
    pub(super) fn new(cache: &'c HashCache) -> Self {
        let store = &cache.store;
        Self {
            cache,
            window: Window::new(&cache.sorted, &store.file),
            reader: Reader::new(&store.file, store.appended),
            files: &[],
            file_system: None,
        }
    }

    /// Returns the newest record of a file. Files must be sought in their order.
    pub(super) fn find(&mut self, file_system: FileSystem, ino: u64) -> io::Result<Option<Record>> {
        let Some(number) = self.appended(file_system, ino) else {
            return self.window.find(file_system, ino);
        };
        self.reader.read(number, (file_system, ino))
    }

    /// Returns the number of the appended record of a file.
    fn appended(&mut self, file_system: FileSystem, ino: u64) -> Option<u32> {
        if self.file_system != Some(file_system) {
            self.file_system = Some(file_system);
            let files = self.cache.index.files.get(&file_system);
            self.files = files.map_or(&[], Vec::as_slice);
            // Few files can be sought in many records.
            let from = self.files.partition_point(|(other, _)| *other < ino);
            self.files = &self.files[from..];
        }
        while let Some(((other, number), rest)) = self.files.split_first() {
            match other.cmp(&ino) {
                Ordering::Less => self.files = rest,
                Ordering::Equal => return Some(*number),
                Ordering::Greater => return None,
            }
        }
        None
    }
}
