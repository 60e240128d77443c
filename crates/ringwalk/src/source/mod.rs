//! Where directory data comes from.
//!
//! A worker owns one source and knows three things of it: how many directories it takes at a time
//! ([`capacity`](Source::capacity)), how it is given one ([`push`](Source::push)), and how it gives back whichever is
//! ready ([`pull`](Source::pull)). That shape fits
//!
//! - plain system calls: capacity 1, `pull` does the work;
//! - a ring: capacity 64, `push` queues operations, `pull` waits for any completion, and directories come back in the
//!   order in which the kernel was done with them;
//! - a reader of block devices: capacity of thousands, `pull` answers in the order of the disk;
//! - a source that answers names and metadata together: it fills both, and says so in [`Pulled::metadata`].
//!
//! A job travels through its source and comes back with its outcome, so sources keep no tables of their own.

#[cfg(test)]
mod shuffled;
mod syscall;
#[cfg(test)]
mod tests;

use syscall::SyscallSource;

use crate::descriptor::At;
use crate::dir::Dir;
use crate::error::Failure;
use crate::options::{Options, Order, SourceChoice};
use crate::raw_batch::RawBatch;
use ringwalk_sys::DirectoryFd;
use std::sync::Arc;

/// A directory to be read on with.
pub(crate) struct Job<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) step: Step,
    /// The number that the next batch gets.
    pub(crate) next_batch: u32,
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

/// A source of directory data, owned by one worker.
pub(crate) trait Source<S>: Send {
    /// How many jobs it takes before one must be pulled.
    fn capacity(&self) -> usize;

    /// Takes a job. Never called with `capacity` jobs inside.
    fn push(&mut self, job: Job<S>);

    /// Waits until a job is done and fills `batch` with its entries. `None` if there is no job inside.
    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>>;

    /// Read buffer in bytes, as `--explain` tells it.
    fn buffer_size(&self) -> usize;
}

/// The source that a walk has been asked to read from.
pub(crate) fn for_worker<'s, S: Send + Sync + 's>(options: &Options) -> Box<dyn Source<S> + 's> {
    match options.source {
        SourceChoice::Auto
        | SourceChoice::Syscall
        | SourceChoice::Ext4
        | SourceChoice::Xfs
        | SourceChoice::Btrfs => Box::new(SyscallSource::new(
            options.buffer_size,
            options.order == Order::Name,
        )),
        #[cfg(test)]
        SourceChoice::Shuffled => Box::new(shuffled::ShuffledSource::new(
            crate::stat::Wanted::entries(options),
        )),
    }
}
