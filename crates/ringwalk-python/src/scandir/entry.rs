//! One entry of a directory, as `os.DirEntry`.

use crate::names::NameKind;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyType};
use ringwalk::{EntryRef, FileType, path_below};
use std::sync::Arc;

/// The bits of `st_mode` that tell the type, and their values: inode(7).
const S_IFMT: u32 = 0o170_000;
const S_IFDIR: u32 = 0o040_000;
const S_IFREG: u32 = 0o100_000;
const S_IFLNK: u32 = 0o120_000;

/// What the entries of one directory have in common.
pub(super) struct Parent {
    pub(super) kind: NameKind,
    /// Path as it was given; empty for a descriptor.
    pub(super) path: Vec<u8>,
    /// The caller's descriptor, which has to be open still when an entry is asked for its metadata.
    pub(super) fd: Option<i32>,
}

/// An entry of a directory, as `os.DirEntry` is; `scandir` gives them.
#[pyclass(module = "ringwalk", frozen)]
pub(crate) struct DirEntry {
    name: Py<PyAny>,
    file_type: FileType,
    ino: u64,
    parent: Arc<Parent>,
    path: PyOnceLock<Py<PyAny>>,
    /// `os.stat_result` of what a link leads to,
    stat: PyOnceLock<Py<PyAny>>,
    /// and of the entry itself.
    lstat: PyOnceLock<Py<PyAny>>,
}

/// An option may be anything true or false, as those of `os.DirEntry` may.
fn truth(option: &Bound<'_, PyAny>) -> PyResult<bool> {
    option.is_truthy()
}

impl DirEntry {
    pub(super) fn new(
        py: Python<'_>,
        entry: &EntryRef<'_>,
        parent: &Arc<Parent>,
    ) -> PyResult<Self> {
        Ok(Self {
            name: parent.kind.object(py, entry.name())?.unbind(),
            file_type: entry.file_type(),
            ino: entry.ino(),
            parent: Arc::clone(parent),
            path: PyOnceLock::new(),
            stat: PyOnceLock::new(),
            lstat: PyOnceLock::new(),
        })
    }

    /// Asks the kernel.
    fn fetch(&self, py: Python<'_>, follow: bool) -> PyResult<Py<PyAny>> {
        let arguments = PyDict::new(py);
        arguments.set_item("follow_symlinks", follow)?;
        if let Some(fd) = self.parent.fd {
            arguments.set_item("dir_fd", fd)?;
        }
        let stat = py.import("os")?.getattr("stat")?;
        Ok(stat.call((self.path(py)?,), Some(&arguments))?.unbind())
    }

    fn lstat<'s>(&'s self, py: Python<'_>) -> PyResult<&'s Py<PyAny>> {
        self.lstat.get_or_try_init(py, || self.fetch(py, false))
    }

    /// Whether it is of the type with these bits of the mode.
    fn is_of(&self, py: Python<'_>, type_bits: u32, follow: bool) -> PyResult<bool> {
        let is_link = self.file_type == FileType::Symlink;
        if self.file_type != FileType::Unknown && !(follow && is_link) {
            return Ok(self.file_type == FileType::from_mode(type_bits));
        }
        let stat = match self.stat(py, follow) {
            Ok(stat) => stat,
            // Deleted since, or a link that leads nowhere.
            Err(error) if error.is_instance_of::<PyFileNotFoundError>(py) => return Ok(false),
            Err(error) => return Err(error),
        };
        let mode: u32 = stat.getattr(py, "st_mode")?.extract(py)?;
        Ok(mode & S_IFMT == type_bits)
    }
}

#[pymethods]
impl DirEntry {
    /// Its name, without any path.
    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyAny> {
        self.name.clone_ref(py)
    }

    /// Its path: the one that `scandir` was given, and its name. Only the name if that was a descriptor.
    #[getter]
    fn path(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        if self.parent.fd.is_some() {
            return Ok(self.name.clone_ref(py));
        }
        let path = self.path.get_or_try_init(py, || {
            let kind = &self.parent.kind;
            let name = kind.encode(self.name.bind(py))?;
            let path = path_below(&self.parent.path, &name);
            kind.object(py, &path).map(Bound::unbind)
        })?;
        Ok(path.clone_ref(py))
    }

    /// Its inode number, as the directory has it.
    fn inode(&self) -> u64 {
        self.ino
    }

    /// Whether it is a directory, or a link to one unless links are not to be followed.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_dir(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_of(py, S_IFDIR, follow_symlinks)
    }

    /// Whether it is a regular file, or a link to one unless links are not to be followed.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_file(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_of(py, S_IFREG, follow_symlinks)
    }

    /// Whether it is a symbolic link.
    fn is_symlink(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_of(py, S_IFLNK, false)
    }

    /// Whether it is a junction, which only Windows has.
    #[allow(clippy::unused_self)]
    fn is_junction(&self) -> bool {
        false
    }

    /// Its `os.stat_result`, or that of what a link leads to. The kernel is asked once; ask `os.stat` for what has changed since.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn stat(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<Py<PyAny>> {
        if !follow_symlinks {
            return self.lstat(py).map(|stat| stat.clone_ref(py));
        }
        let stat = self.stat.get_or_try_init(py, || {
            if self.is_symlink(py)? {
                self.fetch(py, true)
            } else {
                self.lstat(py).map(|stat| stat.clone_ref(py))
            }
        })?;
        Ok(stat.clone_ref(py))
    }

    fn __fspath__(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        self.path(py)
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!("<DirEntry {}>", self.name.bind(py).repr()?))
    }

    /// `DirEntry[str]`, for annotations.
    #[classmethod]
    #[pyo3(signature = (item, /))]
    fn __class_getitem__<'py>(
        class: &Bound<'py, PyType>,
        item: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = class.py();
        py.import("types")?
            .getattr("GenericAlias")?
            .call1((class, item))
    }
}
