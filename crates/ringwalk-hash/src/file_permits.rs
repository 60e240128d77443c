//! How many files the workers of a process may have open beside one each.

use rustix::process::{Resource, getrlimit};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A process that may have fewer files open than this has no permits. 64 workers, each with one
/// file and one ring, take a quarter of it.
const FEW_FILES: u64 = 512;

/// The most permits: 32 files for each of 32 workers.
const MOST: u64 = 1024;

/// Permits to open files beside the one that each worker may have open: a quarter of the soft
/// limit of open files (`RLIMIT_NOFILE`), at most 1024, and none if the limit is below 512.
#[derive(Debug)]
pub struct FilePermits(AtomicUsize);

/// Permits that a worker has. They are given back when this is dropped.
#[derive(Debug)]
pub struct Permits<'p> {
    from: &'p FilePermits,
    count: usize,
}

/// Returns the number of permits that [`FilePermits::default`] has.
pub(crate) fn permits() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let permits = if limit < FEW_FILES {
        0
    } else {
        (limit / 4).min(MOST)
    };
    #[expect(clippy::cast_possible_truncation, reason = "at most 1024")]
    let permits = permits as usize;
    permits
}

impl Default for FilePermits {
    fn default() -> Self {
        Self(AtomicUsize::new(permits()))
    }
}

impl FilePermits {
    /// Takes up to `wanted` permits, as many as are left.
    pub fn take(&self, wanted: usize) -> Permits<'_> {
        let mut count = 0;
        let take = |left: usize| {
            count = left.min(wanted);
            Some(left - count)
        };
        // The closure never refuses. Relaxed: the number says nothing about other memory.
        let _ = self
            .0
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Permits { from: self, count }
    }
}

impl Permits<'_> {
    /// Returns their number.
    pub fn count(&self) -> usize {
        self.count
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.from.0.fetch_add(self.count, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_come_back() {
        let all = FilePermits(AtomicUsize::new(10));
        let first = all.take(7);
        assert_eq!(first.count(), 7);
        {
            let second = all.take(7);
            assert_eq!((second.count(), all.take(1).count()), (3, 0));
        }
        assert_eq!(all.take(7).count(), 3);
        drop(first);
        assert_eq!(all.take(usize::MAX).count(), 10);
    }
}
