//! The functions of the header. Each converts the arguments of C, calls safe code, and returns 0 or
//! -errno.

#![allow(unsafe_code, reason = "exports symbols and follows pointers of C")]
#![allow(
    clippy::doc_markdown,
    reason = "the header's comments, which are no Markdown"
)]

use crate::abi::{
    RingwalkBatch, RingwalkLeftover, RingwalkOptions, RingwalkSummary, RingwalkVisit,
    RingwalkVisitor, RingwalkWalk,
};
use crate::current;
use crate::guard::{guard, guard_length};
use crate::registry::Registry;
use crate::request::{self, Refused};
use crate::{cancel, input, sized, summary};
use rustix::io::Errno;
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// Opens a walk.
///
/// This call reads nothing: ringwalk_next_batch or ringwalk_run begins the walk. A root that cannot
/// be read is no error of this call. It comes as a batch of the walk, like every read error.
///
/// - options: the options, which are copied.
/// - walk: is set to the new walk, or to NULL if the call fails. The caller closes the walk with
///   ringwalk_close.
///
/// # Return value
///
/// 0, or an error. Options can name a buffer that receives a sentence about the error.
///
/// # Errors
///
/// - -EINVAL: an option has a value that does not exist, there is no root, no walk of these roots
///   can have made one of the leftovers, or no version has options of this size.
/// - -E2BIG: options of a newer version ask for something that this version does not know.
/// - -EOPNOTSUPP: the source that the options name cannot be used.
/// - -EMFILE: 1024 walks are open, or no descriptor is left.
/// - -EBADF: a root descriptor is not open.
///
/// # Safety
///
/// options points to a struct whose first member is its size, with strings and lists as described
/// there. walk points to a pointer.
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
    // Is called before the walk gets its handle: a child that is forked from here on has no handle
    // of this process.
    let registry = Registry::current();
    // SAFETY: a list of strings, and maybe one of descriptors.
    let roots = unsafe { input::roots(options) }?;
    // SAFETY: a string, which the caller does not change during this call.
    let source = unsafe { input::source(options.source) }?;
    // SAFETY: NULL, or a list of leftovers.
    let resume = unsafe { input::resume(options, roots.len()) }?;
    request::open(options, roots, source, resume).map(|walk| registry.add_walk(walk))
}

/// Waits for the next batch of a walk and fills a struct with it.
///
/// Threads of the walk read ahead, up to about 8000 entries, and then wait. A batch holds entries
/// of one directory, or an error; its kind says which. The first batch holds the roots. Errors come
/// in their place among the batches. A program can hold any number of batches at a time, also after
/// it has closed the walk. Several threads can call this function for one walk; each gets other
/// batches.
///
/// - batch: is filled. The caller releases the batch with ringwalk_release.
/// - size: sizeof *batch.
///
/// # Return value
///
/// 1 if there is a batch. 0 at the end of the walk, and in all later calls. Only after 1 is there a
/// batch to release.
///
/// # Errors
///
/// - -ECANCELED: the walk was cancelled.
/// - -EBADF: the walk is not open in this process.
/// - -EBUSY: ringwalk_run runs the walk.
/// - -EAGAIN: no thread could be started.
/// - -EINVAL: no version of the struct has this size.
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
        // The memory that C points to does not move when the batch is held.
        let more = next.map(|next| next.map(|held| view.id = registry.hold(held)).is_some());
        // SAFETY: `size` bytes, says the caller.
        unsafe { sized::write(batch, size, &view) }?;
        more.map(c_int::from)
    })
}

/// Releases a batch of ringwalk_next_batch: frees its names, metadata and paths.
///
/// Sets the id, the counts and the pointers of the batch to 0. Any thread can call this function.
///
/// # Return value
///
/// 0, or an error.
///
/// # Errors
///
/// - -EBADF: the batch is not held. It was released before, directly or through a copy of the
///   struct, or it was never filled.
/// - -EINVAL: batch is NULL.
///
/// # Safety
///
/// batch points to a batch. No other thread uses the contents of the batch.
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

