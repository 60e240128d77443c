//! When something is read ahead: as soon as a walk is found to wait for a disk.
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
//! So a walk that does not wait pays nothing, and one that does has lost the few milliseconds in which it was noticed. To look first
//! whether a file system is cold would cost every small walk a reading of the table of mounts and of the superblock. The other workers
//! wait, since their reads would move the head of a disk away from where it reads in order.

use super::{Bounds, Plan, prefetch};
use crate::device;
use crate::mounts::{self, Mount};
use crate::options::{Follow, Options, Prefetch};
use crate::summary::Prefetched;
use ringwalk_ext4::{FileSystem, ROOT_INODE};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, fstat, fstatfs, major, minor, openat, statat};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// `EXT4_SUPER_MAGIC`, which ext2 and ext3 have too (`include/uapi/linux/magic.h`).
const EXT4_MAGIC: u64 = 0xef53;

/// Roots whose inodes are looked up. The walk looks at so many at a time, so that no other is read only for this.
const MOST_ROOTS: usize = 64;

/// Devices that are considered; a walk over more goes on without.
const MOST_DEVICES: usize = 64;

/// What a walk reads ahead, and whether it still may.
#[derive(Debug)]
pub(crate) struct Watch {
    watching: AtomicBool,
    running: AtomicBool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
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

    /// Whether it matters that calls wait.
    #[inline]
    pub(crate) fn is_watching(&self) -> bool {
        self.watching.load(Ordering::Relaxed)
    }

    /// What has been read.
    pub(crate) fn done(&self) -> Option<Prefetched> {
        self.lock().done
    }

    /// Waits while another worker reads ahead. True if there was something to wait for.
    #[inline]
    pub(crate) fn pause(&self) -> bool {
        let running = self.running.load(Ordering::Relaxed);
        if running {
            drop(self.lock());
        }
        running
    }

    /// Reads ahead for every root before a walk, without looking whether anything waits.
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
            // What cannot be opened is for the walk to report.
            if let Ok(opened) = opened {
                self.waited(options, opened, stop);
            }
        }
    }

    /// Calls for the directory `fd` were found to wait: reads ahead on its device, the first time for each. True if anything was
    /// read, and time has passed.
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

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads ahead on the device number `dev`, which `fd` is on, if that can be done. What cannot be
/// found out here costs time only: no answer comes from what is read ahead.
fn read_ahead(options: &Options, fd: impl AsFd, dev: u64, stop: &AtomicBool) -> Option<Prefetched> {
    let statfs = fstatfs(&fd).ok()?;
    // Magic numbers have 32 bits, and a signed field of that size has its sign extended.
    if statfs.f_type.cast_unsigned() & 0xffff_ffff != EXT4_MAGIC {
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
        // It was something else that calls waited for: a lock, a busy machine.
        return None;
    }
    Some(prefetch(&plan, Bounds::of_memory(), stop))
}

/// Inodes of the directories on `dev` that the walk begins at, or that it comes to by mounts below its roots.
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
