//! What is open: walks by handle, batches by number.
//!
//! C passes numbers, which are looked up here; so closing twice, or using what has been closed, is an error and nothing worse.
//!
//! After fork(2) a child has a copy of all of this, but none of the threads that walk; and a lock here may have been held by a thread that
//! does not exist in it. So the child begins with an empty registry (`pthread_atfork`), and to it the parent's walks and batches are
//! not open. What they hold stays as it is, unused.

use crate::cancel;
use crate::held::Held;
use crate::walk::OpenWalk;
use rustix::io::Errno;
use std::collections::HashMap;
use std::ptr;
use std::sync::atomic::{
    AtomicPtr, AtomicU64, Ordering::AcqRel, Ordering::Acquire, Ordering::Relaxed,
};
use std::sync::{Arc, Mutex, MutexGuard, Once, PoisonError};

/// What is open in this process.
#[derive(Default)]
pub(crate) struct Registry {
    walks: Mutex<HashMap<usize, Arc<OpenWalk>>>,
    batches: Mutex<HashMap<u64, Box<Held>>>,
    /// The parent's, so that tools that look for lost memory find it.
    _before_fork: AtomicPtr<Registry>,
}

/// Numbers of batches; not begun anew in a child, whose numbers must not be the parent's.
static BATCHES: AtomicU64 = AtomicU64::new(1);
static CURRENT: AtomicPtr<Registry> = AtomicPtr::new(ptr::null_mut());
static BEFORE_FORK: AtomicPtr<Registry> = AtomicPtr::new(ptr::null_mut());

impl Registry {
    /// That of this process.
    pub(crate) fn current() -> &'static Self {
        let mut current = CURRENT.load(Acquire);
        if current.is_null() {
            current = Self::begin();
        }
        // SAFETY: not null, and so from `begin`: made by Box::into_raw, never freed, and not written to but through its locks and atomics.
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
                // SAFETY: made above by Box::into_raw, and nobody else has seen it.
                #[allow(unsafe_code, reason = "takes back what was leaked a moment ago")]
                drop(unsafe { Box::from_raw(new) });
                other
            }
        }
    }

    /// Adds a walk; its handle is that of its ticket.
    pub(crate) fn add_walk(&self, walk: OpenWalk) -> usize {
        let handle = walk.handle();
        lock(&self.walks).insert(handle, Arc::new(walk));
        handle
    }

    /// The walk of that handle; `EBADF` if none is open.
    pub(crate) fn walk(&self, handle: usize) -> Result<Arc<OpenWalk>, Errno> {
        lock(&self.walks).get(&handle).cloned().ok_or(Errno::BADF)
    }

    /// Takes a walk out.
    pub(crate) fn remove_walk(&self, handle: usize) -> Option<Arc<OpenWalk>> {
        lock(&self.walks).remove(&handle)
    }

    /// Keeps a batch until it is released; returns its number.
    pub(crate) fn hold(&self, batch: Box<Held>) -> u64 {
        let id = BATCHES.fetch_add(1, Relaxed);
        lock(&self.batches).insert(id, batch);
        id
    }

    /// Takes a batch out; `EBADF` if it is not held.
    pub(crate) fn release(&self, id: u64) -> Result<Box<Held>, Errno> {
        lock(&self.batches).remove(&id).ok_or(Errno::BADF)
    }
}

/// No panic leaves what these locks guard half changed.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

extern "C" fn in_child() {
    BEFORE_FORK.store(CURRENT.swap(ptr::null_mut(), AcqRel), Relaxed);
    cancel::forget_all();
}

fn watch_forks() {
    // SAFETY: the function is there as long as the process (the shared library is linked with -z nodelete), takes no lock and no memory,
    // and cannot panic.
    #[allow(
        unsafe_code,
        reason = "the C library has no other way to be told of a fork"
    )]
    let failed = unsafe { libc::pthread_atfork(None, None, Some(in_child)) };
    // ENOMEM alone; then a child would find its parent's walks, and wait for them.
    assert_eq!(failed, 0, "pthread_atfork");
}
