//! A batch or an error that C holds until it releases it.

use crate::abi::{
    RINGWALK_ENTRIES, RINGWALK_ERROR, RINGWALK_VANISHED, RingwalkBatch, RingwalkEntry,
    RingwalkError,
};
use ringwalk::{Error, OwnedBatch};
use std::ffi::{CStr, CString};
use std::os::unix::ffi::OsStrExt;
use std::ptr;

/// The memory that a batch of C points to. It is boxed before C sees it, and dropped when C
/// releases the batch.
#[derive(Debug)]
pub(crate) enum Held {
    Entries(Entries),
    Error(Failure),
}

impl Held {
    /// Returns the struct that C sees, without the number of the batch.
    pub(crate) fn view(&self) -> RingwalkBatch {
        match self {
            Self::Entries(entries) => entries.view(),
            Self::Error(failure) => failure.view(),
        }
    }
}

impl From<Result<OwnedBatch, Error>> for Held {
    fn from(item: Result<OwnedBatch, Error>) -> Self {
        match item {
            Ok(batch) => Self::Entries(batch.into()),
            Err(error) => Self::Error((&error).into()),
        }
    }
}

/// Entries of one directory.
#[derive(Debug)]
pub(crate) struct Entries {
    batch: OwnedBatch,
    directory: Option<CString>,
    /// The entries that C sees. They point to memory of `batch` on the heap, which does not move
    /// while the batch is not changed.
    views: Vec<RingwalkEntry>,
}

impl From<OwnedBatch> for Entries {
    fn from(batch: OwnedBatch) -> Self {
        let views = batch.entries().iter().map(RingwalkEntry::from);
        Self {
            views: views.collect(),
            directory: batch.directory().map(c_string),
            batch,
        }
    }
}

impl Entries {
    fn view(&self) -> RingwalkBatch {
        entries_view(
            self.directory.as_deref(),
            self.batch.depth(),
            self.batch.root_index(0),
            &self.views,
        )
    }
}

/// Returns the struct for a batch of entries.
pub(crate) fn entries_view(
    directory: Option<&CStr>,
    depth: usize,
    root: usize,
    entries: &[RingwalkEntry],
) -> RingwalkBatch {
    RingwalkBatch {
        kind: RINGWALK_ENTRIES,
        depth: u32::try_from(depth).unwrap_or(u32::MAX),
        root,
        directory: directory.map_or(ptr::null(), CStr::as_ptr),
        directory_length: directory.map_or(0, CStr::count_bytes),
        entries: entries.as_ptr(),
        entry_count: entries.len(),
        ..RingwalkBatch::NONE
    }
}

/// A read error as C sees it.
#[derive(Debug)]
pub(crate) struct Failure {
    _path: CString,
    _loops_with: Option<CString>,
    _message: CString,
    /// The struct, which points to the strings above. It is boxed, since C has its address.
    raw: Box<RingwalkError>,
}

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let path = c_string(error.path().as_os_str().as_bytes());
        let loops_with = error
            .loops_with()
            .map(|path| c_string(path.as_os_str().as_bytes()));
        let message = c_string(error.to_string().as_bytes());
        let raw = RingwalkError {
            operation: error.operation().number().into(),
            code: error.errno().raw_os_error(),
            flags: if error.is_vanished() {
                RINGWALK_VANISHED
            } else {
                0
            },
            path: path.as_ptr(),
            path_length: path.count_bytes(),
            loops_with: loops_with.as_deref().map_or(ptr::null(), CStr::as_ptr),
            message: message.as_ptr(),
        };
        Self {
            _path: path,
            _loops_with: loops_with,
            _message: message,
            raw: Box::new(raw),
        }
    }
}

impl Failure {
    /// Returns the struct for the error.
    pub(crate) fn view(&self) -> RingwalkBatch {
        RingwalkBatch {
            kind: RINGWALK_ERROR,
            error: &raw const *self.raw,
            ..RingwalkBatch::NONE
        }
    }
}

/// Returns bytes of the kernel or of C, which contain no NUL, as a C string.
pub(crate) fn c_string(bytes: &[u8]) -> CString {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    CString::new(&bytes[..end]).unwrap_or_default()
}
