//! Names of an open directory by `getdents64`, as many at a time as its file system rewards.

use crate::filesystem;
use crate::raw_batch::RawBatch;
use ringwalk_sys::DirectoryFd;
use rustix::io::{Errno, retry_on_intr};

/// Bytes asked for in one `getdents64` of a local file system. It is what glibc uses and what XFS sizes its readahead
/// for; 64 KiB and 128 KiB were no faster on ext4 here, as few directories fill even this.
const LOCAL_BUFFER: usize = 32 * 1024;

/// A buffer is no smaller than this. Any record of a local file system fits into 280 bytes.
const LEAST_BUFFER: usize = 1024;

/// Nor larger: nothing rewards it, and every worker has one.
const LARGEST_BUFFER: usize = 64 * 1024 * 1024;

/// No record is longer: its length has 16 bits.
const LONGEST_RECORD: usize = u16::MAX as usize;

/// A read that brings fewer bytes than this says little about what a larger buffer would do.
const TELLING_READ: usize = 2048;

pub(crate) struct NameReader {
    /// Bytes to read into; grows when a file system is met that rewards it.
    buffer_size: usize,
    /// The size has been given and is not to be changed.
    fixed: bool,
    /// Read directories to their end in one batch.
    whole: bool,
}

impl NameReader {
    /// With a size that is given in bytes, or one that is adapted to what is read.
    pub(crate) fn new(buffer_size: Option<usize>, whole: bool) -> Self {
        Self {
            buffer_size: buffer_size
                .unwrap_or(LOCAL_BUFFER)
                .clamp(LEAST_BUFFER, LARGEST_BUFFER),
            fixed: buffer_size.is_some(),
            whole,
        }
    }

    /// Whether directories are read to their end in one batch from now on.
    pub(crate) fn read_whole(&mut self, whole: bool) {
        self.whole = whole;
    }

    pub(crate) fn buffer_size(&self) -> usize {
        self.buffer_size
    }

    /// Reads on in a directory, behind what is in the batch; true at its end. `telling`: its file system is asked about at once, as this
    /// directory is large or stands for others. What was read before an error is in the batch.
    pub(crate) fn read(
        &mut self,
        fd: &DirectoryFd,
        batch: &mut RawBatch,
        telling: bool,
    ) -> Result<bool, Errno> {
        let filled = self.fill(fd, batch, telling);
        // Bytes that are no records are an error of the file system.
        batch.records.index().map_err(|_| Errno::IO)?;
        filled
    }

    /// Reads until the buffer is full or the directory ends; true at the end.
    ///
    /// The call that finds nothing more is made into the rest of the buffer, so a directory that fits is one batch
    /// and is known to be read to its end without another round through the scheduler.
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

    /// A call with less room than this is not made: the batch is full. A local file system gives what fits; a remote one
    /// asks its server for as much as there is room for, so it is to have the whole of what it rewards.
    fn least_room(&self) -> usize {
        if self.buffer_size > LOCAL_BUFFER && !self.fixed {
            self.buffer_size / 2
        } else {
            self.buffer_size / 8
        }
    }

    /// Makes room as the file system of `fd` rewards it.
    fn adapt(&mut self, fd: &DirectoryFd, batch: &mut RawBatch) {
        let rewarded = filesystem::rewarded_buffer(fd).unwrap_or(LOCAL_BUFFER);
        if rewarded > self.buffer_size {
            self.buffer_size = rewarded;
            batch.records.reserve(rewarded);
        }
    }
}
