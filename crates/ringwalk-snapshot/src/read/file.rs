//! A file that several threads read at positions of their own.

use super::error::Reason;
use std::fs::File;
use std::io::ErrorKind;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicU64, Ordering};

/// An open file, with the length that it had when it was opened.
#[derive(Debug)]
pub(super) struct SharedFile {
    file: File,
    len: u64,
    /// Whether wrong checksums of its parts are no error.
    pub(super) ignores_checksums: bool,
    /// Bytes read so far.
    read: AtomicU64,
}

impl SharedFile {
    pub(super) fn new(file: File) -> Result<Self, Reason> {
        let metadata = file.metadata().map_err(Reason::Io)?;
        if !metadata.is_file() {
            return Err(Reason::NotASnapshot("it is no regular file".to_owned()));
        }
        Ok(Self {
            file,
            len: metadata.len(),
            ignores_checksums: false,
            read: AtomicU64::new(0),
        })
    }

    pub(super) fn file(&self) -> &File {
        &self.file
    }

    /// Returns the length in bytes.
    pub(super) fn len(&self) -> u64 {
        self.len
    }

    /// Returns the number of bytes that have been read.
    pub(super) fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Reads a range of bytes into a buffer, in place of its contents. The range must lie within
    /// the file, so that the buffer takes no more memory than the file has bytes.
    pub(super) fn read(&self, range: Range<u64>, buffer: &mut Vec<u8>) -> Result<(), Reason> {
        debug_assert!(range.start <= range.end && range.end <= self.len);
        let no_memory = || Reason::Io(ErrorKind::OutOfMemory.into());
        let length = usize::try_from(range.end - range.start).map_err(|_| no_memory())?;
        buffer.clear();
        buffer.try_reserve_exact(length).map_err(|_| no_memory())?;
        buffer.resize(length, 0);
        let read = self.file.read_exact_at(buffer, range.start);
        read.map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                Reason::Damaged("it was cut off while it was read".to_owned())
            }
            _ => Reason::Io(error),
        })?;
        self.read.fetch_add(length as u64, Ordering::Relaxed);
        Ok(())
    }
}
