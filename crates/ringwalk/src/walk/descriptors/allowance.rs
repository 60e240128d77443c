//! The number of descriptors that the walks of this process may hold together.
//!
//! ```text
//!   soft limit on open files (RLIMIT_NOFILE)
//!     - files that the rest of the process has open, counted from time to time
//!     - the reserve: stays free for the rest of the process
//!     = the limit on TAKEN, which all walks of the process add to
//! ```
//!
//! Each walk has a [`DescriptorAllowance`] of its own, with its own reserve. All allowances add to
//! one count, because the limit on open files belongs to the process: two walks at the same time
//! share the free descriptors.

use ringwalk_sys::open_file_count;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Descriptors that a walk may hold before it reads the limits of the system and raises the limit
/// of the process.
const FIRST_LIMIT: usize = 1024;

/// The largest number of descriptors that a walk ever holds, whatever the limits of the system:
/// other processes need descriptors too.
const LAST_LIMIT: usize = 65_536;

/// Descriptors left to the rest of the process by default, or a quarter of the free ones if that is
/// less.
const DEFAULT_RESERVE: usize = 64;

/// Descriptors that all allowances of this process have taken.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// The descriptors of one walk, counted.
#[derive(Debug)]
pub(crate) struct DescriptorAllowance {
    /// Descriptors of [`TAKEN`] that this walk has taken.
    own: AtomicUsize,
    /// The largest value that `own` has had.
    most: AtomicUsize,
    /// The walk takes no more descriptors while [`TAKEN`] is this large.
    limit: AtomicUsize,
    /// The largest value that `limit` has had.
    allowed: AtomicUsize,
    /// Files that the rest of the process has open, as far as that is known.
    others: AtomicUsize,
    reserve: usize,
    may_raise: bool,
    extended: AtomicBool,
}

impl DescriptorAllowance {
    /// Creates the allowance of a walk that leaves `reserve` descriptors to the rest of the
    /// process. With `may_raise` it raises `RLIMIT_NOFILE` to its hard limit before it is spent.
    pub(crate) fn new(reserve: Option<usize>, may_raise: bool) -> Self {
        let soft = soft_limit();
        let others = others(soft);
        let free = soft.saturating_sub(others);
        let reserve = reserve.unwrap_or_else(|| DEFAULT_RESERVE.min(free / 4));
        let first = TAKEN.load(Ordering::Relaxed) + FIRST_LIMIT;
        let limit = free.saturating_sub(reserve).min(first);
        Self {
            own: AtomicUsize::new(0),
            most: AtomicUsize::new(0),
            limit: AtomicUsize::new(limit),
            allowed: AtomicUsize::new(limit),
            others: AtomicUsize::new(others),
            reserve,
            may_raise,
            extended: AtomicBool::new(false),
        }
    }

    /// Returns how many more descriptors this walk could take now, if no other walk took any.
    pub(crate) fn room(&self) -> usize {
        let taken = TAKEN.load(Ordering::Relaxed);
        self.free()
            .saturating_sub(self.reserve.saturating_add(taken))
    }

    /// Returns how many more descriptors this walk could take if it raised the limit of the process
    /// as far as it may. The limits of the system may allow fewer.
    pub(crate) fn most_room(&self) -> usize {
        if !self.may_raise {
            return self.room();
        }
        let hard = getrlimit(Resource::Nofile).maximum;
        let hard = hard.map_or(usize::MAX, |hard| {
            usize::try_from(hard).unwrap_or(usize::MAX)
        });
        let raised = hard.min(LAST_LIMIT).saturating_sub(soft_limit());
        self.room().saturating_add(raised)
    }

    /// Returns how many descriptors the rest of the process leaves to all walks together.
    fn free(&self) -> usize {
        let others = self.others.load(Ordering::Relaxed);
        soft_limit().saturating_sub(others)
    }

    /// Returns the largest number of descriptors that this walk was ever allowed to hold.
    pub(crate) fn allowed(&self) -> usize {
        self.allowed.load(Ordering::Relaxed)
    }

    /// Returns how many descriptors this walk counts as its own.
    pub(crate) fn own(&self) -> usize {
        self.own.load(Ordering::Relaxed)
    }

    /// Returns the largest number of descriptors that this walk has counted as its own at a time.
    pub(crate) fn most(&self) -> usize {
        self.most.load(Ordering::Relaxed)
    }

    /// Returns how many descriptors stay free for the rest of the process.
    pub(crate) fn reserve(&self) -> usize {
        self.reserve
    }

