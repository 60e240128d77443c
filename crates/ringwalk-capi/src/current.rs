//! The callback that runs on a thread, and the requests that it can make about its batch.
//!
//! C has a number that identifies the callback. The number is valid only on the thread of the
//! callback, and only until the callback returns. So a number that C has kept, or passed to another
//! thread, is an error.

use crate::abi::RingwalkVisit;
use ringwalk::Batch;
use rustix::io::Errno;
use std::cell::Cell;
use std::os::fd::{AsRawFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// A callback: its worker, and its entries if there are any.
#[derive(Clone, Copy)]
pub(crate) struct Current<'a> {
    worker: usize,
    batch: Option<&'a Batch<'a, ()>>,
}

thread_local! {
    /// The number of the callback that runs on this thread, and a pointer to it. Callbacks nest
    /// only if a callback runs another walk.
    static CALL: Cell<(usize, *const ())> = const { Cell::new((0, ptr::null())) };
}

/// The next number. Numbers are odd, so that none is an address; a number comes again after 2^63
/// callbacks.
static NUMBER: AtomicUsize = AtomicUsize::new(1);

impl<'a> Current<'a> {
    pub(crate) fn new(worker: usize, batch: Option<&'a Batch<'a, ()>>) -> Self {
        Self { worker, batch }
    }

    /// Returns the number of the worker that makes the callback.
    pub(crate) fn worker(self) -> usize {
        self.worker
    }

    /// Returns the descriptor of the directory, which the walk owns; `AT_FDCWD` for roots.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the batch has no entries; the errors of openat(2) if the directory was not open.
    pub(crate) fn descriptor(self) -> Result<RawFd, Errno> {
        let batch = self.batch.ok_or(Errno::INVAL)?;
        let opened = batch.fd().map_err(|error| error.errno())?;
        Ok(opened.map_or(libc::AT_FDCWD, |fd| fd.as_raw_fd()))
    }

    /// Keeps the walk from descending into an entry.
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

/// Makes a callback. During `call`, the number that it is passed identifies `current` on this
/// thread.
pub(crate) fn with<R>(current: &Current<'_>, call: impl FnOnce(*mut RingwalkVisit) -> R) -> R {
    let number = NUMBER.fetch_add(2, Relaxed);
    let before = CALL.replace((number, ptr::from_ref(current).cast()));
    // Unwinding out of C aborts the process, so this line is always reached.
    let result = call(ptr::without_provenance_mut(number));
    CALL.set(before);
    result
}

/// Asks `question` about the callback that the number identifies.
///
/// # Errors
///
/// `EBADF` if this thread does not run that callback.
pub(crate) fn ask<R>(
    visit: *const RingwalkVisit,
    question: impl FnOnce(Current<'_>) -> Result<R, Errno>,
) -> Result<R, Errno> {
    let (number, current) = CALL.get();
    if current.is_null() || visit.addr() != number {
        return Err(Errno::BADF);
    }
    // SAFETY: not null, so set by `with` on this thread, from a borrow of a `Current` that outlives
    // the callback. The callback still runs, since `with` restores the pointer when it has
    // returned.
    #[allow(unsafe_code, reason = "a borrow that C carries through a callback")]
    let current = unsafe { *current.cast::<Current<'_>>() };
    question(current)
}
