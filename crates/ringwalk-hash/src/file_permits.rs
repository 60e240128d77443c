//! How many files the workers of a process may have open beside one each.

use crate::crew::MOST;
use crate::multi_file::MULTI_FILES;
use ringwalk_sys::open_file_count;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

/// The most permits: as many files as one call reads, for each of [`MOST`] workers. With a quarter
/// of them a cold `hash` of Linux took a third longer.
const MOST_PERMITS: usize = MOST * MULTI_FILES;

/// Returns how many files `workers` may have open, besides one for each, to read many by one call.
/// That is half of the descriptors that are still free (`RLIMIT_NOFILE`) when each worker has a
/// file and a ring, and at most 4096. Returns 0 if that is less than one for each worker. `None`
/// are workers whose number adapts. `others` are descriptors that the caller is going to open
/// meanwhile.
pub fn file_permits(workers: Option<NonZeroUsize>, others: usize) -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    // Without /proc the number of open files is not known.
    let open = open_file_count().unwrap_or(limit / 2);
    let free = limit.saturating_sub(open).saturating_sub(others);
    permits_of(free, most_workers(workers))
}

/// Raises the soft limit of open files of this process (`RLIMIT_NOFILE`), so far that the largest
/// number of permits is available, or to the hard limit. For programs: a library should not change
/// the limits of its caller.
pub fn raise_file_limit() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = 4 * MOST_PERMITS as u64;
    let wanted = maximum.map_or(wanted, |maximum| wanted.min(maximum));
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit {
            current: Some(wanted),
            maximum,
        };
        // With the old limit there are fewer permits.
        let _ = setrlimit(Resource::Nofile, raised);
    }
}

fn permits_of(free: usize, workers: usize) -> usize {
    let spare = free.saturating_sub(workers.saturating_mul(2)) / 2;
    if spare < workers {
        0
    } else {
        spare.min(MOST_PERMITS)
    }
}

/// Returns the most workers at a time.
pub(crate) fn most_workers(workers: Option<NonZeroUsize>) -> usize {
    let cpus = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    workers.map_or(MOST.max(cpus), NonZeroUsize::get)
}

/// Permits to open files beside the one that each worker may have open. A file that is opened with
/// a permit must not cost another one its descriptor: after `EMFILE` a worker calls
/// [`Permits::end_all`].
#[derive(Debug)]
pub struct FilePermits {
    all: usize,
    left: AtomicUsize,
    is_closed: AtomicBool,
}

/// Permits that a worker has. They are given back when this is dropped.
#[derive(Debug)]
pub struct Permits<'p> {
    from: &'p FilePermits,
    count: usize,
}

impl FilePermits {
    /// Returns so many permits.
    pub fn new(all: usize) -> Self {
        Self {
            all,
            left: AtomicUsize::new(all),
            is_closed: AtomicBool::new(false),
        }
    }

    /// Takes up to `wanted` permits, as many as are left.
    pub fn take(&self, wanted: usize) -> Permits<'_> {
        let mut count = 0;
        let take = |left: usize| {
            count = if self.is_closed() {
                0
            } else {
                left.min(wanted)
            };
            Some(left - count)
        };
        // The closure never refuses. Relaxed: the numbers say nothing about other memory.
        let _ = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, take);
        Permits { from: self, count }
    }

    /// Returns true if no permits are given any more.
    pub fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Relaxed)
    }
}

impl Permits<'_> {
    /// Returns their number.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Gives these permits back, and waits until all others are given back, too. No permits are
    /// given any more. The caller must have closed the files.
    pub fn end_all(&mut self) {
        self.give_back();
        self.from.is_closed.store(true, Ordering::Relaxed);
        while self.from.left.load(Ordering::Relaxed) != self.from.all {
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn give_back(&mut self) {
        self.from.left.fetch_add(self.count, Ordering::Relaxed);
        self.count = 0;
    }
}

impl Drop for Permits<'_> {
    fn drop(&mut self) {
        self.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permits_come_back() {
        let all = FilePermits::new(10);
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

    #[test]
    fn after_a_lack_of_descriptors_there_are_none() {
        let all = FilePermits::new(10);
        let held = all.take(3);
        thread::scope(|scope| {
            let mut own = all.take(2);
            let waits = scope.spawn(move || {
                own.end_all();
                own.count()
            });
            while !all.is_closed() {
                thread::yield_now();
            }
            assert_eq!(all.take(1).count(), 0);
            assert!(!waits.is_finished());
            drop(held);
            assert_eq!(waits.join().unwrap(), 0);
        });
        assert_eq!(all.take(1).count(), 0);
        FilePermits::new(0).take(1).end_all();
    }

    #[test]
    fn each_worker_has_a_file_and_a_ring_first() {
        assert_eq!(permits_of(1024, 64), 448);
        assert_eq!(permits_of(256, 64), 64);
        assert_eq!(permits_of(255, 64), 0);
        assert_eq!(permits_of(1024, 500), 0);
        assert_eq!(permits_of(1 << 20, 64), MOST_PERMITS);
        assert_eq!(permits_of(0, usize::MAX), 0);
    }
}
