//! Descriptors of directories as a cache with a limit.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | the cache: holds the descriptors of directories that have children to open |
//! | `slot.rs` | the place of a directory's descriptor |
//! | `allowance.rs` | the number of descriptors that walks may hold |
//! | `admission.rs`, `extra.rs` | counts besides those in slots: workers, directories in flight, devices |
//! | `reopen.rs` | finding a directory again whose descriptor was closed |
//!
//! A directory's descriptor is held in the [`DescriptorSlot`] of its node while the directory has
//! children to open. A directory without children is opened, read and closed by one worker, and
//! never gets here. A chain of directories with one child each needs one slot at a time, however
//! deep it is.
//!
//! When the allowance is spent, the descriptor that has been held longest is closed. It belongs to
//! a directory near the root, which a depth-first walk comes back to last. To open a closed
//! directory again, the walk starts from the nearest ancestor that is still open. It opens
//! component by component, and never through a symbolic link. The result counts only if device and
//! inode number are the same as for the directory that was closed. A directory that was moved or
//! replaced meanwhile has *vanished*: the walk does not follow it out of the tree.
//!
//! Nothing else of a walk holds a directory open for long. Entries that wait for their turn
//! ([`Part`](crate::walk::scheduler::Part)) find the descriptor in their directory's slot, or have
//! the directory opened again. The descriptors that a worker opens for a moment are counted when
//! the worker starts, other descriptors when they are opened ([`Extra`]).

mod admission;
mod allowance;
mod extra;
mod reopen;
mod slot;

pub(crate) use allowance::{CountedDescriptor, DescriptorAllowance};
pub(crate) use extra::Extra;
pub(crate) use reopen::{DIRECTORY_FLAGS, identity, open_beneath, open_directory};
pub(crate) use slot::DescriptorSlot;

use crate::Dir;
use crate::visit::error::Failure;
use crate::walk::concurrency::MOST_WORKERS;
use crate::walk::options::Options;
use admission::PER_WORKER;
use ringwalk_sys::DirectoryFd;
use ringwalk_sys::sync::lock;
use rustix::fs::CWD;
use slot::SlotInner;
use std::collections::VecDeque;
use std::num::NonZeroUsize;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::Duration;

/// How often the walk tries to open a directory again when descriptors have run out. Each try waits
/// a millisecond.
pub(crate) const TRIES: u32 = 200;

/// After this many descriptors put into slots, the walk counts again which files the rest of the
/// process has open. Counting takes 1.4 us (Linux 6.18). Opening a directory and putting it into a
/// slot takes about as long.
const LOOK_EVERY: usize = 256;

/// The base that the name of a directory is opened relative to.
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

/// The descriptors of directories that all workers of a walk hold, and the limit on their number.
#[derive(Debug)]
pub(crate) struct Descriptors<S> {
    allowance: DescriptorAllowance,
    /// Descriptors that each worker takes from the allowance when it starts.
    per_worker: usize,
    /// The number of workers that the allowance has room for.
    max_workers: usize,
    /// File systems read past the VFS whose descriptors are counted.
    volumes: AtomicUsize,
    reopened: AtomicUsize,
    in_slots: Mutex<InSlots<S>>,
}

/// Directories whose slots hold a descriptor, or have held one, the oldest first.
#[derive(Debug)]
struct InSlots<S> {
    dirs: VecDeque<Weak<Dir<S>>>,
    /// Descriptors put into slots since the open files of the process were counted.
    since_look: usize,
}

