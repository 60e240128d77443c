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
//!
//! Nothing else of a walk holds a directory open for long: entries that wait for their turn
//! ([`Part`](crate::scheduler::Part)) find the descriptor in their directory's slot, or have it
//! opened again. What a worker has open for a moment is counted when the worker starts, and what
//! else a walk opens when it opens that ([`Extra`]). `budget.rs` has the count.

mod admission;
mod budget;
mod extra;
mod open_files;
mod reopen;
mod slot;

pub(crate) use budget::{Budget, Counted};
pub(crate) use extra::Extra;
pub(crate) use reopen::{DIRECTORY_FLAGS, identity, open_directory};
pub(crate) use slot::Slot;

use crate::Dir;
use crate::error::Failure;
use crate::options::Options;
use crate::regime::MOST_WORKERS;
use admission::PER_WORKER;
use ringwalk_sys::DirectoryFd;
use rustix::fs::CWD;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

/// How often a directory is opened again, a millisecond apart, when descriptors have run out.
pub(crate) const TRIES: u32 = 200;

/// After so many descriptors put into slots, the walk counts again what the rest of the process has
/// open. Counting takes 1.4 us (Linux 6.18), putting one into a slot and opening its directory
/// about as long.
const LOOK_EVERY: usize = 256;

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
    budget: Budget,
    /// What each worker takes from the budget when it starts.
    per_worker: usize,
    /// How many workers the budget allows.
    max_workers: usize,
    /// File systems that are read past the VFS, as far as they are counted.
    volumes: AtomicUsize,
    reopened: AtomicUsize,
    in_slots: Mutex<InSlots<S>>,
}

/// Directories whose slots hold a descriptor, or did, the oldest first.
#[derive(Debug)]
struct InSlots<S> {
    dirs: VecDeque<Weak<Dir<S>>>,
    /// Descriptors put into slots since the open files of the process were counted.
    since_look: usize,
}

impl<S> Descriptors<S> {
    /// With the limits of the process. `kernel`: the walk begins with a source that asks the kernel
    /// for whole batches.
    pub(crate) fn new(options: &Options, kernel: bool) -> Self {
        let budget = Budget::new(options.descriptor_reserve, options.raise_limits);
        let per_worker = PER_WORKER + if kernel { Extra::Kernel.count() } else { 0 };
        let workers = || (budget.room() / (per_worker + 1)).max(1);
        let wanted = options.workers.map_or(MOST_WORKERS, NonZeroUsize::get);
        let mut max_workers = workers();
        if max_workers < wanted && budget.extend() {
            max_workers = workers();
        }
        Self {
            budget,
            per_worker,
            max_workers,
            volumes: AtomicUsize::new(0),
            reopened: AtomicUsize::new(0),
            in_slots: Mutex::new(InSlots {
                dirs: VecDeque::new(),
                since_look: 0,
            }),
        }
    }

    /// How many workers the descriptor limit allows.
    pub(crate) fn max_workers(&self) -> usize {
        self.max_workers
    }

    /// The budget that everything of this walk is counted in.
    pub(crate) fn budget(&self) -> &Budget {
        &self.budget
    }

    /// Returns how many descriptors the walk could hold at the most. It always has what the first
    /// worker needs.
    pub(crate) fn limit(&self) -> usize {
        self.budget.allowed().max(self.per_worker)
    }

    /// How often a directory had to be opened again.
    pub(crate) fn reopened(&self) -> usize {
        self.reopened.load(Ordering::Relaxed)
    }

    /// Descriptors ran out before the budget did. Raises the limit of the process if the walk may,
    /// or else holds fewer from now on. False if neither can be done: none was held in a slot.
    pub(crate) fn shrink(&self) -> bool {
        if self.budget.extend() {
            return true;
        }
        self.budget.look_again();
        if !self.close_oldest() {
            return false;
        }
        self.close_surplus();
        self.budget.lower();
        true
    }

    /// Closes the oldest while more are held than the budget allows since it was lowered.
    fn close_surplus(&self) {
        while self.budget.is_overdrawn() && self.close_oldest() {}
    }

    /// Announces `children` of `dir` that will be opened, or parts of its entries that will be
    /// visited, and holds its descriptor for them if the budget allows.
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

