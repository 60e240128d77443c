//! Sources of directory data.
//!
//! A worker owns one source and calls three methods of it. [`capacity`](Source::capacity) returns
//! how many directories the source accepts at a time. [`push`](Source::push) passes it one.
//! [`pull`](Source::pull) returns one that is done. Examples:
//!
//! - plain system calls: capacity 1, `pull` does the work;
//! - a ring: capacity 64, `push` queues operations, `pull` waits for any completion, and
//!   directories come back in the order in which the kernel was done with them;
//! - a source that answers names and metadata together: it fills both, and says so in
//!   [`Pulled::metadata`].
//!
//! A source returns each job together with its outcome, so sources keep no tables of jobs.
//!
//! | folder or file | contents |
//! |---|---|
//! | `registry.rs`, `ways.rs` | all sources, one row each; how each is opened |
//! | `choose/`, `choose/` | chooses the source of a walk, and reports the reason |
//! | `syscall.rs`, `names.rs`, `stat.rs` | names by `getdents64`, metadata by `statx` |
//! | `names_at.rs`, `wanted.rs` | what the names of a batch are relative to; which of them need metadata |
//! | `project_id.rs` | project ids, by one more call for each entry |
//! | `kernel/` | names and metadata in one request to the kernel module or the patched kernel |
//! | `ext4/`, `xfs/`, `btrfs/` | file systems read past the VFS, for a walk and as a whole |
//! | `volume/` | shared by these three for a walk: mounted file systems, read by inode number |
//! | `sweep/` | shared by these three for the inode sweep: all files of a whole file system |
//! | `saved/` | trees that were saved, walked without the live file system |
//! | `older/` | older trees, from which a walk takes what has not changed |
//! | `prefetch/` | reads blocks into the page cache before a walk needs them |
//! | `raw_batch.rs` | the buffer that a source fills |
//! | `shuffled.rs` | a source for tests, which completes in random order |

pub(crate) mod btrfs;
pub(crate) mod choose;
pub(crate) mod ext4;
mod kernel;
mod names;
pub(crate) mod names_at;
pub(crate) mod older;
pub(crate) mod prefetch;
pub(crate) mod project_id;
pub(crate) mod raw_batch;
pub(crate) mod registry;
pub(crate) mod saved;
#[cfg(test)]
mod shuffled;
pub(crate) mod stat;
pub(crate) mod sweep;
pub(crate) mod syscall;
#[cfg(test)]
mod tests;
pub(crate) mod volume;
pub(crate) mod wanted;
pub(crate) mod ways;
pub(crate) mod xfs;

#[cfg(test)]
pub(crate) use kernel::Behaviour;
#[cfg(feature = "async")]
pub(crate) use kernel::{
    DirectoryTransport, KernelTransport, available, come_to, decode, is_worth_another_read, what_of,
};
#[cfg(all(test, feature = "async"))]
pub(crate) use kernel::{Emulated, Failed};
pub(crate) use kernel::{KernelSide, TreeListing};
pub(crate) use names::NameReader;

use crate::sources::raw_batch::RawBatch;
use crate::visit::dir::Dir;
use crate::visit::error::Failure;
use crate::walk::descriptors::At;
use ringwalk_sys::DirectoryFd;
use std::sync::Arc;

/// A directory to read, from its beginning or from its current position.
pub(crate) struct DirectoryJob<S> {
    pub(crate) dir: Arc<Dir<S>>,
    pub(crate) step: JobStep,
    /// The number that the next batch gets.
    pub(crate) next_batch: u32,
    /// True if other workers read this directory at the same time.
    pub(crate) concurrent: bool,
    /// True if the source must read the directory to its end in one batch, because no descriptor
    /// can keep it open for a second one.
    pub(crate) to_end: bool,
}

/// The next step of a job.
pub(crate) enum JobStep {
    /// Open the directory, and read its first entries.
    Open(At),
    /// Read the next entries.
    Read(Arc<DirectoryFd>),
}

/// The outcome of a job. The batch also holds entries that were read before a failure.
pub(crate) struct Pulled<S> {
    pub(crate) job: DirectoryJob<S>,
    /// The open directory; `None` if it could not be opened, which happens only for
    /// [`JobStep::Open`].
    pub(crate) fd: Option<Arc<DirectoryFd>>,
    /// True if the directory has been read to its end.
    pub(crate) end: bool,
    /// True if the batch holds the metadata of its entries.
    pub(crate) metadata: bool,
    pub(crate) failure: Option<Failure>,
}

impl<S> Pulled<S> {
    /// Returns the outcome for a directory that could not be opened or read.
    fn failed(job: DirectoryJob<S>, failure: Failure) -> Self {
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
    /// Returns how many jobs the source accepts before one must be pulled.
    fn capacity(&self) -> usize;

    /// Takes a job. The caller never has more than `capacity` jobs in the source.
    fn push(&mut self, job: DirectoryJob<S>);

    /// Waits until a job is done and fills `batch` with its entries. Returns `None` if the source
    /// has no job.
    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>>;

    /// Reports that calls wait for a device: the source may keep more jobs in flight from now on.
    fn calls_wait(&mut self) {}

    /// Returns true if one request reads names and metadata. Then several workers read a large
    /// directory concurrently, each a part of it.
    fn reads_concurrently(&self) -> bool {
        false
    }

    /// Takes back an open directory that the worker no longer needs.
    fn release(&mut self, fd: Arc<DirectoryFd>) {
        drop(fd);
    }

    /// Returns the size of the read buffer in bytes, for `--explain`.
    fn buffer_size(&self) -> usize;
}
