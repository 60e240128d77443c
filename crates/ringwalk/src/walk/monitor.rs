//! Counters of a walk while it runs, for progress displays.

use ringwalk_sys::sync::lock;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Live counters of one walk. Workers add to them every few milliseconds, so the counters lag a
/// little behind the visitors.
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
    /// Returns how many entries visitors were given so far.
    pub fn entries(&self) -> u64 {
        self.entries.load(Ordering::Relaxed)
    }

    /// Returns how many directories were opened so far.
    pub fn directories(&self) -> u64 {
        self.directories.load(Ordering::Relaxed)
    }

    /// Returns how many errors there were so far, without vanished entries.
    pub fn errors(&self) -> u64 {
        self.errors.load(Ordering::Relaxed)
    }

    /// Returns how many workers have been started.
    pub fn workers(&self) -> usize {
        self.workers.load(Ordering::Relaxed)
    }

    /// Returns the directory that a worker was in after the last call, and asks the workers for a
    /// new one. Empty at first.
    pub fn current_path(&self) -> Vec<u8> {
        self.path_wanted.store(true, Ordering::Relaxed);
        self.lock_path().clone()
    }

    fn lock_path(&self) -> std::sync::MutexGuard<'_, Vec<u8>> {
        lock(&self.path)
    }

    pub(crate) fn add(&self, entries: u64, directories: u64, errors: u64) {
        self.entries.fetch_add(entries, Ordering::Relaxed);
        self.directories.fetch_add(directories, Ordering::Relaxed);
        self.errors.fetch_add(errors, Ordering::Relaxed);
    }

    pub(crate) fn add_worker(&self) {
        self.workers.fetch_add(1, Ordering::Relaxed);
    }

    /// Returns true if a worker should report the directory that it is in.
    pub(crate) fn wants_path(&self) -> bool {
        self.path_wanted.load(Ordering::Relaxed)
    }

    pub(crate) fn set_path(&self, path: Vec<u8>) {
        self.path_wanted.store(false, Ordering::Relaxed);
        *self.lock_path() = path;
    }
}
