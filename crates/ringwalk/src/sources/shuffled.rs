//! A source for tests. It takes many directories, completes them in any order, and returns names
//! and metadata together, as rings and readers of block devices do. It reads by system calls.

use super::syscall::SyscallSource;
use super::{DirectoryJob, Pulled, Source};
use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::RawBatch;
use crate::sources::stat::stat_entries;
use crate::sources::wanted::Wanted;

pub(crate) struct ShuffledSource<S> {
    jobs: Vec<DirectoryJob<S>>,
    inner: SyscallSource<S>,
    wanted: Wanted,
    random: u64,
}

impl<S> ShuffledSource<S> {
    pub(crate) fn new(wanted: Wanted) -> Self {
        Self {
            jobs: Vec::new(),
            inner: SyscallSource::new(Some(1024), false),
            wanted,
            random: 0x9e37_79b9_7f4a_7c15,
        }
    }
}

impl<S: Send + Sync> Source<S> for ShuffledSource<S> {
    fn capacity(&self) -> usize {
        8
    }

    fn push(&mut self, job: DirectoryJob<S>) {
        assert!(self.jobs.len() < 8, "no more jobs than the capacity");
        self.jobs.push(job);
    }

    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>> {
        if self.jobs.is_empty() {
            return None;
        }
        // Xorshift: Marsaglia, 2003.
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        let index = usize::try_from(self.random % 8).unwrap_or(0) % self.jobs.len();
        self.inner.push(self.jobs.swap_remove(index));
        let mut pulled = self.inner.pull(batch)?;
        if let Some(fd) = &pulled.fd {
            stat_entries(batch, NamesAt::Directory(fd), self.wanted, true, true);
            pulled.metadata = true;
        }
        Some(pulled)
    }

    fn buffer_size(&self) -> usize {
        1024
    }
}