/// Cancels a walk, which then ends soon.
///
/// From now on ringwalk_next_batch returns -ECANCELED; a call that waits does so within 20 ms.
/// ringwalk_run returns -ECANCELED when the callbacks under way have returned. Batches that were
/// read and not delivered are dropped. The caller still closes the walk.
///
/// Any thread and any signal handler can call this function: it takes no lock and leaves errno
/// alone.
///
/// # Return value
///
/// 0, also if the walk was cancelled before or is at its end; or an error.
///
/// # Errors
///
/// - -EBADF: the walk is not open in this process.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_cancel(walk: *mut RingwalkWalk) -> c_int {
    // No guard: nothing here can panic, and what a guard does is not for signal handlers.
    if cancel::cancel(walk.addr()) {
        0
    } else {
        -libc::EBADF
    }
}

/// Closes a walk at any point of it, and waits for its threads.
///
/// Batches that the program holds stay valid until it releases them. A call of ringwalk_next_batch
/// that waits on another thread returns -ECANCELED or -EBADF.
///
/// # Return value
///
/// 0, or an error.
///
/// # Errors
///
/// - -EBADF: the walk is not open in this process. It was closed before, belongs to a parent
///   process, or is no walk.
/// - -EBUSY: ringwalk_run runs the walk. Cancel the walk, and close it when ringwalk_run has
///   returned.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_close(walk: *mut RingwalkWalk) -> c_int {
    guard(|| {
        let registry = Registry::current();
        registry.walk(walk.addr())?.close()?;
        drop(registry.remove_walk(walk.addr()));
        Ok(0)
    })
}

/// Runs a walk with a callback. Returns when the walk or the callback has ended it.
///
/// The callback gets batches as from ringwalk_next_batch. They are valid until it returns, and are
/// not released. For each directory, the calls come in this order: the batch of the parent that has
/// the directory as an entry; the batches of the directory; with RINGWALK_FLAG_LEAVES, the end of
/// the directory. Several workers can get batches of one wide directory at the same time.
///
/// - visitor: the callback.
/// - data: is passed to each call.
///
/// # Return value
///
/// 0 if the walk is at its end, or the callback has answered RINGWALK_STOP. The negative number
/// that the callback has answered. Or an error.
///
/// # Errors
///
/// - -EINVAL: visitor is NULL, or the callback has answered a number that has no meaning.
/// - -ECANCELED: the walk was cancelled.
/// - -EBUSY: the walk is being read or run.
/// - -EALREADY: the walk has been read or run before.
/// - -EBADF: the walk is not open in this process.
///
/// # Safety
///
/// Unless the options say one worker, several threads can call the callback at the same time.
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

/// Gets the descriptor of the directory whose entries a callback was called with.
///
/// The descriptor is for openat(2) and similar calls. It is AT_FDCWD if the entries are the roots.
/// It belongs to the walk: the caller must not close it, nor keep it after the callback has
/// returned.
///
/// - descriptor: is set to the descriptor.
///
/// # Return value
///
/// 0, or an error. Some sources read a directory without opening it. This call then opens the
/// directory, and can fail with any error of openat(2).
///
/// # Errors
///
/// - -EBADF: the thread is not in the callback that visit belongs to.
/// - -EINVAL: the batch has no entries.
/// - -ENOENT: the directory is no longer where it was.
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

/// Keeps the walk, in a callback, from going into one of the entries.
///
/// For an entry that is no directory, this changes nothing.
///
/// - index: the position of the entry in the batch, from 0.
///
/// # Return value
///
/// 0, or an error.
///
/// # Errors
///
/// - -EBADF: the thread is not in the callback that visit belongs to.
/// - -EINVAL: the batch has no such entry.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_visit_prune(visit: *mut RingwalkVisit, index: usize) -> c_int {
    guard(|| current::ask(visit, |current| current.prune(index)).map(|()| 0))
}

