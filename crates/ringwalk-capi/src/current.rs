//! The call that a thread is in: what a callback may ask of the batch it was called with.
//!
//! C has a number that names the call. It says something only on the thread that makes the call, and only while it lasts; so one that was
//! kept, or given to another thread, is an error.

use crate::abi::RingwalkVisit;
use ringwalk::Batch;
use rustix::io::Errno;
use std::cell::Cell;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A call: of which worker, and for which entries, if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Current<'a> {
    worker: usize,
    batch: Option<&'a Batch<'a, ()>>,
}

thread_local! {
    /// The number of the call that this thread is in, and what it is for. Callbacks do not nest but by a walk that a callback runs.
    static CALL: Cell<(usize, *const ())> = const { Cell::new((0, ptr::null())) };
}

/// Odd, so that no number is the address of anything; a number comes again after 2^63 calls.
static NUMBER: AtomicUsize = AtomicUsize::new(1);

impl<'a> Current<'a> {
    pub(crate) fn new(worker: usize, batch: Option<&'a Batch<'a, ()>>) -> Self {
        Self { worker, batch }
    }

    /// The number of the worker that makes the call.
    pub(crate) fn worker(self) -> usize {
        self.worker
    }

    /// The descriptor of the directory; `AT_FDCWD` for roots. It is not the caller's.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the call is for no entries; what opening it says where it was not open.
    pub(crate) fn descriptor(self) -> Result<RawFd, Errno> {
        let batch = self.batch.ok_or(Errno::INVAL)?;
        let opened = batch.fd().map_err(|error| error.errno())?;
        Ok(opened.map_or(libc::AT_FDCWD, |fd| fd.as_raw_fd()))
    }

    /// Has the walk not descend into an entry.
    ///
    /// # Errors
    ///
    /// `EINVAL` if there is no such entry.
    pub(crate) fn prune(self, index: usize) -> Result<(), Errno> {
        let batch = self.batch.ok_or(Errno::INVAL)?;
        batch.get(index).ok_or(Errno::INVAL)?.prune();
        Ok(())
    }
}

/// Makes a call, during which the number passed names `current` on this thread.
pub(crate) fn with<R>(current: &Current<'_>, call: impl FnOnce(*mut RingwalkVisit) -> R) -> R {
    let number = NUMBER.fetch_add(2, Relaxed);
    let before = CALL.replace((number, ptr::from_ref(current).cast()));
    // Unwinding out of C aborts, so this is always come back to.
    let result = call(ptr::without_provenance_mut(number));
    CALL.set(before);
    result
}

/// What that number names.
///
/// # Errors
///
/// `EBADF` if this thread is not in that call.
pub(crate) fn ask<R>(
    visit: *const RingwalkVisit,
    question: impl FnOnce(Current<'_>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let (number, current) = CALL.get();
    if current.is_null() || visit.addr() != number {
        return Err(Errno::BADF);
    }
    // SAFETY: not null, so set by `with` on this thread, from a borrow of a `Current` that outlives the call; and the call lasts, as `with`
    // sets back what was before when it has returned.
    #[allow(unsafe_code, reason = "a borrow that C carries through a callback")]
    let current = unsafe { *current.cast::<Current<'_>>() };
    question(current)
}
