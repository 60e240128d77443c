//! The source that works everywhere: `openat` and `getdents64`, one directory at a time.

use super::names::NameReader;
use super::{DirectoryJob, JobStep, Pulled, Source};
use crate::sources::raw_batch::RawBatch;
use crate::visit::error::{Failure, Operation};
use crate::walk::descriptors::open_directory;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

pub(crate) struct SyscallSource<S> {
    job: Option<DirectoryJob<S>>,
    /// True if each directory is one batch.
    whole: bool,
    names: NameReader,
}

impl<S> SyscallSource<S> {
    pub(crate) fn new(buffer_size: Option<usize>, whole: bool) -> Self {
        Self {
            job: None,
            whole,
            names: NameReader::new(buffer_size, whole),
        }
    }

    /// Runs a job, into an empty batch.
    pub(super) fn open_and_read(
        &mut self,
        job: DirectoryJob<S>,
        batch: &mut RawBatch,
    ) -> Pulled<S> {
        match open_job(&job) {
            Ok(fd) => self.read_on(job, fd, batch),
            Err(failure) => Pulled::failed(job, failure),
        }
    }

    /// Reads the next entries of a directory, and appends them to the batch.
    pub(super) fn read_on(
        &mut self,
        job: DirectoryJob<S>,
        fd: Arc<DirectoryFd>,
        batch: &mut RawBatch,
    ) -> Pulled<S> {
        // A root contains most of its tree; a directory that another worker has begun is large.
        let telling = job.dir.depth() == 0 || matches!(job.step, JobStep::Read(_));
        self.names.read_whole(self.whole || job.to_end);
        let read = self.names.read(&fd, batch, telling);
        Pulled {
            job,
            fd: Some(fd),
            end: read == Ok(true),
            metadata: false,
            failure: read.err().map(read_failure),
        }
    }
}

/// Opens the directory of a job, or returns the open one.
pub(super) fn open_job<S>(job: &DirectoryJob<S>) -> Result<Arc<DirectoryFd>, Failure> {
    let at = match &job.step {
        JobStep::Read(fd) => return Ok(Arc::clone(fd)),
        JobStep::Open(at) => at,
    };
    let (name, follow) = job.dir.opened_by();
    open_directory(at.as_fd(), name, follow).map_err(|errno| Failure {
        operation: Operation::Open,
        errno,
    })
}

pub(crate) fn read_failure(errno: Errno) -> Failure {
    Failure {
        operation: Operation::Read,
        errno,
    }
}

impl<S: Send + Sync> Source<S> for SyscallSource<S> {
    fn capacity(&self) -> usize {
        1
    }

    fn push(&mut self, job: DirectoryJob<S>) {
        debug_assert!(self.job.is_none());
        self.job = Some(job);
    }

    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>> {
        let job = self.job.take()?;
        batch.clear();
        Some(self.open_and_read(job, batch))
    }

    fn buffer_size(&self) -> usize {
        self.names.buffer_size()
    }
}
