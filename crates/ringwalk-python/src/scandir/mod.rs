//! `ringwalk.scandir`: the entries of one directory, like `os.scandir`.

mod entry;
mod status;

pub(crate) use entry::DirEntry;

use crate::errors::os_error;
use crate::names::NameKind;
use crate::waiting;
use entry::Parent;
use pyo3::exceptions::{PyOverflowError, PyResourceWarning, PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use pyo3::sync::MutexExt;
use pyo3::types::{PyBytes, PyString, PyTuple};
use ringwalk::sync::IgnorePoison;
use ringwalk::{Directory, EntryBuffer, is_local, is_local_file};
use std::ffi::{CString, OsString};
use std::os::unix::ffi::OsStringExt as _;
use std::sync::{Arc, Mutex, MutexGuard};

/// Lists a directory: returns an iterator of `DirEntry` objects, in the order of the file system.
///
/// `path` is `str`, `bytes` or path-like, or the descriptor of an open directory. Names and paths
/// are `bytes` if `path` is. The iterator has `close()`, is a context manager, and closes itself at
/// its end. An entry has `name`, `path`, `is_dir()`, `is_file()`, `is_symlink()`, `inode()` and
/// `stat()`, most of which need no further call of the kernel.
///
/// This function is for programs that list directories which may not answer: Ctrl-C ends it within
/// 50 ms, also while a FUSE or network file system hangs. It takes more processor time than
/// `os.scandir`: up to 1.4 times as much for names, and 1.2 times with `stat()` of each entry.
/// `scan` and `walk` are the fast ways.
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
        process: std::process::id(),
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

/// Duplicates the caller's descriptor, which must stay open. Both have one position, which is
/// restored at the end.
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
    /// `None` while a thread that waits for a server has it.
    directory: Option<Directory>,
    buffer: EntryBuffer,
    /// The index of the next entry in the buffer.
    next: usize,
    /// True if no entries follow the buffer.
    end: bool,
    parent: Arc<Parent>,
    given: Py<PyAny>,
    rewinds: bool,
    /// The process that opened the directory. A fork of it has the same position in it: each would
    /// get some of the entries.
    process: u32,
}

impl Scanning {
    fn is_of_this_process(&self) -> bool {
        self.process == std::process::id()
    }

    fn next(&mut self, py: Python<'_>) -> PyResult<Option<DirEntry>> {
        loop {
            if let Some(entry) = self.buffer.get(self.next) {
                self.next += 1;
                return DirEntry::new(py, &entry, &self.parent).map(Some);
            }
            if self.end {
                return Ok(None);
            }
            if !self.is_of_this_process() {
                let process = self.process;
                return Err(PyRuntimeError::new_err(format!(
                    "this directory was opened by process {process} before fork(): list it again"
                )));
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
            && self.is_of_this_process()
            && let Some(directory) = &self.directory
        {
            // It is no error if the position of the caller's descriptor cannot be restored: closing
            // has no errors.
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
            // Dropping this drops the caller's object, whose `__del__` may call this iterator.
            drop(guard);
            drop(ended);
        }
        next
    }

    /// Closes the directory and ends the iteration.
    fn close(&self, py: Python<'_>) {
        // Dropped after the lock is released, as above.
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
    /// Reads entries, and lets other threads run meanwhile.
    fn lock(&self, py: Python<'_>) -> MutexGuard<'_, Option<Scanning>> {
        let locked = self.0.lock_py_attached(py);
        locked.ignore_poison()
    }
}

impl Drop for ScandirIterator {
    /// Warns if the directory is still open, as the standard library's iterator does.
    fn drop(&mut self) {
        let state = self.0.get_mut();
        let Some(scanning) = state.ignore_poison().take() else {
            return;
        };
        Python::attach(|py| {
            // An exception may be under way here.
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