    /// Counts `count` descriptors as taken. Returns false, and counts none, if the allowance has
    /// no room.
    pub(crate) fn take(&self, count: usize) -> bool {
        loop {
            let taken = TAKEN.fetch_add(count, Ordering::Relaxed) + count;
            if taken <= self.limit.load(Ordering::Relaxed) {
                self.add(count);
                return true;
            }
            TAKEN.fetch_sub(count, Ordering::Relaxed);
            if !self.extend() {
                return false;
            }
        }
    }

    /// Counts `count` descriptors that the walk cannot do without.
    pub(crate) fn take_anyway(&self, count: usize) {
        if !self.take(count) {
            TAKEN.fetch_add(count, Ordering::Relaxed);
            self.add(count);
        }
    }

    fn add(&self, count: usize) {
        let own = self.own.fetch_add(count, Ordering::Relaxed) + count;
        if own > self.most.load(Ordering::Relaxed) {
            self.most.fetch_max(own, Ordering::Relaxed);
        }
    }

    /// Counts `count` descriptors as free again.
    pub(crate) fn give_back(&self, count: usize) {
        self.own.fetch_sub(count, Ordering::Relaxed);
        TAKEN.fetch_sub(count, Ordering::Relaxed);
    }

    /// Returns true if more is taken than the limit allows, after it was lowered.
    pub(crate) fn is_overdrawn(&self) -> bool {
        TAKEN.load(Ordering::Relaxed) > self.limit.load(Ordering::Relaxed)
    }

    /// Finds out, once, how many descriptors this walk may really hold. Returns true if that is
    /// more than before.
    #[cold]
    pub(crate) fn extend(&self) -> bool {
        if self.extended.swap(true, Ordering::Relaxed) {
            return false;
        }
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if self.may_raise && current != maximum {
            let raised = Rlimit {
                current: maximum,
                maximum,
            };
            // If the kernel refuses, the limit stays as it was. It is read again below.
            let _ = setrlimit(Resource::Nofile, raised);
        }
        let polite = file_max().map_or(LAST_LIMIT, |max| max / 8);
        let allowed = self.free().saturating_sub(self.reserve);
        let limit = allowed.min(polite).min(LAST_LIMIT);
        self.allowed.fetch_max(limit, Ordering::Relaxed);
        self.limit.fetch_max(limit, Ordering::Relaxed) < limit
    }

    /// Counts the open files of the rest of the process again, and lowers the limit if there are
    /// more.
    #[cold]
    pub(crate) fn look_again(&self) {
        // Workers are counted with descriptors that they may not have opened yet, and as many files
        // of the rest are hidden behind those. So a count that is lower than before proves nothing.
        // The reserve has room for the difference.
        self.others
            .fetch_max(others(soft_limit()), Ordering::Relaxed);
        let allowed = self.free().saturating_sub(self.reserve);
        self.limit.fetch_min(allowed, Ordering::Relaxed);
    }

    /// Lowers the limit to the number that is taken now: the system gives no more.
    pub(crate) fn lower(&self) {
        let taken = TAKEN.load(Ordering::Relaxed);
        self.limit.fetch_min(taken, Ordering::Relaxed);
    }
}

impl Drop for DescriptorAllowance {
    fn drop(&mut self) {
        TAKEN.fetch_sub(self.own(), Ordering::Relaxed);
    }
}

/// One descriptor, counted as taken until this value is dropped.
#[derive(Debug)]
pub(crate) struct CountedDescriptor(Arc<DescriptorAllowance>);

impl CountedDescriptor {
    /// Takes one descriptor. Returns `None` if the allowance is spent.
    pub(crate) fn one(allowance: &Arc<DescriptorAllowance>) -> Option<Self> {
        allowance.take(1).then(|| Self(Arc::clone(allowance)))
    }
}

impl Drop for CountedDescriptor {
    fn drop(&mut self) {
        self.0.give_back(1);
    }
}

/// Returns how many files the rest of the process has open, beside the descriptors of walks.
fn others(soft_limit: usize) -> usize {
    let taken = TAKEN.load(Ordering::Relaxed);
    // Without /proc the number is unknown, and half of the limit is left to the rest of the
    // process.
    open_file_count().map_or(soft_limit / 2, |open| open.saturating_sub(taken))
}

fn soft_limit() -> usize {
    let soft = getrlimit(Resource::Nofile).current;
    soft.map_or(usize::MAX, |soft| {
        usize::try_from(soft).unwrap_or(usize::MAX)
    })
}

/// Returns the largest number of open files that the system allows (`fs.file-max`,
/// `proc_sys_fs(5)`).
fn file_max() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/sys/fs/file-max").ok()?;
    text.trim().parse().ok()
}
