//! Reads the names of an open directory by `getdents64`, with a buffer that suits its file system.

use crate::sources::raw_batch::RawBatch;
use crate::system::filesystem;
use ringwalk_sys::DirectoryFd;
use rustix::io::{Errno, retry_on_intr};

/// Bytes asked for in one `getdents64` of a local file system. glibc uses this size, and XFS sizes
/// its readahead for it. On ext4, 64 KiB and 128 KiB were measured to be no faster, as few
/// directories fill even this.
const LOCAL_BUFFER: usize = 32 * 1024;

/// The smallest buffer. Any record of a local file system fits into 280 bytes.
const LEAST_BUFFER: usize = 1024;

/// The largest buffer. No file system is faster with more, and every worker has a buffer.
const LARGEST_BUFFER: usize = 64 * 1024 * 1024;

/// Length of the longest record: the length field has 16 bits.
const LONGEST_RECORD: usize = u16::MAX as usize;

/// A read of fewer bytes does not show whether a larger buffer would help.
const TELLING_READ: usize = 2048;

pub(crate) struct NameReader {
    /// Bytes of the buffer. The buffer grows at the first file system that is faster with more.
    buffer_size: usize,
    /// True if the user has given the size, so that it does not change.
    fixed: bool,
    /// True if directories are read to their end in one batch.
    whole: bool,
}

impl NameReader {
    /// Creates a reader with a buffer of this size, or one that adapts to the file system.
    pub(crate) fn new(buffer_size: Option<usize>, whole: bool) -> Self {
        Self {
            buffer_size: buffer_size
                .unwrap_or(LOCAL_BUFFER)
                .clamp(LEAST_BUFFER, LARGEST_BUFFER),
            fixed: buffer_size.is_some(),
            whole,
        }
    }

    /// Sets whether directories are read to their end in one batch.
    pub(crate) fn read_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    pub(crate) fn buffer_size(&self) -> usize {
        self.buffer_size
    }

    /// Appends the next names of a directory to the batch. Returns true at its end. If the last
    /// argument is true, the reader asks for the type of the file system at once, as this directory
    /// is large or stands for others. After an error the batch holds the names that were read
    /// before.
    pub(crate) fn read(
        &mut self,
        fd: &DirectoryFd,
        batch: &mut RawBatch,
        telling: bool,
    ) -> Result<bool, Errno> {
        let filled = self.fill(fd, batch, telling);
        // The file system has returned bytes that are not records.
        batch.records.index().map_err(|_| Errno::IO)?;
        filled
    }

    /// Reads until the buffer is full or the directory ends. Returns true at the end.
    ///
    /// The last call, which returns nothing, uses the rest of the buffer. So a directory that fits
    /// is one batch, and the scheduler need not come back to find its end.
    fn fill(
        &mut self,
        fd: &DirectoryFd,
        batch: &mut RawBatch,
        telling: bool,
    ) -> Result<bool, Errno> {
        batch.records.reserve(self.buffer_size);
        let mut asked = self.fixed;
        if !asked && telling {
            asked = true;
            self.adapt(fd, batch);
        }
        let mut filled = 0;
        loop {
            let read = match retry_on_intr(|| batch.records.fill(fd)) {
                Ok(read) => read,
                // A name that does not fit into the rest of the buffer comes with the next batch,
                Err(Errno::INVAL) if filled > 0 => {
                    if !self.whole || batch.records.room_left() > LONGEST_RECORD {
                        return Ok(false);
                    }
                    // or, where there is to be one batch only, into a larger buffer.
                    batch.records.reserve(2 * batch.records.room());
                    continue;
                }
                Err(errno) => return Err(errno),
            };
            if read == 0 {
                return Ok(true);
            }
            filled += read;
            if !asked && read >= TELLING_READ {
                asked = true;
                self.adapt(fd, batch);
            }
            if batch.records.room_left() < self.least_room() {
                if !self.whole {
                    return Ok(false);
                }
                batch.records.reserve(2 * batch.records.room());
            }
        }
    }

    /// Returns the least room for another call; with less the batch is full. A local file system
    /// returns what fits. A remote one asks its server for as much as there is room for, so each
    /// call gets at least half of the large buffer.
    fn least_room(&self) -> usize {
        if self.buffer_size > LOCAL_BUFFER && !self.fixed {
            self.buffer_size / 2
        } else {
            self.buffer_size / 8
        }
    }

    /// Enlarges the buffer if the file system of `fd` is faster with more.
    fn adapt(&mut self, fd: &DirectoryFd, batch: &mut RawBatch) {
        let rewarded = filesystem::rewarded_buffer(fd).unwrap_or(LOCAL_BUFFER);
        if rewarded > self.buffer_size {
            self.buffer_size = rewarded;
            batch.records.reserve(rewarded);
        }
    }
}
