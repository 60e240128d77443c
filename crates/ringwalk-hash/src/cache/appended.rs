//! The appended section: an index of its records, and writing more of them.

use super::record::{APPENDED, FileSystem, Record};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

/// Bytes of records that are read or written at once, about 64 KiB.
const BUFFER: usize = 655 * APPENDED;

/// Records that are read at once where one is needed: 4 KB. A million look-ups in about the order
/// of the records take 0.3 s, with 1 KB 0.7 s. In random order they take 3 s, with 1 KB 2.5 s.
const AT_ONCE: usize = 40;

/// The longest time for which records stay in memory while more of them come.
const MOST_TIME: Duration = Duration::from_secs(1);

/// The most bytes of files whose hashes are in memory only. To hash so many again takes some
/// milliseconds, and the write of a record takes two microseconds.
const MOST_HASHED: u64 = 16 << 20;

/// Where the newest record of each file is. An entry has 16 bytes.
#[derive(Debug, Default)]
pub(super) struct Index {
    /// Inode numbers and the numbers of records, sorted, for each file system.
    pub(super) files: BTreeMap<FileSystem, Vec<(u64, u32)>>,
    /// Number of records, damaged ones included.
    pub(super) records: u32,
    /// True if a record is damaged.
    pub(super) is_damaged: bool,
}

impl Index {
    /// Reads the section, which begins at `start`. An incomplete record at the end is left out.
    pub(super) fn read(file: &File, start: u64) -> io::Result<Self> {
        let mut index = Self::default();
        let mut buffer = vec![0; BUFFER];
        loop {
            let at = index.end(start);
            let length = read_up_to(file, &mut buffer, at)?;
            if length < APPENDED {
                break;
            }
            for bytes in buffer[..length].chunks_exact(APPENDED) {
                match Record::appended(bytes) {
                    Some((file_system, record)) => {
                        let files = index.files.entry(file_system).or_default();
                        files.push((record.version.ino, index.records));
                    }
                    None => index.is_damaged = true,
                }
                // So many records have 400 GB. Later ones are not found.
                let Some(next) = index.records.checked_add(1) else {
                    return Ok(index.sorted());
                };
                index.records = next;
            }
        }
        Ok(index.sorted())
    }

    /// Keeps only the last record of each file.
    fn sorted(mut self) -> Self {
        for files in self.files.values_mut() {
            files.sort_unstable();
            files.dedup_by(|later, kept| {
                let is_same = later.0 == kept.0;
                if is_same {
                    kept.1 = later.1;
                }
                is_same
            });
        }
        self
    }

    /// Returns where the next record belongs.
    pub(super) fn end(&self, start: u64) -> u64 {
        start.saturating_add(u64::from(self.records) * APPENDED as u64)
    }
}

/// Reads single records.
pub(super) struct Reader<'f> {
    file: &'f File,
    start: u64,
    /// Some records, since files are hashed in about the order in which they are sought.
    bytes: Vec<u8>,
    /// Number of the first of them.
    first: u32,
}

impl<'f> Reader<'f> {
    pub(super) fn new(file: &'f File, start: u64) -> Self {
        Self {
            file,
            start,
            bytes: Vec::new(),
            first: 0,
        }
    }

    /// Returns the record with this number, if it is of this file. It is not, if it has been
    /// damaged since the index was made.
    pub(super) fn read(
        &mut self,
        number: u32,
        key: (FileSystem, u64),
    ) -> io::Result<Option<Record>> {
        let after = number.checked_sub(self.first);
        let at = after.map_or(usize::MAX, |after| after as usize * APPENDED);
        let bytes = match self.bytes.get(at..at.saturating_add(APPENDED)) {
            Some(bytes) => bytes,
            None => self.load(number)?,
        };
        let found = Record::appended(bytes);
        let found = found.filter(|found| (found.0, found.1.version.ino) == key);
        Ok(found.map(|(_, record)| record))
    }

    /// Reads a record and some that follow. Returns the bytes of the first, fewer at the end of the
    /// file.
    fn load(&mut self, number: u32) -> io::Result<&[u8]> {
        // None, should the read fail.
        self.bytes.clear();
        let mut bytes = [0; AT_ONCE * APPENDED];
        let at = self
            .start
            .saturating_add(u64::from(number) * APPENDED as u64);
        let length = read_up_to(self.file, &mut bytes, at)?;
        self.bytes.extend_from_slice(&bytes[..length]);
        self.first = number;
        Ok(&self.bytes[..APPENDED.min(length)])
    }
}

/// Fills the buffer, unless the file ends before.
fn read_up_to(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], at.saturating_add(length as u64)) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

/// Writes records at the end of the section.
#[derive(Debug)]
pub(super) struct Appender {
    buffer: Vec<u8>,
    /// Where the buffer belongs in the file.
    at: u64,
    /// Bytes of the files whose hashes are in the buffer.
    hashed: u64,
    written: Instant,
    /// Number of records added.
    pub(super) records: u64,
    /// The first error. Nothing is written after it.
    error: Option<io::Error>,
}

impl Appender {
    pub(super) fn new(at: u64) -> Self {
        Self {
            buffer: Vec::new(),
            at,
            hashed: 0,
            written: Instant::now(),
            records: 0,
            error: None,
        }
    }

    pub(super) fn push(
        &mut self,
        file: &File,
        file_system: FileSystem,
        record: &Record,
        size: u64,
    ) {
        if self.error.is_some() {
            return;
        }
        record.append(file_system, &mut self.buffer);
        self.records += 1;
        self.hashed = self.hashed.saturating_add(size);
        if self.buffer.len() >= BUFFER
            || self.hashed >= MOST_HASHED
            || self.written.elapsed() >= MOST_TIME
        {
            self.flush(file);
        }
    }

    /// Writes out what is in memory.
    pub(super) fn flush(&mut self, file: &File) {
        self.written = Instant::now();
        if self.buffer.is_empty() || self.error.is_some() {
            return;
        }
        if let Err(error) = file.write_all_at(&self.buffer, self.at) {
            self.error = Some(error);
        }
        self.at = self.at.saturating_add(self.buffer.len() as u64);
        self.hashed = 0;
        self.buffer.clear();
    }

    /// Takes the last write for older.
    #[cfg(test)]
    pub(super) fn grow_old(&mut self, by: Duration) {
        self.written -= by;
    }

    /// Returns the error, if one occurred.
    pub(super) fn take_error(&mut self) -> Option<io::Error> {
        self.error.take()
    }
}
