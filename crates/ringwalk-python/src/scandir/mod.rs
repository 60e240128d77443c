//! `ringwalk.scandir`: the entries of one directory, as `os.scandir` gives them.

mod entry;
mod status;

pub(crate) use entry::DirEntry;

use crate::errors::os_error;
use crate::names::NameKind;
use crate::waiting;
use entry::Parent;
use pyo3::exceptions::{PyOverflowError, PyResourceWarning, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyString, PyTuple};
use ringwalk::{Directory, EntryBuffer, is_local, is_local_file};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Lists a directory: an iterator of `DirEntry` objects, in the order that the file system has.
///
/// `path` is `str`, `bytes` or path-like, or the descriptor of an open directory; names and paths are `bytes` if it is
/// `bytes`. The iterator has `close()`, is a context manager, and closes itself at its end. An entry tells its `name`, its
/// `path`, and by `is_dir()`, `is_file()`, `is_symlink()`, `inode()` and `stat()` what it is, mostly without asking the kernel again.
///
/// >>> import os, tempfile
/// >>> with tempfile.TemporaryDirectory() as tree:
/// ...     os.mkdir(os.path.join(tree, "d"))
/// ...     with scandir(tree) as entries:
/// ...         print([(entry.name, entry.is_dir()) for entry in entries])
/// [('d', True)]
#[pyfunction]
#[pyo3(signature = (path = None))]
pub(crate) fn scandir(py: Python<'_>, path: Option<Bound<'_, PyAny>>) -> PyResult<ScandirIterator> {
    let given = match path {
        Some(given) => given,
        None => PyString::new(py, ".").into_any(),
    };
    let is_path = given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>();
    let (directory, parent) = if !is_path && given.hasattr("__index__")? {
        open_fd(&given)?
    } else {
        open_path(&given)?
    };
    Ok(ScandirIterator(Mutex::new(Some(Scanning {
        rewinds: parent.fd.is_some(),
        directory: Some(directory),
        buffer: EntryBuffer::new(),
        next: 0,
        end: false,
        parent: Arc::new(parent),
        given: given.unbind(),
    }))))
}

fn open_path(given: &Bound<'_, PyAny>) -> PyResult<(Directory, Parent)> {
    let py = given.py();
    if !given.is_instance_of::<PyString>() && !given.is_instance_of::<PyBytes>() {
        let name = given.get_type().name();
        let name = name.map_or_else(|_| "?".into(), |name| name.to_string());
        return Err(PyTypeError::new_err(format!(
            "scandir: path should be string, bytes, os.PathLike, integer or None, not {name}"
        )));
    }
    let kind = NameKind::of(given)?;
    let bytes = kind.encode(given)?;
    let path = OsString::from_vec(bytes.clone());
    let local = is_local(&path);
    let opened = waiting::call(py, local, move || {
        let directory = Directory::open(&path)?;
        let local = local || is_local_file(&directory);
        Ok((directory, local))
    });
    let (directory, local) = opened?.map_err(|errno| os_error(errno, given))?;
    let parent = Parent {
        kind,
        path: bytes,
        fd: None,
        local,
    };
    Ok((directory, parent))
}

/// A duplicate, as closing it must not close the caller's. Both have one position, which is set back at the end.
fn open_fd(given: &Bound<'_, PyAny>) -> PyResult<(Directory, Parent)> {
    let py = given.py();
    let number = py.import("operator")?.call_method1("index", (given,))?;
    let fd: i32 = number
        .extract()
        .map_err(|_| PyOverflowError::new_err("fd is out of range"))?;
    let directory = Directory::of_number(fd).map_err(|errno| os_error(errno, given))?;
    let parent = Parent {
        kind: NameKind::text(py)?,
        path: Vec::new(),
        fd: Some(fd),
        local: is_local_file(&directory),
    };
    Ok((directory, parent))
}

/// The iterator that `scandir` returns.
#[pyclass(module = "ringwalk", frozen)]
pub(crate) struct ScandirIterator(Mutex<Option<Scanning>>);

/// A directory that has not been read to its end.
struct Scanning {
    /// `None` when a thread has it that waits for a server.
    directory: Option<Directory>,
    buffer: EntryBuffer,
    /// The next entry of the buffer.
    next: usize,
    /// There is nothing behind the buffer.
    end: bool,
    parent: Arc<Parent>,
    given: Py<PyAny>,
    rewinds: bool,
}

impl Scanning {
    fn next(&mut self, py: Python<'_>) -> PyResult<Option<DirEntry>> {
        loop {
            if let Some(entry) = self.buffer.get(self.next) {
                self.next += 1;
                return DirEntry::new(py, &entry, &self.parent).map(Some);
            }
            if self.end {
                return Ok(None);
            }
            let Some(directory) = self.directory.take() else {
                return Ok(None);
            };
            let mut buffer = std::mem::take(&mut self.buffer);
            let read = waiting::call(py, self.parent.local, move || {
                let read = directory.read(&mut buffer);
                (directory, buffer, read)
            });
            let (directory, buffer, end) = read?;
            (self.directory, self.buffer, self.next) = (Some(directory), buffer, 0);
            self.end = end.map_err(|errno| os_error(errno, self.given.bind(py)))?;
        }
    }
}

impl Drop for Scanning {
    fn drop(&mut self) {
        if self.rewinds
            && let Some(directory) = &self.directory
        {
            // Nobody is told if the caller's descriptor cannot go back: closing has no errors.
            let _ = directory.rewind();
        }
    }
}

#[pymethods]
impl ScandirIterator {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<DirEntry>> {
        let mut guard = self.lock(py);
        let Some(scanning) = guard.as_mut() else {
            return Ok(None);
        };
        let next = scanning.next(py);
        if !matches!(next, Ok(Some(_))) {
            let ended = guard.take();
            // With it goes what the caller gave, which may have a `__del__` that comes back here.
            drop(guard);
            drop(ended);
        }
        next
    }

    /// Closes the directory: there are no more entries.
    fn close(&self, py: Python<'_>) {
        // Dropped when the lock is free again, as above.
        let ended = self.lock(py).take();
        drop(ended);
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}

impl ScandirIterator {
    /// Without keeping other threads from running while one reads.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Scanning>> {
        let locked = self.0.lock_py_attached(py);
        locked.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ScandirIterator {
    /// Warns if the directory is still open, as the standard library's iterator does.
    fn drop(&mut self) {
        let state = self.0.get_mut();
        let Some(scanning) = state.unwrap_or_else(PoisonError::into_inner).take() else {
            return;
        };
        Python::attach(|py| {
            // This may happen while an exception is on its way.
            let pending = PyErr::take(py);
            let given = scanning.given.bind(py);
            let message = format!("unclosed scandir iterator of {given:?}\0");
            let message = CString::from_vec_with_nul(message.into_bytes()).unwrap_or_default();
            let category = py.get_type::<PyResourceWarning>();
            if let Err(error) = PyErr::warn(py, &category, &message, 1) {
                error.write_unraisable(py, Some(given));
            }
            if let Some(pending) = pending {
                pending.restore(py);
            }
        });
    }
}
