//! The functions of the header. Each turns what C passes into Rust's terms, calls what is safe, and turns the result
//! into 0 or -errno.

#![allow(unsafe_code, reason = "exports symbols and follows pointers of C")]
#![allow(
    clippy::doc_markdown,
    reason = "the header's comments, which are no Markdown"
)]

use crate::abi::{
    RingwalkBatch, RingwalkOptions, RingwalkSummary, RingwalkVisit, RingwalkVisitor, RingwalkWalk,
};
use crate::current;
use crate::guard::{guard, guard_length};
use crate::registry::Registry;
use crate::request::{self, Refused};
use crate::{cancel, input, sized, summary};
use rustix::io::Errno;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// Opens a walk. Nothing is read yet: ringwalk_next_batch or ringwalk_run begins it. A root that cannot be read is no
/// error of this call but a batch of the walk, like everything that cannot be read.
///
/// options: what is asked for; copied. walk: set to the new walk, or to NULL if this fails. It is the caller's, who
/// closes it.
///
/// Returns 0; -EINVAL for values of options that there are not, and if there is no root; -E2BIG for options of a newer
/// version that ask for what this one does not know; -EOPNOTSUPP if the source that was named cannot be used; -EMFILE
/// if 1024 walks are open, or there is no descriptor left; -EBADF for a root descriptor that is not open. The message
/// in options says more.
///
/// # Safety
///
/// options points to a struct whose first member is its size, with strings and lists as described there; walk points to
/// a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_open(
    options: *const RingwalkOptions,
    walk: *mut *mut RingwalkWalk,
) -> c_int {
    guard(|| {
        if walk.is_null() {
            return Err(Errno::INVAL);
        }
        // SAFETY: not null, so it points to a pointer.
        unsafe { walk.write(ptr::null_mut()) };
        // SAFETY: options with their size.
        let result = unsafe { input::options(options) }.and_then(|known| {
            // SAFETY: strings and lists are as described.
            let opened = unsafe { open(&known) };
            opened.inspect_err(|refused| {
                // SAFETY: the room for a message is as described.
                unsafe {
                    input::write_message(known.message, known.message_size, &refused.message);
                }
            })
        });
        let handle = result.map_err(|refused| refused.errno)?;
        // SAFETY: as above.
        unsafe { walk.write(ptr::without_provenance_mut(handle)) };
        Ok(0)
    })
}

/// # Safety
///
/// Strings and lists in the options are as described there.
unsafe fn open(options: &RingwalkOptions) -> Result<usize, Refused> {
    // Before a walk gets its handle: whoever is forked from here on has none of them.
    let registry = Registry::current();
    // SAFETY: a list of strings, and maybe one of descriptors.
    let roots = unsafe { input::roots(options) }?;
    // SAFETY: a string, which the caller does not change during this call.
    let source = unsafe { input::source(options.source) }?;
    request::open(options, roots, source).map(|walk| registry.add_walk(walk))
}

/// Takes the next batch of a walk, which threads of the walk read ahead: some 8000 entries at most, then they wait.
///
/// A batch holds entries of one directory, the first one the roots; or an error (its kind says which). Errors come in
/// their place among the batches. Any number of batches may be held at a time, also after the walk has been closed. May
/// be called by several threads, each of which gets other batches.
///
/// batch: filled. It is the caller's, who releases it. size: sizeof *batch.
///
/// Returns 1 if there is a batch; 0 at the end, and from then on; -ECANCELED after ringwalk_cancel; -EBADF if the walk
/// is not open in this process; -EBUSY if it is being run; -EAGAIN if no thread can be started; -EINVAL for a size that
/// no version has. Without 1, batch is not to be released.
///
/// # Safety
///
/// batch points to size bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_next_batch(
    walk: *mut RingwalkWalk,
    batch: *mut RingwalkBatch,
    size: usize,
) -> c_int {
    guard(|| {
        sized::check_size(batch, size)?;
        let registry = Registry::current();
        let walk = registry.walk(walk.addr());
        let next = walk.and_then(|walk| walk.next());
        let mut view = RingwalkBatch::NONE;
        if let Ok(Some(held)) = &next {
            view = held.view();
        }
        // What C points to stays where it is when it is held.
        let more = next.map(|next| next.map(|held| view.id = registry.hold(held)).is_some());
        // SAFETY: `size` bytes, says the caller.
        unsafe { sized::write(batch, size, &view) }?;
        more.map(c_int::from)
    })
}

/// Releases a batch of ringwalk_next_batch: names, metadata and paths in it are gone. Sets its id, counts and pointers
/// to 0. Any thread.
///
/// Returns 0; -EBADF if it is not held (it was released already, by itself or through a copy of the struct, or was
/// never filled); -EINVAL for NULL.
///
/// # Safety
///
/// batch points to a batch; no other thread uses what is in it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_release(batch: *mut RingwalkBatch) -> c_int {
    guard(|| {
        if batch.is_null() {
            return Err(Errno::INVAL);
        }
        // SAFETY: not null, so it points to a batch; only its first member is looked at.
        let id = unsafe { (&raw const (*batch).id).read() };
        let held = Registry::current().release(id)?;
        // SAFETY: it was held, so it was filled by this library, which knows no smaller struct.
        unsafe { batch.write(RingwalkBatch::NONE) };
        drop(held);
        Ok(0)
    })
}

/// Has a walk end soon: ringwalk_next_batch returns -ECANCELED from now on (after 20 ms at most where it waits),
/// ringwalk_run does when the calls that it is in have returned. What was read and not taken is dropped. The walk is
/// still to be closed.
///
/// Any thread may do this, and a signal handler: no lock is taken, and errno is not touched.
///
/// Returns 0, also if it was cancelled before or is at its end; -EBADF if it is not open in this process.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_cancel(walk: *mut RingwalkWalk) -> c_int {
    // No guard: nothing here can panic, and what a guard does is not for signal handlers.
    if cancel::cancel(walk.addr()) {
        0
    } else {
        -libc::EBADF
    }
}

