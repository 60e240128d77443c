//! The source that works everywhere: `openat` and `getdents64`, one directory at a time.

use super::{Job, Pulled, Source, Step};
use crate::descriptor::open_directory;
use crate::dir::Origin;
use crate::error::{Failure, Operation};
use crate::filesystem;
use crate::raw_batch::RawBatch;
use ringwalk_sys::DirectoryFd;
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::AsFd;
use std::sync::Arc;

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

pub(crate) struct SyscallSource<S> {
    job: Option<Job<S>>,
    /// Bytes to read into; grows when a file system is met that rewards it.
    buffer_size: usize,
    /// The size has been given and is not to be changed.
    fixed: bool,
    /// Read directories to their end in one batch.
    whole: bool,
}

impl<S> SyscallSource<S> {
    pub(crate) fn new(buffer_size: Option<usize>, whole: bool) -> Self {
        Self {
            job: None,
            buffer_size: buffer_size
                .unwrap_or(LOCAL_BUFFER)
                .clamp(LEAST_BUFFER, LARGEST_BUFFER),
            fixed: buffer_size.is_some(),
            whole,
        }
    }

    /// Does a job, into an empty batch.
    pub(super) fn open_and_read(&mut self, job: Job<S>, batch: &mut RawBatch) -> Pulled<S> {
        match open_job(&job) {
            Ok(fd) => self.read_on(job, fd, batch),
            Err(failure) => Pulled::failed(job, failure),
        }
    }

    /// Reads on in a directory, behind what is in the batch.
    pub(super) fn read_on(
        &mut self,
        job: Job<S>,
        fd: Arc<DirectoryFd>,
        batch: &mut RawBatch,
    ) -> Pulled<S> {
        let read = self.read(&fd, &job, batch);
        // Bytes that are no records are an error of the file system.
        let indexed = batch.records.index();
        let indexed = indexed.map_err(|_| read_failure(Errno::IO));
        Pulled {
            job,
            fd: Some(fd),
            end: read == Ok(true),
            metadata: false,
            failure: indexed.err().or(read.err()),
        }
    }

    /// Reads until the buffer is full or the directory ends; true at the end.
    ///
    /// The call that finds nothing more is made into the rest of the buffer, so a directory that fits is one batch
    /// and is known to be read to its end without another round through the scheduler.
    fn read(
        &mut self,
        fd: &DirectoryFd,
        job: &Job<S>,
        batch: &mut RawBatch,
    ) -> Result<bool, Failure> {
        batch.records.reserve(self.buffer_size);
        let mut asked = self.fixed;
        // A root tells of most of its tree; a directory that another worker has begun is a large one.
        if !asked && (job.dir.depth() == 0 || matches!(job.step, Step::Read(_))) {
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
                Err(errno) => return Err(read_failure(errno)),
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

/// Opens the directory of a job, or takes the one that is open.
pub(super) fn open_job<S>(job: &Job<S>) -> Result<Arc<DirectoryFd>, Failure> {
    let at = match &job.step {
        Step::Read(fd) => return Ok(Arc::clone(fd)),
        Step::Open(at) => at,
    };
    let (name, follow) = match &job.dir.origin {
        Origin::Entry { follow } | Origin::RootPath { follow } => (job.dir.c_name(), *follow),
        // Opened anew, so that the position of the given descriptor stays.
        Origin::RootFd(_) => (c".", false),
    };
    open_directory(at.as_fd(), name, follow).map_err(|errno| Failure {
        operation: Operation::Open,
        errno,
    })
}

pub(super) fn read_failure(errno: Errno) -> Failure {
    Failure {
        operation: Operation::Read,
        errno,
    }
}

impl<S: Send + Sync> Source<S> for SyscallSource<S> {
    fn capacity(&self) -> usize {
        1
    }

    fn push(&mut self, job: Job<S>) {
        debug_assert!(self.job.is_none());
        self.job = Some(job);
    }

    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>> {
        let job = self.job.take()?;
        batch.clear();
        Some(self.open_and_read(job, batch))
    }

    fn buffer_size(&self) -> usize {
        self.buffer_size
    }
}
