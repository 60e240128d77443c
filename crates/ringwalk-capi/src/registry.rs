//! Open walks by handle, and held batches by number.
//!
//! C passes numbers, and this module looks them up. So to close a walk twice, or to use a closed
//! one, is an error and nothing worse.
//!
//! After fork(2) a child has a copy of the registry, but no thread that walks, and a thread of the
//! parent may have held a lock of it. So the child begins with an empty registry
//! (`pthread_atfork`). Walks and batches of the parent are not open to the child; their memory
//! stays unused.

use crate::cancel;
use crate::held::Held;
use crate::walk::OpenWalk;
use ringwalk_sys::sync::lock;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};
use std::sync::{Arc, Mutex, Once};

/// The open walks and held batches of this process.
///
/// An empty `BTreeMap` has no memory. A `HashMap` would keep its table, and have only pointers into
/// the middle of it, so that tools which look for lost memory would report it.
#[derive(Default)]
pub(crate) struct Registry {
    walks: Mutex<BTreeMap<usize, Arc<OpenWalk>>>,
    batches: Mutex<BTreeMap<u64, Box<Held>>>,
    /// The registry of the parent process. Tools that search for lost memory find its contents
    /// through this pointer.
    _before_fork: AtomicPtr<Registry>,
}

/// The number of the next batch. A child continues the numbers of its parent, so that no number is
/// used twice.
static BATCHES: AtomicU64 = AtomicU64::new(1);
static CURRENT: AtomicPtr<Registry> = AtomicPtr::new(ptr::null_mut());
static BEFORE_FORK: AtomicPtr<Registry> = AtomicPtr::new(ptr::null_mut());

impl Registry {
    /// Returns the registry of this process.
    pub(crate) fn current() -> &'static Self {
        let mut current = CURRENT.load(Acquire);
        if current.is_null() {
            current = Self::begin();
        }
        // SAFETY: not null, and so from `begin`: made by Box::into_raw, never freed, and changed
        // only through its locks and atomics.
        #[allow(
            unsafe_code,
            reason = "a registry outlives every borrow, but must be replaced after fork"
        )]
        unsafe {
            &*current
        }
    }

    #[cold]
    fn begin() -> *mut Self {
        static AT_FORK: Once = Once::new();
        AT_FORK.call_once(watch_forks);
        let new = Box::into_raw(Box::new(Self {
            _before_fork: AtomicPtr::new(BEFORE_FORK.load(Relaxed)),
            ..Self::default()
        }));
        match CURRENT.compare_exchange(ptr::null_mut(), new, AcqRel, Acquire) {
            Ok(_) => new,
            Err(other) => {
                // SAFETY: made above by Box::into_raw, and not shared yet.
                #[allow(unsafe_code, reason = "takes back what was leaked a moment ago")]
                drop(unsafe { Box::from_raw(new) });
                other
            }
        }
    }

    /// Adds a walk and returns its handle, which is the handle of its ticket.
    pub(crate) fn add_walk(&self, walk: OpenWalk) -> usize {
        let handle = walk.handle();
        lock(&self.walks).insert(handle, Arc::new(walk));
        handle
    }

    /// Returns the walk of this handle; `EBADF` if none is open.
    pub(crate) fn walk(&self, handle: usize) -> Result<Arc<OpenWalk>, Errno> {
        lock(&self.walks).get(&handle).cloned().ok_or(Errno::BADF)
    }

    /// Removes and returns a walk.
    pub(crate) fn remove_walk(&self, handle: usize) -> Option<Arc<OpenWalk>> {
        lock(&self.walks).remove(&handle)
    }

    /// Keeps a batch until it is released. Returns its number.
    pub(crate) fn hold(&self, batch: Box<Held>) -> u64 {
        let id = BATCHES.fetch_add(1, Relaxed);
        lock(&self.batches).insert(id, batch);
        id
    }

    /// Removes and returns a batch; `EBADF` if it is not held.
    pub(crate) fn release(&self, id: u64) -> Result<Box<Held>, Errno> {
        lock(&self.batches).remove(&id).ok_or(Errno::BADF)
    }
}

extern "C" fn in_child() {
    BEFORE_FORK.store(CURRENT.swap(ptr::null_mut(), AcqRel), Relaxed);
    cancel::forget_all();
}

fn watch_forks() {
    // SAFETY: the function exists as long as the process (the shared library is linked with -z
    // nodelete), takes no lock, allocates no memory and cannot panic.
    #[allow(
        unsafe_code,
        reason = "the C library has no other way to be told of a fork"
    )]
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    // The only error is ENOMEM. A child would then find the walks of its parent, and wait for them.
    assert_eq!(failed, 0, "pthread_atfork");
}
