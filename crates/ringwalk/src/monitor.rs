//! Counters that can be looked at while a walk runs, for progress displays.

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Live counters of one walk. Workers add to them every few milliseconds, so they lag a little behind the visitors.
#[derive(Debug, Default)]
pub struct Monitor {
    entries: AtomicU64,
    directories: AtomicU64,
    errors: AtomicU64,
    workers: AtomicUsize,
    path_wanted: AtomicBool,
    path: Mutex<Vec<u8>>,
}

impl Monitor {
    /// Entries given to visitors so far.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Directories opened so far.
    pub fn directories(&self) -> u64 {
        self.directories.load(Ordering::Relaxed)
    }

    /// Errors so far, vanished entries not counted.
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// Workers that have been started.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// The directory that some worker was in when it last was asked, and asks again. Empty at first.
    pub fn current_path(&self) -> Vec<u8> {
        self.path_wanted.store(true, Ordering::Relaxed);
        self.lock_path().clone()
    }

    fn lock_path(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        self.path.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn add(&self, entries: u64, directories: u64, errors: u64) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.directories.fetch_add(directories, Ordering::Relaxed);
        self.errors.fetch_add(errors, Ordering::Relaxed);
    }

    pub(crate) fn add_worker(&self) {
        self.workers.fetch_add(1, Ordering::Relaxed);
    }

    /// Whether a worker is to say where it is.
    pub(crate) fn wants_path(&self) -> bool {
        self.path_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn set_path(&self, path: Vec<u8>) {
        self.path_wanted.store(false, Ordering::Relaxed);
        *self.lock_path() = path;
    }
}
