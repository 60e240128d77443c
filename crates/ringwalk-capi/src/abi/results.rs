//! What a walk gives, as C sees it.

use super::{RingwalkEntry, RingwalkVisit};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// Something that could not be read. The walk goes on.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkError {
    /// What was being done: RINGWALK_STAT, RINGWALK_OPEN, RINGWALK_READ or RINGWALK_LOOP.
    pub operation: u32,
    /// The kernel's answer, an errno (positive).
    pub code: i32,
    /// RINGWALK_VANISHED or 0.
    pub flags: u32,
    /// The path, beginning with the root as given, ended by NUL.
    pub path: *const c_char,
    /// Length of the path in bytes, without the NUL.
    pub path_length: usize,
    /// Of RINGWALK_LOOP: path of the directory that this one is once more; else NULL.
    pub loops_with: *const c_char,
    /// A sentence for people, in ASCII: bytes of the path that are not printable are escaped.
    pub message: *const c_char,
}

/// A batch: entries of one directory, or an error. All pointers are valid until the batch is released, in a callback until that
/// returns; after that, they must not be used.
///
/// Later versions may add members at the end; every function that fills a batch is told its size.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkBatch {
    /// What ringwalk_release knows it by; never given twice. 0: nothing to be released.
    pub id: u64,
    /// RINGWALK_ENTRIES, RINGWALK_ERROR or RINGWALK_LEAVE.
    pub kind: u32,
    /// Depth of the entries, 0 for roots; of RINGWALK_LEAVE that of the directory; of RINGWALK_ERROR 0.
    pub depth: u32,
    /// Place of the root in the options. Of a batch of roots: that of the first; the others follow in turn.
    pub root: usize,
    /// Path of the directory, beginning with the root as given, ended by NUL; NULL where the entries are the roots themselves, and of RINGWALK_ERROR.
    pub directory: *const c_char,
    /// Length of that path in bytes, without the NUL.
    pub directory_length: usize,
    /// The entries.
    pub entries: *const RingwalkEntry,
    /// Their number. May be 0.
    pub entry_count: usize,
    /// Of RINGWALK_ERROR: what could not be read; else NULL.
    pub error: *const RingwalkError,
}

/// What a walk says of itself at its end.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkSummary {
    /// Entries read, roots included.
    pub entries: u64,
    /// Directories opened.
    pub directories: u64,
    /// What could not be read. 0: everything was.
    pub errors: u64,
    /// Entries that vanished between being listed and being looked at. They are no errors.
    pub vanished: u64,
    /// Wall time, in nanoseconds.
    pub elapsed: u64,
    /// The source that was read from, as options name it. A constant: it stays valid.
    pub source: *const c_char,
    /// Threads that read.
    pub workers: u32,
    /// 1 if the walk was ended before everything was read; else 0.
    pub stopped: u32,
}

/// A callback: called with each batch, by several threads at a time unless the options say one worker (then by the thread
/// that called ringwalk_run only). Answers RINGWALK_CONTINUE, RINGWALK_PRUNE, RINGWALK_STOP, or a negative number: that ends the walk as well,
/// and ringwalk_run returns it. The answer to an error or to RINGWALK_LEAVE may end the walk, and RINGWALK_PRUNE changes nothing there.
///
/// It must return: no longjmp, no C++ exception.
pub type RingwalkVisitor = Option<
    unsafe extern "C" fn(
        batch: *const RingwalkBatch,
        visit: *mut RingwalkVisit,
        data: *mut c_void,
    ) -> c_int,
>;

impl RingwalkBatch {
    /// Nothing.
    pub(crate) const NONE: Self = Self {
        id: 0,
        kind: 0,
        depth: 0,
        root: 0,
        directory: ptr::null(),
        directory_length: 0,
        entries: ptr::null(),
        entry_count: 0,
        error: ptr::null(),
    };
}
