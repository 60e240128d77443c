//! Reads and writes the memory that C's pointers point to.

#![allow(
    unsafe_code,
    reason = "follows pointers of C; each function says what C must promise"
)]

use crate::abi::{RingwalkBatch, RingwalkLeftover, RingwalkOptions, RingwalkSummary};
use crate::leftovers;
use crate::request::Refused;
use crate::sized::{self, Plain};
use ringwalk::{Leftover, Root};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use std::ffi::{CStr, OsStr, c_char};
use std::mem::offset_of;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::ptr;

// SAFETY: repr(C), of integers and pointers.
unsafe impl Plain for RingwalkOptions {
    const FIRST: usize = offset_of!(Self, descriptor_reserve);
}

// SAFETY: repr(C), of integers and pointers.
unsafe impl Plain for RingwalkBatch {
    const FIRST: usize = size_of::<Self>();
}

// SAFETY: repr(C), of integers and pointers.
unsafe impl Plain for RingwalkSummary {
    const FIRST: usize = size_of::<Self>();
}

/// Returns the options. Members that the program's header does not have are zero.
///
/// # Safety
///
/// `from` is NULL, or points to a size and to as many bytes as the size says, aligned for the
/// struct.
pub(crate) unsafe fn options(from: *const RingwalkOptions) -> Result<RingwalkOptions, Refused> {
    if from.is_null() {
        return Err(Refused::new(Errno::INVAL, "there are no options"));
    }
    // SAFETY: `from` points to a size (the caller's promise).
    let size = unsafe { (&raw const (*from).size).read() };
    // SAFETY: `from` points to as many bytes as the size says (the same promise).
    unsafe { sized::read(from, size) }.map_err(|errno| {
        let why = match errno {
            Errno::TOOBIG => {
                "the options have a member that this version of the library does not know"
            }
            _ => "no version of the library has options of this size",
        };
        Refused::new(errno, why)
    })
}

/// Returns the roots.
///
/// # Safety
///
/// `roots` is NULL, or points to a list of strings that NULL ends. `root_descriptors` is NULL, or
/// has as many descriptors.
pub(crate) unsafe fn roots(options: &RingwalkOptions) -> Result<Vec<Root>, Refused> {
    let mut roots = Vec::new();
    if options.roots.is_null() {
        return Ok(roots);
    }
    loop {
        // SAFETY: the list continues up to its NULL, which has not been reached.
        let path = unsafe { *options.roots.add(roots.len()) };
        if path.is_null() {
            return Ok(roots);
        }
        // SAFETY: a string that ends with NUL; it is copied before the caller can change it.
        let path = Path::new(OsStr::from_bytes(
            unsafe { CStr::from_ptr(path) }.to_bytes(),
        ));
        let descriptor = match options.root_descriptors {
            list if list.is_null() => -1,
            // SAFETY: there are as many descriptors as roots.
            list => unsafe { *list.add(roots.len()) },
        };
        let root = if descriptor < 0 {
            Root::from(path)
        } else {
            // SAFETY: not negative. If no descriptor with this number is open, the next call fails
            // and does nothing else.
            let borrowed = unsafe { BorrowedFd::borrow_raw(descriptor) };
            let own = fcntl_dupfd_cloexec(borrowed, 0).map_err(|errno| {
                Refused::new(
                    errno,
                    format!("descriptor {descriptor}: {}", std::io::Error::from(errno)),
                )
            })?;
            Root::from_fd(own, path)
        };
        roots.push(root);
    }
}

/// Returns the name of the source; `None` if the options have none.
///
/// # Safety
///
/// `name` is NULL, or a string that ends with NUL, for as long as the result is used.
pub(crate) unsafe fn source<'a>(name: *const c_char) -> Result<Option<&'a str>, Refused> {
    if name.is_null() {
        return Ok(None);
    }
    // SAFETY: a string that ends with NUL (the caller's promise).
    let name = unsafe { CStr::from_ptr(name) };
    let text = name
        .to_str()
        .map_err(|_| Refused::value("source", format_args!("{name:?}"), "the name of a source"))?;
    Ok(Some(text))
}

