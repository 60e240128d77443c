//! Metadata of an entry as `os.stat_result`, without `os.stat`.
//!
//! This module makes the system call with the interpreter detached. `os.stat` detaches by itself
//! and attaches again below frames of Rust. Before Python 3.14 that ends the thread if the
//! interpreter is ending, and a thread that is ended below frames of Rust ends the process.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use ringwalk::{Errno, Fields, FileType, Metadata, Timestamp};
use std::ffi::OsStr;
use std::os::fd::RawFd;
use std::os::unix::ffi::OsStrExt as _;

/// The fields that `os.stat` asks for: STATX_BASIC_STATS.
const FIELDS: Fields = Fields::from_bits_truncate(0x07ff);

/// The metadata of a file.
pub(super) struct Status {
    file_type: FileType,
    object: Py<PyAny>,
}

/// Calls the kernel. A relative path is below the directory with the descriptor `base`, if there is
/// one.
pub(super) fn ask(base: Option<RawFd>, path: &[u8], follow: bool) -> Result<Metadata, Errno> {
    Metadata::of_path(base, OsStr::from_bytes(path), follow, FIELDS)
}

impl Status {
    pub(super) fn new(py: Python<'_>, metadata: Metadata) -> PyResult<Self> {
        Ok(Self {
            file_type: metadata.file_type(),
            object: stat_result(py, &metadata)?.unbind(),
        })
    }

    pub(super) fn file_type(&self) -> FileType {
        self.file_type
    }

    pub(super) fn object(&self, py: Python<'_>) -> Py<PyAny> {
        self.object.clone_ref(py)
    }
}

/// Returns an `os.stat_result`. Its first ten fields are the items of the tuple; the others have
/// names only. This runs no code in Python.
fn stat_result<'py>(py: Python<'py>, found: &Metadata) -> PyResult<Bound<'py, PyAny>> {
    static CLASS: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let class = CLASS.import(py, "os", "stat_result")?;
    let known = "every file has these fields";
    let integers = [
        u64::from(found.mode().expect(known)),
        found.ino().expect(known),
        found.dev().expect(known),
        u64::from(found.nlink().expect(known)),
        u64::from(found.uid().expect(known)),
        u64::from(found.gid().expect(known)),
        found.size().expect(known),
    ];
    let times = [found.atime(), found.mtime(), found.ctime()].map(|time| time.expect(known));
    let last = [
        u64::from(found.block_size().unwrap_or(0)),
        found.blocks().expect(known),
        found.rdev().expect(known),
    ];
    let mut fields = Vec::with_capacity(19);
    for integer in integers {
        fields.push(integer.into_pyobject(py)?.into_any());
    }
    for time in times {
        fields.push(time.secs.into_pyobject(py)?.into_any());
    }
    for time in times {
        fields.push(seconds(time).into_pyobject(py)?.into_any());
    }
    for time in times {
        let nanoseconds = i128::from(time.secs) * 1_000_000_000 + i128::from(time.nanos);
        // Only times before 1677 and after 2262 do not fit in 64 bits.
        fields.push(match i64::try_from(nanoseconds) {
            Ok(nanoseconds) => nanoseconds.into_pyobject(py)?.into_any(),
            Err(_) => nanoseconds.into_pyobject(py)?.into_any(),
        });
    }
    for integer in last {
        fields.push(integer.into_pyobject(py)?.into_any());
    }
    class.call1((PyTuple::new(py, fields)?,))
}

/// Returns seconds since 1970 as `os.stat` computes them.
#[expect(
    clippy::cast_precision_loss,
    reason = "a float is what st_mtime is; st_mtime_ns has all digits"
)]
fn seconds(time: Timestamp) -> f64 {
    time.secs as f64 + 1e-9 * f64::from(time.nanos)
}
