//! The source that works everywhere: `openat` and `getdents64`, one directory at a time.

use super::names::NameReader;
use super::{Job, Pulled, Source, Step};
use crate::descriptor::open_directory;
use crate::dir::Origin;
use crate::error::{Failure, Operation};
use crate::raw_batch::RawBatch;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::os::fd::AsFd;
use std::sync::Arc;

pub(crate) struct SyscallSource<S> {
    job: Option<Job<S>>,
    /// Each directory is one batch.
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
        // A root tells of most of its tree; a directory that another worker has begun is a large one.
        let telling = job.dir.depth() == 0 || matches!(job.step, Step::Read(_));
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
        self.names.buffer_size()
    }
}