/// Closes a walk, wherever it is, and waits for its threads. Batches that are held stay as they are until they are
/// released. Who waits in ringwalk_next_batch on another thread is told -ECANCELED or -EBADF.
///
/// Returns 0; -EBADF if it is not open in this process: closed already, of a parent process, or not a walk; -EBUSY if
/// ringwalk_run is in it (cancel it; close it when that has returned).
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_close(walk: *mut RingwalkWalk) -> c_int {
    guard(|| {
        let registry = Registry::current();
        registry.walk(walk.addr())?.close()?;
        drop(registry.remove_walk(walk.addr()));
        Ok(0)
    })
}

/// Walks with a callback, and returns when all is done or the callback has ended the walk. It is called with batches
/// like those of ringwalk_next_batch, which are gone when it returns and are not released. The order: the batch of its
/// parent that has a directory as entry; batches of the directory; with RINGWALK_FLAG_LEAVES the end of it. Batches of
/// one wide directory may come to several workers at a time.
///
/// visitor: the callback. data: passed on to it.
///
/// Returns 0 when all is done, or the callback has said RINGWALK_STOP; the negative number that it has answered;
/// -EINVAL if it has answered anything else, or is NULL; -ECANCELED after ringwalk_cancel; -EBUSY if the walk is being
/// read or run; -EALREADY if it has been; -EBADF if it is not open in this process.
///
/// # Safety
///
/// Unless the options say one worker, the callback may be called by several threads at a time.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_run(
    walk: *mut RingwalkWalk,
    visitor: RingwalkVisitor,
    data: *mut c_void,
) -> c_int {
    guard(|| {
        // The callback and its data are passed on with the promise of the caller.
        Registry::current().walk(walk.addr())?.run(visitor, data)
    })
}

/// In a callback with entries: the descriptor of their directory, for openat(2) and its like; AT_FDCWD if they are the
/// roots. It is not the caller's: not to be closed, nor kept beyond the callback.
///
/// Returns 0; -EBADF outside of that callback, or on another thread; -EINVAL if there are no entries in the batch; what
/// opening the directory says, as some sources read it without opening it (-ENOENT if it is no longer where it was).
///
/// # Safety
///
/// descriptor points to an int.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_visit_descriptor(
    visit: *mut RingwalkVisit,
    descriptor: *mut c_int,
) -> c_int {
    guard(|| {
        if descriptor.is_null() {
            return Err(Errno::INVAL);
        }
        current::ask(visit, |current| {
            let found = current.descriptor()?;
            // SAFETY: not null, so it points to an int.
            unsafe { descriptor.write(found) };
            Ok(0)
        })
    })
}

/// In a callback with entries: does not go into the entry with this index. Changes nothing for one that is no
/// directory.
///
/// Returns 0; -EBADF outside of that callback, or on another thread; -EINVAL if there is no such entry.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_visit_prune(visit: *mut RingwalkVisit, index: usize) -> c_int {
    guard(|| current::ask(visit, |current| current.prune(index)).map(|()| 0))
}

/// In a callback: the number of the worker that makes the call, from 0. Two calls at a time never have the same one, so
/// it can be the index of what a callback keeps for itself. Numbers are smaller than the number of workers in the
/// options, without one smaller than 1024.
///
/// Returns the number; -EBADF outside of that callback, or on another thread.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_visit_worker(visit: *mut RingwalkVisit) -> c_int {
    guard(|| {
        current::ask(visit, |current| {
            c_int::try_from(current.worker()).map_err(|_| Errno::OVERFLOW)
        })
    })
}

/// The path of an entry: that of its directory, a slash, its name. Written to buffer with its NUL if there is room for
/// all of it, and not at all if there is not.
///
/// Returns its length in bytes without the NUL, also if there was no room (size 0 asks for the length); -EINVAL if
/// there is no such entry, as in a batch that has been released.
///
/// # Safety
///
/// batch points to a batch as it was filled, and that is still held or in its callback; buffer has size bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_path(
    batch: *const RingwalkBatch,
    index: usize,
    buffer: *mut c_char,
    size: usize,
) -> isize {
    guard_length(|| {
        if batch.is_null() || (buffer.is_null() && size > 0) {
            return Err(Errno::INVAL);
        }
        // SAFETY: not null, so a batch as it was filled, and room for that many bytes.
        unsafe { input::path(&*batch, index, buffer, size) }
    })
}

/// What a walk says of itself at its end: after ringwalk_next_batch has returned 0, or ringwalk_run has returned.
///
/// summary: filled. size: sizeof *summary.
///
/// Returns 0; -EAGAIN if the walk is not at its end; -ECANCELED if it was cancelled while batches were taken; -EBADF if
/// it is not open in this process; -EINVAL for a size that no version has.
///
/// # Safety
///
/// summary points to size bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_summary(
    walk: *mut RingwalkWalk,
    summary: *mut RingwalkSummary,
    size: usize,
) -> c_int {
    guard(|| {
        sized::check_size(summary, size)?;
        let known = Registry::current().walk(walk.addr())?.summary()?;
        // SAFETY: `size` bytes, says the caller.
        unsafe { sized::write(summary, size, &summary::view(&known)) }?;
        Ok(0)
    })
}

/// The version of the library, such as "0.1.0". A constant.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_version() -> *const c_char {
    const VERSION: &std::ffi::CStr = match std::ffi::CStr::from_bytes_with_nul(
        concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes(),
    ) {
        Ok(version) => version,
        Err(_) => c"",
    };
    VERSION.as_ptr()
}
