//! Decides when to read ahead: as soon as a walk is seen to wait for a disk.
//!
//! ```text
//!   worker 0                                    worker n
//!   calls ... a window spent waiting (meter.rs)
//!     |  device not yet considered: take it
//!     |  ext2, ext3, ext4; device readable?
//!     |  prefetch  ----------------------------> waits before its next directory
//!     v                                            v
//!   goes on, from memory                         goes on, from memory
//! ```
//!
//! So a walk that does not wait pays nothing. A walk that waits loses only the few milliseconds
//! until the wait is noticed. To check first whether a file system is cold would cost every small
//! walk a read of the mount table and of the superblock. The other workers wait, because their
//! reads would move the head of a disk away from the sequential read.

use super::{Plan, PrefetchBounds, prefetch};
use crate::system::device;
use crate::system::mounts::{self, Mount};
use crate::visit::summary::Prefetched;
use crate::walk::options::Options;
use crate::walk::settings::{Follow, Prefetch};
use ringwalk_ext4::{FileSystem, ROOT_INODE};
use ringwalk_sys::magic;
use ringwalk_sys::sync::lock;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, fstatfs, major, minor, openat, statat};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};

/// The most roots whose inodes are looked up. The walk opens this many roots at a time, so no
/// further root is read only for prefetch.
const MOST_ROOTS: usize = 64;

/// The most devices that are considered; a walk over more continues without prefetch.
const MOST_DEVICES: usize = 64;

/// The prefetch of one walk: what was read, and whether more may be.
#[derive(Debug)]
pub(crate) struct Watch {
    watching: AtomicBool,
    running: AtomicBool,
    state: Mutex<WatchState>,
}

#[derive(Debug, Default)]
struct WatchState {
    /// Numbers of devices that have been considered.
    considered: Vec<u64>,
    done: Option<Prefetched>,
}

impl Watch {
    pub(crate) fn new(choice: Prefetch) -> Self {
        Self {
            watching: AtomicBool::new(choice != Prefetch::Never),
            running: AtomicBool::new(false),
            state: Mutex::default(),
        }
    }

    /// Returns true if the walk must report calls that wait.
    #[inline]
    pub(crate) fn is_watching(&self) -> bool {
        self.watching.load(Ordering::Relaxed)
    }

    /// Returns the totals of everything read ahead so far.
    pub(crate) fn done(&self) -> Option<Prefetched> {
        self.lock().done
    }

    /// Waits while another worker reads ahead. Returns true if there was such a worker.
    #[inline]
    pub(crate) fn pause(&self) -> bool {
        let running = self.running.load(Ordering::Relaxed);
        if running {
            drop(self.lock());
        }
        running
    }

    /// Reads ahead for every root before a walk, without checking whether any call waits.
    pub(crate) fn begin(&self, options: &Options, stop: &AtomicBool) {
        for root in options.roots.iter().take(MOST_ROOTS) {
            let opened = match (&root.fd, root.c_name()) {
                (Some(fd), _) => openat(fd, c".", OFlags::PATH | OFlags::CLOEXEC, Mode::empty()),
                (None, Some(name)) => {
                    let flags = OFlags::PATH | OFlags::CLOEXEC | nofollow(options.follow);
                    openat(CWD, name, flags, Mode::empty())
                }
                (None, None) => continue,
            };
            // The walk reports a root that cannot be opened.
            if let Ok(opened) = opened {
                self.waited(options, opened, stop);
            }
        }
    }

    /// Reads ahead on the device of the directory `fd`, for which calls were found to wait; only
    /// the first time for each device. Returns true if blocks were read, so that time has passed.
    pub(crate) fn waited(&self, options: &Options, fd: impl AsFd, stop: &AtomicBool) -> bool {
        let Ok(stat) = fstat(&fd) else { return false };
        let mut state = self.lock();
        if state.considered.contains(&stat.st_dev) {
            return false;
        }
        state.considered.push(stat.st_dev);
        if state.considered.len() >= MOST_DEVICES {
            self.watching.store(false, Ordering::Relaxed);
        }
        self.running.store(true, Ordering::Relaxed);
        let done = read_ahead(options, fd, stat.st_dev, stop);
        self.running.store(false, Ordering::Relaxed);
        let Some(done) = done else { return false };
        state.done = Some(match state.done {
            Some(before) => before.plus(done),
            None => done,
        });
        true
    }

    fn lock(&self) -> MutexGuard<'_, WatchState> {
        lock(&self.state)
    }
}

/// Reads ahead on the device with the number `dev`, which `fd` is on, if that is possible. Errors
/// are ignored here: they cost only time, as no answer comes from the blocks read ahead.
fn read_ahead(options: &Options, fd: impl AsFd, dev: u64, stop: &AtomicBool) -> Option<Prefetched> {
    let statfs = fstatfs(&fd).ok()?;
    if magic::of_statfs(&statfs) != magic::EXT4 {
        return None;
    }
    let numbers = (major(dev), minor(dev));
    let mounts = mounts::read().ok()?;
    let mount = mounts
        .iter()
        .find(|mount| (mount.major, mount.minor) == numbers)?;
    let (path, _) = device::node(mount, numbers.0, numbers.1)?;
    let device = device::open(&path, dev).ok()?;
    let file_system = FileSystem::open(&device).ok()?;
    let roots = roots_on(options, dev, &mounts);
    if roots.is_empty() {
        return None;
    }
    let plan = Plan {
        device: &device,
        file_system: &file_system,
        whole: roots.contains(&ROOT_INODE) && options.max_depth == usize::MAX,
        roots,
        metadata: !options.fields.is_empty(),
        max_depth: options.max_depth,
        inodes: statfs.f_files.saturating_sub(statfs.f_ffree),
    };
    if options.prefetch == Prefetch::Auto && plan.is_warm() {
        // The calls waited for something else: a lock, or a busy machine.
        return None;
    }
    Some(prefetch(&plan, PrefetchBounds::of_memory(), stop))
}

/// Returns the inodes of the directories on `dev` at which the walk begins. If the walk begins at
/// none, returns the inodes of the mounts of `dev`, which the walk reaches below its roots.
fn roots_on(options: &Options, dev: u64, mounts: &[Mount]) -> Vec<u32> {
    let directory = |stat: Stat| -> Option<u32> {
        let is_directory = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_dir();
        let here = stat.st_dev == dev && is_directory;
        here.then(|| u32::try_from(stat.st_ino).ok()).flatten()
    };
    let follow = match options.follow {
        Follow::Never => AtFlags::SYMLINK_NOFOLLOW,
        Follow::CommandLine | Follow::Always => AtFlags::empty(),
    };
    let given = options.roots.iter().take(MOST_ROOTS).filter_map(|root| {
        let stat = match &root.fd {
            Some(fd) => fstat(fd),
            None => statat(CWD, root.c_name()?, follow),
        };
        directory(stat.ok()?)
    });
    let given: Vec<_> = given.collect();
    if !given.is_empty() {
        return given;
    }
    let numbers = (major(dev), minor(dev));
    let mounted = mounts
        .iter()
        .filter(|mount| (mount.major, mount.minor) == numbers)
        .filter_map(|mount| directory(statat(CWD, &mount.point, AtFlags::empty()).ok()?));
    mounted.collect()
}

fn nofollow(follow: Follow) -> OFlags {
    match follow {
        Follow::Never => OFlags::NOFOLLOW,
        Follow::CommandLine | Follow::Always => OFlags::empty(),
    }
}
