//! An entry of a directory, like `os.DirEntry`.

use super::status::{self, Status};
use crate::errors::os_error;
use crate::names::NameKind;
use crate::waiting;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use ringwalk::{EntryRef, Errno, FileType, path_below};
use std::sync::Arc;

/// The data that the entries of one directory share.
pub(super) struct Parent {
    pub(super) kind: NameKind,
    /// The path as given; empty for a descriptor.
    pub(super) path: Vec<u8>,
    /// The caller's descriptor, which must still be open when an entry needs metadata.
    pub(super) fd: Option<i32>,
    /// True if the directory is not on a file system that asks a server. An entry still may be, if
    /// it is a mount point or a link.
    pub(super) local: bool,
}

/// An entry of a directory, like `os.DirEntry`. `scandir` returns these.
#[pyclass(module = "ringwalk", frozen)]
pub(crate) struct DirEntry {
    name: Py<PyAny>,
    file_type: FileType,
    ino: u64,
    parent: Arc<Parent>,
    path: PyOnceLock<Py<PyAny>>,
    /// Of what a link leads to,
    stat: PyOnceLock<Status>,
    /// and of the entry itself.
    lstat: PyOnceLock<Status>,
}

/// Converts an option, which may be any true or false object, as for `os.DirEntry`.
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

    /// Returns the metadata of the entry, or of the target of a link. Calls the kernel once for
    /// each of the two.
    fn status<'s>(&'s self, py: Python<'_>, follow: bool) -> PyResult<Result<&'s Status, Errno>> {
        let follow = follow && self.file_type_of_itself(py)? == Some(FileType::Symlink);
        let known = if follow { &self.stat } else { &self.lstat };
        if let Some(status) = known.get(py) {
            return Ok(Ok(status));
        }
        let kind = &self.parent.kind;
        let name = kind.encode(self.name.bind(py))?;
        let path = path_below(&self.parent.path, &name);
        let base = self.parent.fd;
        let ask = move || status::ask(base, &path, follow);
        match waiting::call(py, self.parent.local, ask)? {
            Ok(metadata) => {
                let status = Status::new(py, metadata)?;
                Ok(Ok(known.get_or_init(py, || status)))
            }
            Err(errno) => Ok(Err(errno)),
        }
    }

    /// Returns the type from the directory, or else from the kernel; `None` if the entry is gone.
    fn file_type_of_itself(&self, py: Python<'_>) -> PyResult<Option<FileType>> {
        if self.file_type == FileType::Unknown {
            self.type_asked_for(py, false)
        } else {
            Ok(Some(self.file_type))
        }
    }

    /// Returns the type from the kernel; `None` if the entry was deleted, or is a link without a
    /// target.
    fn type_asked_for(&self, py: Python<'_>, follow: bool) -> PyResult<Option<FileType>> {
        match self.status(py, follow)? {
            Ok(status) => Ok(Some(status.file_type())),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(self.error(py, errno)),
        }
    }

    fn is_of(&self, py: Python<'_>, file_type: FileType, follow: bool) -> PyResult<bool> {
        let found = match self.file_type {
            FileType::Unknown => self.type_asked_for(py, follow)?,
            FileType::Symlink if follow => self.type_asked_for(py, true)?,
            known => Some(known),
        };
        Ok(found == Some(file_type))
    }

    fn error(&self, py: Python<'_>, errno: Errno) -> PyErr {
        match self.path(py) {
            Ok(path) => os_error(errno, path.bind(py)),
            Err(error) => error,
        }
    }
}

#[pymethods]
impl DirEntry {
    /// The name, without a path.
    #[getter]
    fn name(&self, py: Python<'_>) -> Py<PyAny> {
        self.name.clone_ref(py)
    }

    /// The path: that of `scandir`, and the name. Only the name if `scandir` was given a
    /// descriptor.
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

    /// Returns the inode number that the directory lists.
    fn inode(&self) -> u64 {
        self.ino
    }

    /// Returns true for a directory, and for a link to one if links are followed.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_dir(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_of(py, FileType::Directory, follow_symlinks)
    }

    /// Returns true for a regular file, and for a link to one if links are followed.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn is_file(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<bool> {
        self.is_of(py, FileType::Regular, follow_symlinks)
    }

    /// Returns true for a symbolic link.
    fn is_symlink(&self, py: Python<'_>) -> PyResult<bool> {
        self.is_of(py, FileType::Symlink, false)
    }

    /// Returns false: only Windows has junctions.
    #[allow(clippy::unused_self)]
    fn is_junction(&self) -> bool {
        false
    }

    /// Returns the `os.stat_result` of the entry, or of the target of a link. Calls the kernel
    /// once; `os.stat` returns later changes.
    #[pyo3(signature = (*, follow_symlinks = true))]
    fn stat(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = truth)] follow_symlinks: bool,
    ) -> PyResult<Py<PyAny>> {
        match self.status(py, follow_symlinks)? {
            Ok(status) => Ok(status.object(py)),
            Err(errno) => Err(self.error(py, errno)),
        }
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