    /// One child of `dir` has been opened, or one part been visited, or will never be.
    pub(crate) fn child_opened(&self, dir: &Dir<S>) {
        if dir.slot.unopened.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close(dir);
        }
    }

    /// The descriptor of `dir`, if it is held.
    pub(crate) fn held(dir: &Dir<S>) -> Option<Arc<DirectoryFd>> {
        dir.slot.lock().fd.clone()
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

    /// Opens a directory whose entries are visited while its descriptor is not held: it was read
    /// without being opened, or was closed. It is held if more of it is to come.
    ///
    /// Where descriptors have run out it waits, as other workers, or other processes, may be done
    /// with theirs.
    ///
    /// # Errors
    ///
    /// As of [`get`](Self::get).
    pub(crate) fn open_for_visit(&self, dir: &Arc<Dir<S>>) -> Result<Arc<DirectoryFd>, Failure> {
        let mut tries = 0;
        loop {
            if let Some(fd) = Self::held(dir) {
                return Ok(fd);
            }
            match reopen::reopen(dir) {
                Ok(fd) => {
                    self.reopened.fetch_add(1, Ordering::Relaxed);
                    self.hold_if_expected(dir, &fd);
                    return Ok(fd);
                }
                Err(failure) if !failure.is_out_of_descriptors() => return Err(failure),
                Err(_) if self.shrink() => {}
                Err(failure) if tries == TRIES => return Err(failure),
                Err(_) => {
                    tries += 1;
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
    }

    /// Holds the descriptor of `dir` for those that are announced, if any are.
    fn hold_if_expected(&self, dir: &Arc<Dir<S>>, fd: &Arc<DirectoryFd>) {
        if dir.slot.is_expected() {
            self.hold(dir, fd);
            // The last of them may have come meanwhile, and has found nothing to close.
            if !dir.slot.is_expected() {
                self.close(dir);
            }
        }
    }

    /// Closes the descriptor that has been held longest. False if none is held in a slot.
    fn close_oldest(&self) -> bool {
        loop {
            let oldest = self.lock_slots().dirs.pop_front();
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
        if !self.budget.take(1) {
            // Not under the lock: the oldest may have been this one, not long ago.
            drop(slot);
            let taken = self.make_room(1);
            slot = dir.slot.lock();
            if !taken {
                slot.remember(fd);
                return;
            }
            if slot.fd.is_some() {
                // Another worker, with another batch of the same directory, was faster.
                self.budget.give_back(1);
                return;
            }
        }
        slot.fd = Some(Arc::clone(fd));
        drop(slot);
        self.note_held(dir);
    }

    /// Notes that the slot of `dir` holds a descriptor, and looks now and then what others have
    /// open.
    fn note_held(&self, dir: &Arc<Dir<S>>) {
        let mut in_slots = self.lock_slots();
        let dirs = &mut in_slots.dirs;
        // Walking depth first, the newest are done with first.
        while dirs.back().is_some_and(|dir| dir.strong_count() == 0) {
            dirs.pop_back();
        }
        if dirs.len() > 2 * self.budget.own() + 64 {
            dirs.retain(|dir| dir.upgrade().is_some_and(|dir| dir.slot.is_held()));
        }
        dirs.push_back(Arc::downgrade(dir));
        in_slots.since_look += 1;
        if in_slots.since_look >= LOOK_EVERY {
            in_slots.since_look = 0;
            drop(in_slots);
            self.budget.look_again();
            self.close_surplus();
        }
    }

    /// Takes the descriptor out of a slot; true if there was one. It is closed when its last user is done.
    ///
    /// Which directory it was is noted under the same lock: whoever finds the slot empty must find that there.
    fn close(&self, dir: &Dir<S>) -> bool {
        let mut slot = dir.slot.lock();
        let Some(fd) = slot.fd.take() else {
            return false;
        };
        self.budget.give_back(1);
        // Under the lock: who finds the slot empty finds the identity, or would take the directory for another.
        if dir.slot.is_expected() {
            slot.remember(&fd);
        }
        true
    }

    fn lock_slots(&self) -> MutexGuard<'_, InSlots<S>> {
        self.in_slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests;
