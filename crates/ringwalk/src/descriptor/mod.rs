//! Descriptors of directories as a cache with a budget.
//!
//! A directory's descriptor is held in its node's [`Slot`] from the moment it has children to open until the last of
//! them has been opened. Leaves are opened, read and closed by one worker and never get here, and a chain of
//! directories with one child each needs one slot at a time however deep it is.
//!
//! When the budget is spent, the descriptor that has been held longest goes: it belongs to a directory near the root,
//! which a depth-first walk comes back to last. What was closed is opened again from the nearest ancestor
//! that is still open, component by component and never through a symbolic link, and taken only if device and inode
//! number are those of the directory that was closed: a directory moved or replaced meanwhile has *vanished*, and the
//! walk does not follow it out of the tree.

mod reopen;
mod slot;

pub(crate) use reopen::{DIRECTORY_FLAGS, identity, open_directory};
pub(crate) use slot::Slot;

use crate::Dir;
use crate::error::Failure;
use ringwalk_sys::DirectoryFd;
use rustix::fs::CWD;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::collections::VecDeque;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

/// Descriptors that may be held until the walk takes the trouble to find out how many it may have.
const FIRST_LIMIT: usize = 1024;

/// A walk never holds more than this many, whatever the limits of the system: others need descriptors too.
const LAST_LIMIT: usize = 65_536;

/// Descriptors a worker may have open besides those in slots: the directory it reads, its parent, one on the way when
/// a path is opened again.
const PER_WORKER: usize = 3;

/// Descriptors that the rest of the process is assumed to have.
const OTHERS: usize = 6;

/// The most open files the system allows (`fs.file-max`, `proc_sys_fs(5)`).
fn file_max() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/sys/fs/file-max").ok()?;
    text.trim().parse().ok()
}

/// What a directory is opened relative to.
#[derive(Clone, Debug)]
pub(crate) enum At {
    /// The working directory: for roots given as paths.
    Cwd,
    /// An open directory.
    Dir(Arc<DirectoryFd>),
}

impl AsFd for At {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Cwd => CWD,
            Self::Dir(fd) => fd.as_fd(),
        }
    }
}

/// The descriptors of directories that all workers of a walk hold, and how many those may be.
#[derive(Debug)]
pub(crate) struct Descriptors<S> {
    /// In slots, and in directories that have been read in part.
    held: AtomicUsize,
    limit: AtomicUsize,
    settled: AtomicBool,
    may_raise: bool,
    /// Besides those that can be held: of each worker, and of the rest of the process.
    per_worker: usize,
    others: usize,
    soft_limit: u64,
    reopened: AtomicUsize,
    /// Directories whose slots hold a descriptor, or did, the oldest first.
    in_slots: Mutex<VecDeque<Weak<Dir<S>>>>,
}

impl<S> Descriptors<S> {
    /// With the limits of the process; `may_raise` lets the walk raise `RLIMIT_NOFILE` to its hard limit, once it needs
    /// that many. `rings`: each worker has one, and all of them a device.
    pub(crate) fn new(may_raise: bool, rings: bool) -> Self {
        let soft_limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
        let descriptors = Self {
            held: AtomicUsize::new(0),
            limit: AtomicUsize::new(0),
            settled: AtomicBool::new(false),
            may_raise,
            per_worker: PER_WORKER + usize::from(rings),
            others: OTHERS + usize::from(rings),
            soft_limit,
            reopened: AtomicUsize::new(0),
            in_slots: Mutex::new(VecDeque::new()),
        };
        let first = descriptors.allowance(soft_limit).min(FIRST_LIMIT);
        descriptors.limit.store(first, Ordering::Relaxed);
        descriptors
    }

    /// How many workers the descriptor limit allows.
    pub(crate) fn max_workers(&self) -> usize {
        let soft = usize::try_from(self.soft_limit).unwrap_or(usize::MAX);
        (soft.saturating_sub(self.others) / (self.per_worker + 1)).max(1)
    }

    /// How many descriptors may be held under a limit on all.
    fn allowance(&self, soft_limit: u64) -> usize {
        let soft = usize::try_from(soft_limit).unwrap_or(usize::MAX);
        let workers = self.max_workers().min(crate::regime::MOST_WORKERS);
        soft.saturating_sub(self.others + self.per_worker * workers)
    }

    /// How many descriptors may be held now.
    pub(crate) fn limit(&self) -> usize {
        self.limit.load(Ordering::Relaxed)
    }

    /// How often a directory had to be opened again.
    pub(crate) fn reopened(&self) -> usize {
        self.reopened.load(Ordering::Relaxed)
    }

    /// Counts one more held, for a directory that has been read in part and cannot be closed. False if the budget is
    /// spent: then it is to be read to its end before any below it is opened.
    pub(crate) fn pin(&self) -> bool {
        self.reserve()
    }

    pub(crate) fn unpin(&self) {
        self.held.fetch_sub(1, Ordering::Relaxed);
    }

    fn reserve(&self) -> bool {
        if self.held.fetch_add(1, Ordering::Relaxed) < self.limit() {
            return true;
        }
        self.held.fetch_sub(1, Ordering::Relaxed);
        !self.settled.load(Ordering::Relaxed) && self.settle() && self.reserve()
    }