impl<S> Descriptors<S> {
    /// Creates the cache of a walk, with the limits of the process. `kernel` says that the walk
    /// begins with a source that asks the kernel for whole batches.
    pub(crate) fn new(options: &Options, kernel: bool) -> Self {
        let allowance = DescriptorAllowance::new(options.descriptor_reserve, options.raise_limits);
        let per_worker = PER_WORKER + if kernel { Extra::Kernel.count() } else { 0 };
        let workers = |room: usize| (room / (per_worker + 1)).max(1);
        let wanted = options.workers.map_or(MOST_WORKERS, NonZeroUsize::get);
        let mut max_workers = workers(allowance.room());
        if max_workers < wanted {
            // The limit is raised only when so many workers are really started.
            max_workers = workers(allowance.most_room());
        }
        Self {
            allowance,
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

    /// Returns how many workers the descriptor limit allows.
    pub(crate) fn max_workers(&self) -> usize {
        self.max_workers
    }

    /// Returns the allowance that counts all descriptors of this walk.
    pub(crate) fn allowance(&self) -> &DescriptorAllowance {
        &self.allowance
    }

    /// Returns the largest number of descriptors that the walk could hold. It always has those that
    /// the first worker needs.
    pub(crate) fn limit(&self) -> usize {
        self.allowance.allowed().max(self.per_worker)
    }

    /// Returns how often a directory had to be opened again.
    pub(crate) fn reopened(&self) -> usize {
        self.reopened.load(Ordering::Relaxed)
    }

    /// Makes do with fewer descriptors: they ran out before the allowance did. Raises the limit of
    /// the process if the walk may, or else holds fewer from now on. Returns false if neither can
    /// be done, because no slot holds a descriptor.
    pub(crate) fn shrink(&self) -> bool {
        if self.allowance.extend() {
            return true;
        }
        self.allowance.look_again();
        if !self.close_oldest() {
            return false;
        }
        self.close_surplus();
        self.allowance.lower();
        true
    }

    /// Closes the directories held longest while more are held than the lowered allowance.
    fn close_surplus(&self) {
        while self.allowance.is_overdrawn() && self.close_oldest() {}
    }

    /// Announces `children` of `dir` that will be opened, or parts of its entries that will be
    /// visited. Holds its descriptor for them if the allowance has room.
    ///
    /// A directory that was not opened (`fd` is `None`) is opened when one of its children has to
    /// be.
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

    /// Notes that one child of `dir` has been opened or one part visited, or never will be.
    pub(crate) fn child_opened(&self, dir: &Dir<S>) {
        if dir.slot.unopened.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.close_if_done(dir);
        }
    }

    /// Returns the descriptor of `dir`, if it is held.
    pub(crate) fn held(dir: &Dir<S>) -> Option<Arc<DirectoryFd>> {
        dir.slot.lock().fd.clone()
    }

    /// Returns the descriptor that children of `dir` are opened relative to.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the directory had to be closed and is no longer at its place. Other errors come
    /// from opening it again.
    pub(crate) fn get(&self, dir: &Arc<Dir<S>>) -> Result<At, Failure> {
        if let Some(fd) = &dir.slot.lock().fd {
            return Ok(At::Dir(Arc::clone(fd)));
        }
        self.reopened.fetch_add(1, Ordering::Relaxed);
        let fd = reopen::reopen(dir)?;
        self.hold(dir, &fd);
        Ok(At::Dir(fd))
    }

    /// Opens a directory whose entries are visited while its descriptor is not held: it was listed
    /// without being opened, or was closed. Holds the descriptor if more of the directory is to
    /// come.
    ///
    /// Waits where descriptors have run out: other workers or other processes may close theirs.
    ///
    /// # Errors
    ///
    /// The errors of [`get`](Self::get).
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

    /// Holds the descriptor of `dir` for announced children and parts, if there are any.
    fn hold_if_expected(&self, dir: &Arc<Dir<S>>, fd: &Arc<DirectoryFd>) {
        if dir.slot.is_expected() {
            self.hold(dir, fd);
            // The last child may have come meanwhile, and has found no descriptor to close.
            self.close_if_done(dir);
        }
    }

    /// Closes the descriptor that has been held longest. Returns false if no slot holds one.
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
        if !self.allowance.take(1) {
            // The lock is released first: the directory held longest may be this one.
            drop(slot);
            let taken = self.make_room(1);
            slot = dir.slot.lock();
            if !taken {
                slot.remember(fd);
                return;
            }
            if slot.fd.is_some() {
                // Another worker, with another batch of the same directory, was faster.
                self.allowance.give_back(1);
                return;
            }
        }
        slot.fd = Some(Arc::clone(fd));
        drop(slot);
        self.note_held(dir);
    }

    /// Notes that the slot of `dir` holds a descriptor. From time to time counts the open files of
    /// the process again.
    fn note_held(&self, dir: &Arc<Dir<S>>) {
        let mut in_slots = self.lock_slots();
        let dirs = &mut in_slots.dirs;
        // A depth-first walk is done with the newest directories first.
        while dirs.back().is_some_and(|dir| dir.strong_count() == 0) {
            dirs.pop_back();
        }
        if dirs.len() > 2 * self.allowance.own() + 64 {
            dirs.retain(|dir| dir.upgrade().is_some_and(|dir| dir.slot.is_held()));
        }
        dirs.push_back(Arc::downgrade(dir));
        in_slots.since_look += 1;
        if in_slots.since_look >= LOOK_EVERY {
            in_slots.since_look = 0;
            drop(in_slots);
            self.allowance.look_again();
            self.close_surplus();
        }
    }

    /// Takes the descriptor out of the slot of a directory from which nothing more is expected.
    ///
    /// Asks again under the lock of the slot. Another worker may have announced more children in
    /// the meantime. It then relies on the descriptor in the slot.
    fn close_if_done(&self, dir: &Dir<S>) {
        let slot = dir.slot.lock();
        if !dir.slot.is_expected() {
            self.empty(dir, slot);
        }
    }

    /// Takes the descriptor out of a slot. Returns true if there was one.
    fn close(&self, dir: &Dir<S>) -> bool {
        self.empty(dir, dir.slot.lock())
    }

    /// Takes the descriptor out of the slot of `dir`, which the caller has locked. Returns true if
    /// there was one. It is closed when its last user is done with it.
    ///
    /// The identity of the directory is noted under the same lock: a worker that finds the slot
    /// empty must find the identity there.
    fn empty(&self, dir: &Dir<S>, mut slot: MutexGuard<'_, SlotInner>) -> bool {
        let Some(fd) = slot.fd.take() else {
            return false;
        };
        self.allowance.give_back(1);
        // Under the lock: without the identity a worker would take another directory for this one.
        if dir.slot.is_expected() {
            slot.remember(&fd);
        }
        true
    }

    fn lock_slots(&self) -> MutexGuard<'_, InSlots<S>> {
        lock(&self.in_slots)
    }
}

#[cfg(test)]
mod tests;