/// Returns the number of the worker that makes a callback, from 0.
///
/// Two callbacks at the same time never have the same number. So a program can use the number as an
/// index of data that each worker keeps for itself. Numbers are smaller than the number of workers
/// in the options; if the options leave that open, smaller than 1024.
///
/// # Return value
///
/// The number, or an error.
///
/// # Errors
///
/// - -EBADF: the thread is not in the callback that visit belongs to.
#[unsafe(no_mangle)]
pub extern "C" fn ringwalk_visit_worker(visit: *mut RingwalkVisit) -> c_int {
    guard(|| {
        current::ask(visit, |current| {
            c_int::try_from(current.worker()).map_err(|_| Errno::OVERFLOW)
        })
    })
}

/// Writes the path of an entry: the path of its directory, a slash, and its name.
///
/// Writes the whole path and its NUL to the buffer, or nothing if the buffer is too small.
///
/// - index: the position of the entry in the batch, from 0.
/// - buffer: receives the path. It can be NULL if size is 0.
/// - size: the size of the buffer in bytes.
///
/// # Return value
///
/// The length of the path in bytes without the NUL, also if the buffer is too small. Or an error.
///
/// # Errors
///
/// - -EINVAL: the batch has no such entry. A released batch has none.
///
/// # Safety
///
/// batch points to a batch as it was filled, and it is still held, or the callback that got it has
/// not returned. buffer has size bytes.
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

/// Gets the summary of a walk that has ended.
///
/// A walk has ended when ringwalk_next_batch has returned 0, or ringwalk_run has returned.
///
/// - summary: is filled.
/// - size: sizeof *summary.
///
/// # Return value
///
/// 0, or an error.
///
/// # Errors
///
/// - -EAGAIN: the walk has not ended.
/// - -ECANCELED: the walk was cancelled while batches were read.
/// - -EBADF: the walk is not open in this process.
/// - -EINVAL: no version of the struct has this size.
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

/// Gets what a walk has left over: directories, and rests of directories, that it has not read
/// because its budget was spent.
///
/// A walk has ended when ringwalk_next_batch has returned 0, or ringwalk_run has returned. Without
/// a budget nothing is left over. Another walk of the same roots goes on with the list (members
/// resume and resume_count of the options). If each walk goes on with all that the walk before has
/// left over, until nothing is left, then all walks together deliver each entry once.
///
/// - leftovers: is set to the list, which stays valid until ringwalk_close. It is not NULL if the
///   count is 0.
/// - count: is set to the number of leftovers.
///
/// # Return value
///
/// 0, or an error. After an error the list is NULL, and the count 0.
///
/// # Errors
///
/// - -EAGAIN: the walk has not ended.
/// - -ECANCELED: the walk was cancelled, or ended by its callback. Its leftovers are not known.
/// - -EBADF: the walk is not open in this process.
/// - -EINVAL: leftovers or count is NULL.
///
/// # Safety
///
/// leftovers points to a pointer, and count to a size_t. No other thread closes the walk while the
/// list is used.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ringwalk_leftovers(
    walk: *mut RingwalkWalk,
    leftovers: *mut *const RingwalkLeftover,
    count: *mut usize,
) -> c_int {
    guard(|| {
        if leftovers.is_null() || count.is_null() {
            return Err(Errno::INVAL);
        }
        let registry = Registry::current();
        let found = registry.walk(walk.addr()).and_then(|walk| walk.leftovers());
        let (list, number) = *found.as_ref().unwrap_or(&(ptr::null(), 0));
        // SAFETY: not null, so they point to a pointer and a number.
        unsafe {
            leftovers.write(list);
            count.write(number);
        }
        found.map(|_| 0)
    })
}

/// Returns the version of the library, such as "0.1.0".
///
/// # Return value
///
/// A constant string, which stays valid.
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