    /// Finds out, once, how many descriptors this walk may really hold; true if that is more than before.
    #[cold]
    fn settle(&self) -> bool {
        if self.settled.swap(true, Ordering::Relaxed) {
            return false;
        }
        let mut soft = self.soft_limit;
        let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
        if self.may_raise && current != maximum {
            let raised = Rlimit {
                current: maximum,
                maximum,
            };
            if setrlimit(Resource::Nofile, raised).is_ok() {
                soft = maximum.unwrap_or(u64::MAX);
            }
        }
        let polite = file_max().map_or(LAST_LIMIT, |max| max / 8);
        let limit = self.allowance(soft).min(polite).min(LAST_LIMIT);
        self.limit.fetch_max(limit, Ordering::Relaxed) < limit
    }

    /// Descriptors ran out before the budget did: from now on fewer are held than now. False if none was held.
    pub(crate) fn shrink(&self) -> bool {
        self.settled.store(true, Ordering::Relaxed);
        let held = self.held.load(Ordering::Relaxed);
        self.limit
            .fetch_min(held.saturating_sub(1), Ordering::Relaxed);
        self.close_oldest()
    }

    /// Announces `children` of `dir` that will be opened, and holds its descriptor for them if the budget allows.
    ///
    /// A directory that has not been opened (`None`) will be if one of its children has to be.
    pub(crate) fn expect_children(
        &self,
        dir: &Arc<Dir<S>>,
        children: usize,
        fd: Option<&Arc<DirectoryFd>>,
    ) {
        dir.slot.unopened.fetch_add(children, Ordering::Relaxed);
        if let Some(fd) = fd {
            self.hold(dir, fd);
        }
    }

    /// One child of `dir` has been opened, or will never be.
    pub(crate) fn child_opened(&self, dir: &Dir<S>) {
        if dir.slot.unopened.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close(dir);
        }
    }

    /// The descriptor to open children of `dir` relative to.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the directory had to be closed and is no longer where it was; else what opening it again said.
    pub(crate) fn get(&self, dir: &Arc<Dir<S>>) -> Result<At, Failure> {
        if let Some(fd) = &dir.slot.lock().fd {
            return Ok(At::Dir(Arc::clone(fd)));
        }
        self.reopened.fetch_add(1, Ordering::Relaxed);
        let fd = reopen::reopen(dir)?;
        self.hold(dir, &fd);
        Ok(At::Dir(fd))
    }

    /// Opens a directory that was read without being opened, for as long as its visitor wants it.
    pub(crate) fn open_unopened(&self, dir: &Dir<S>) -> Result<Arc<DirectoryFd>, Failure> {
        if let Some(fd) = &dir.slot.lock().fd {
            return Ok(Arc::clone(fd));
        }
        let opened = reopen::reopen(dir);
        match opened {
            Err(failure) if failure.is_out_of_descriptors() && self.shrink() => reopen::reopen(dir),
            opened => opened,
        }
    }

    /// Closes the descriptor that has been held longest. False if none is held in a slot.
    fn close_oldest(&self) -> bool {
        loop {
            let oldest = self.lock_slots().pop_front();
            match oldest {
                None => return false,
                Some(dir) if dir.upgrade().is_some_and(|dir| self.close(&dir)) => return true,
                Some(_) => {}
            }
        }
    }

    fn hold(&self, dir: &Arc<Dir<S>>, fd: &Arc<DirectoryFd>) {
        let mut slot = dir.slot.lock();
        if slot.fd.is_some() {
            return;
        }
        if !self.reserve() {
            // Not under the lock: the oldest may have been this one, not long ago.
            drop(slot);
            let reserved = self.close_oldest() && self.reserve();
            slot = dir.slot.lock();
            if !reserved {
                slot.remember(fd);
                return;
            }
            if slot.fd.is_some() {
                // Another worker, with another batch of the same directory, was faster.
                self.held.fetch_sub(1, Ordering::Relaxed);
                return;
            }
        }
        slot.fd = Some(Arc::clone(fd));
        drop(slot);
        let mut in_slots = self.lock_slots();
        // Walking depth first, the newest are done with first.
        while in_slots.back().is_some_and(|dir| dir.strong_count() == 0) {
            in_slots.pop_back();
        }
        if in_slots.len() > 2 * self.held.load(Ordering::Relaxed) + 64 {
            in_slots.retain(|dir| dir.upgrade().is_some_and(|dir| dir.slot.is_held()));
        }
        in_slots.push_back(Arc::downgrade(dir));
    }

    /// Takes the descriptor out of a slot; true if there was one. It is closed when its last user is done.
    ///
    /// Which directory it was is noted under the same lock: whoever finds the slot empty must find that there.
    fn close(&self, dir: &Dir<S>) -> bool {
        let mut slot = dir.slot.lock();
        let Some(fd) = slot.fd.take() else {
            return false;
        };
        self.held.fetch_sub(1, Ordering::Relaxed);
        // Under the lock: who finds the slot empty finds the identity, or would take the directory for another.
        if dir.slot.unopened.load(Ordering::Relaxed) > 0 {
            slot.remember(&fd);
        }
        true
    }

    fn lock_slots(&self) -> MutexGuard<'_, VecDeque<Weak<Dir<S>>>> {
        self.in_slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