/// Returns the leftovers that the walk goes on with; `None` if it begins with its roots.
///
/// # Safety
///
/// `resume` is NULL, or points to `resume_count` leftovers, whose paths are NULL, or strings that
/// end with NUL.
pub(crate) unsafe fn resume(
    options: &RingwalkOptions,
    roots: usize,
) -> Result<Option<Vec<Leftover>>, Refused> {
    let count = options.resume_count;
    if options.resume.is_null() {
        return match count {
            0 => Ok(None),
            _ => Err(Refused::value("resume", "NULL", "a list of resume_count")),
        };
    }
    if count > isize::MAX as usize / size_of::<RingwalkLeftover>() {
        let expected = "the number of leftovers at resume";
        return Err(Refused::value("resume_count", count, expected));
    }
    // SAFETY: so many leftovers (the caller's promise), which are no larger than memory can be.
    let list = unsafe { std::slice::from_raw_parts(options.resume, count) };
    let mut leftovers = Vec::with_capacity(count);
    for (index, raw) in list.iter().enumerate() {
        if raw.path.is_null() {
            let member = format!("resume[{index}].path");
            return Err(Refused::value(&member, "NULL", "a path"));
        }
        // SAFETY: a string that ends with NUL; it is copied before the caller can change it.
        let path = unsafe { CStr::from_ptr(raw.path) };
        leftovers.push(leftovers::leftover(raw, path, index, roots)?);
    }
    Ok(Some(leftovers))
}

/// Writes a sentence that ends with NUL and is cut to fit.
///
/// # Safety
///
/// `to` is NULL, or `size` bytes there can be written.
pub(crate) unsafe fn write_message(to: *mut c_char, size: usize, message: &str) {
    if to.is_null() || size == 0 {
        return;
    }
    let length = message.len().min(size - 1);
    // SAFETY: `length + 1` bytes, which is no more than `size`.
    unsafe {
        ptr::copy_nonoverlapping(message.as_ptr(), to.cast::<u8>(), length);
        *to.add(length) = 0;
    }
}

/// Writes the path of an entry with its NUL if there is room for all of it. Returns its length
/// without the NUL.
///
/// # Safety
///
/// `batch` is unchanged since it was filled, and not released. `size` bytes at `buffer` can be
/// written.
pub(crate) unsafe fn path(
    batch: &RingwalkBatch,
    index: usize,
    buffer: *mut c_char,
    size: usize,
) -> Result<usize, Errno> {
    if batch.entries.is_null() || index >= batch.entry_count {
        return Err(Errno::INVAL);
    }
    // SAFETY: there are more entries than `index`.
    let entry = unsafe { &*batch.entries.add(index) };
    // SAFETY: the pointers and lengths have not changed since the batch was filled. The length of
    // the directory is 0 where its pointer is NULL.
    let (directory, name) = unsafe {
        (
            bytes(batch.directory, batch.directory_length),
            bytes(entry.name, entry.name_length),
        )
    };
    let slash: &[u8] = if directory.is_empty() || directory.ends_with(b"/") {
        b""
    } else {
        b"/"
    };
    let parts = [directory, slash, name, b"\0"];
    let length: usize = parts.iter().map(|part| part.len()).sum();
    if length <= size {
        let mut at = buffer.cast::<u8>();
        for part in parts {
            // SAFETY: all parts together are no longer than `size`. Names do not lie in a buffer
            // that the caller may write to.
            unsafe {
                ptr::copy_nonoverlapping(part.as_ptr(), at, part.len());
                at = at.add(part.len());
            }
        }
    }
    Ok(length - 1)
}

/// # Safety
///
/// `length` bytes at `from` can be read for as long as the result is used; or `from` is NULL and
/// `length` 0.
unsafe fn bytes<'a>(from: *const c_char, length: usize) -> &'a [u8] {
    if from.is_null() {
        return b"";
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from.cast(), length) }
}
