//! What a walk gives, as C sees it.

use super::{RingwalkEntry, RingwalkVisit};
use std::ffi::{c_char, c_int, c_void};
use std::ptr;

/// A read error. The walk continues after it.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkError {
    /// The operation that failed: RINGWALK_STAT, RINGWALK_OPEN, RINGWALK_READ or RINGWALK_LOOP.
    pub operation: u32,
    /// The kernel's error number (positive).
    pub code: i32,
    /// RINGWALK_VANISHED or 0.
    pub flags: u32,
    /// The path, which begins with the root as given and ends with NUL.
    pub path: *const c_char,
    /// Length of the path in bytes, without the NUL.
    pub path_length: usize,
    /// For RINGWALK_LOOP: the path of the directory that this one is the same as; else NULL.
    pub loops_with: *const c_char,
    /// The error as a sentence, in ASCII: bytes of the path that are not printable are escaped.
    pub message: *const c_char,
}

/// A batch: entries of one directory, or an error. All pointers are valid until the batch is
/// released; in a callback, until the callback returns.
///
/// Later versions may add members at the end; every function that fills a batch takes its size.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkBatch {
    /// Number that ringwalk_release identifies the batch by. No number is used twice. 0: there is
    /// nothing to release.
    pub id: u64,
    /// RINGWALK_ENTRIES, RINGWALK_ERROR or RINGWALK_LEAVE.
    pub kind: u32,
    /// Depth of the entries, 0 for roots. For RINGWALK_LEAVE, the depth of the directory; for
    /// RINGWALK_ERROR, 0.
    pub depth: u32,
    /// Index of the root in the options. For a batch of roots, the index of the first; the others
    /// follow in order.
    pub root: usize,
    /// Path of the directory, which begins with the root as given and ends with NUL. NULL if the
    /// entries are the roots themselves, and for RINGWALK_ERROR.
    pub directory: *const c_char,
    /// Length of that path in bytes, without the NUL.
    pub directory_length: usize,
    /// The entries.
    pub entries: *const RingwalkEntry,
    /// Number of entries. It can be 0.
    pub entry_count: usize,
    /// For RINGWALK_ERROR: the error; else NULL.
    pub error: *const RingwalkError,
}

/// Summary of a walk that has ended.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkSummary {
    /// Entries read, roots included.
    pub entries: u64,
    /// Directories opened.
    pub directories: u64,
    /// Number of read errors. If errors and stopped are 0, the walk read everything.
    pub errors: u64,
    /// Entries that vanished after their directory listed them. These are no errors.
    pub vanished: u64,
    /// Wall time, in nanoseconds.
    pub elapsed: u64,
    /// The source that the walk read from, as options name it. A constant, which stays valid.
    pub source: *const c_char,
    /// Number of threads that read.
    pub workers: u32,
    /// 1 if the walk was ended before it had read everything, also if its budget was spent; else 0.
    pub stopped: u32,
}

/// A callback. The walk calls it with each batch. Several threads call it at a time, unless the
/// options say one worker; then only the thread that called ringwalk_run does.
///
/// The callback answers RINGWALK_CONTINUE, RINGWALK_PRUNE, RINGWALK_STOP, or a negative number. A
/// negative number ends the walk, and ringwalk_run returns it. The answers to an error and to
/// RINGWALK_LEAVE can end the walk; RINGWALK_PRUNE changes nothing there.
///
/// The callback must return: it must not use longjmp or throw a C++ exception.
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
