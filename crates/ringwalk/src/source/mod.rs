//! Where directory data comes from.
//!
//! A worker owns one source and knows three things of it: how many directories it takes at a time
//! ([`capacity`](Source::capacity)), how it is given one ([`push`](Source::push)), and how it gives back whichever is
//! ready ([`pull`](Source::pull)). That shape fits
//!
//! - plain system calls: capacity 1, `pull` does the work;
//! - a ring: capacity 64, `push` queues operations, `pull` waits for any completion, and directories come back in the
//!   order in which the kernel was done with them;
//! - a source that answers names and metadata together: it fills both, and says so in [`Pulled::metadata`].
//!
//! A job travels through its source and comes back with its outcome, so sources keep no tables of their own.

mod kernel;
mod names;
#[cfg(test)]
mod shuffled;
mod syscall;
#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use kernel::Behaviour;
use kernel::KernelSource;
#[cfg(all(test, feature = "async"))]
pub(crate) use kernel::{Emulated, Failed};
pub(crate) use kernel::{KernelSide, describe, find};
#[cfg(feature = "async")]
pub(crate) use kernel::{KernelTransport, Transport, available, come_to, decode, goes_on, what_of};
pub(crate) use names::NameReader;
use syscall::SyscallSource;

use crate::descriptor::At;
use crate::dir::Dir;
use crate::error::Failure;
#[cfg(test)]
use crate::options::SourceChoice;
use crate::options::{Options, Order};
use crate::raw_batch::RawBatch;
use ringwalk_sys::DirectoryFd;
use std::sync::Arc;

/// A directory to be read on with.
pub(crate) struct Job<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) step: Step,
    /// The number that the next batch gets.
    pub(crate) next_batch: u32,
    /// Others read on in this directory at the same time.
    pub(crate) apart: bool,
    /// The directory is to be read to its end in one batch: no descriptor can be spared for a rest
    /// of it.
    pub(crate) to_end: bool,
}

/// What is to be done next.
pub(crate) enum Step {
    /// Open the directory, and read its first entries.
    Open(At),
    /// Read on.
    Read(Arc<DirectoryFd>),
}

/// What a source has done for a job. Entries that were read before a failure are in the batch all the same.
pub(crate) struct Pulled<S> {
    pub(crate) job: Job<S>,
    /// The open directory; `None` if it could not be opened, which only `Step::Open` may come back with.
    pub(crate) fd: Option<Arc<DirectoryFd>>,
    /// The directory has been read to its end.
    pub(crate) end: bool,
    /// The batch has its metadata already.
    pub(crate) metadata: bool,
    pub(crate) failure: Option<Failure>,
}

impl<S> Pulled<S> {
    /// The directory could not be opened, or not be read.
    fn failed(job: Job<S>, failure: Failure) -> Self {
        Self {
            job,
            fd: None,
            end: false,
            metadata: false,
            failure: Some(failure),
        }
    }
}

/// A source of directory data, owned by one worker.
pub(crate) trait Source<S> {
    /// How many jobs it takes before one must be pulled.
    fn capacity(&self) -> usize;

    /// Takes a job. Never called with `capacity` jobs inside.
    fn push(&mut self, job: Job<S>);

    /// Waits until a job is done and fills `batch` with its entries. `None` if there is no job inside.
    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>>;

    /// Calls have been found to wait for a device: from now on more may be in flight at a time.
    fn calls_wait(&mut self) {}

    /// Whether a directory is read and its entries asked for metadata in one go. Then several workers had better read the same
    /// large directory at a time, each a part of it.
    fn reads_apart(&self) -> bool {
        false
    }

    /// Takes back an open directory that the worker is done with.
    fn release(&mut self, fd: Arc<DirectoryFd>) {
        drop(fd);
    }

    /// Read buffer in bytes, as `--explain` tells it.
    fn buffer_size(&self) -> usize;
}

/// The source that a worker begins with. `auto` may find a better one on the way.
pub(crate) fn for_worker<'s, S: Send + Sync + 's>(
    options: &Options,
    kernel: &'s KernelSide,
) -> Box<dyn Source<S> + 's> {
    #[cfg(test)]
    if options.source == SourceChoice::Shuffled {
        let wanted = crate::stat::Wanted::entries(options);
        return Box::new(shuffled::ShuffledSource::new(wanted));
    }
    #[cfg(test)]
    if let SourceChoice::Emulated(behaviour) = options.source {
        type Any<'s, S> = KernelSource<'s, S, kernel::KernelTransport>;
        return Box::new(Any::emulated(kernel, *behaviour, options));
    }
    if let Some(reader) = kernel.reader() {
        return Box::new(KernelSource::new(kernel, reader, options));
    }
    let whole = options.order == Order::Name;
    Box::new(SyscallSource::new(options.buffer_size, whole))
}
