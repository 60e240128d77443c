//! A change, and the versions of its file.

use crate::names::NameKind;
use pyo3::prelude::*;
use ringwalk_answers::diff::{self as changes, Location, Version};
use ringwalk_snapshot::{Column, type_letter};

/// Paths of a comparison as `str`.
pub(super) struct Names<'d> {
    diff: &'d changes::Diff,
    kind: NameKind,
}

impl<'d> Names<'d> {
    pub(super) fn of(py: Python<'_>, diff: &'d changes::Diff) -> PyResult<Self> {
        let kind = NameKind::text(py)?;
        Ok(Self { diff, kind })
    }

    pub(super) fn text(&self, py: Python<'_>, bytes: &[u8]) -> PyResult<Py<PyAny>> {
        Ok(self.kind.object(py, bytes)?.unbind())
    }

    pub(super) fn root(&self, py: Python<'_>, root: u32) -> PyResult<Py<PyAny>> {
        self.text(py, self.diff.root_path(root))
    }

    fn place(&self, py: Python<'_>, root: u32, path: &[u8]) -> PyResult<PlaceOfFile> {
        Ok((self.root(py, root)?, self.text(py, path)?))
    }
}

/// A root, and a path relative to it.
type PlaceOfFile = (Py<PyAny>, Py<PyAny>);

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Change.txt"))]
#[pyclass(frozen, get_all, module = "ringwalk")]
pub(crate) struct Change {
    /// What has happened.
    #[pyo3(name = "change")]
    kind: &'static str,
    /// The root of the tree.
    root: Py<PyAny>,
    /// The path relative to the root.
    path: Py<PyAny>,
    /// The path from `/`.
    absolute_path: Py<PyAny>,
    /// The letter of the type; `None` if it is not known.
    r#type: Option<&'static str>,
    /// Bytes by which the allocated space has grown.
    growth: i64,
    /// True for a rename of which no time of birth is known.
    likely: bool,
    /// Root and path before a rename.
    renamed_from: Option<PlaceOfFile>,
    /// Root and path of a name that the file has kept.
    link_to: Option<PlaceOfFile>,
    /// The fields that differ.
    changed: Vec<&'static str>,
    /// The file in the older snapshot.
    old: Option<Py<FileVersion>>,
    /// The file in the newer snapshot.
    new: Option<Py<FileVersion>>,
}

impl Change {
    pub(super) fn new(
        py: Python<'_>,
        names: &Names<'_>,
        change: &changes::Change,
    ) -> PyResult<Self> {
        let version = change.version();
        let from = change.from();
        let from = from.map(|from| names.place(py, from.root, &from.path));
        let link = change.link_to.as_ref();
        let link = link.map(|Location { root, path }| names.place(py, *root, path));
        let target = |at: usize| change.targets.as_ref().map(|targets| &targets[at][..]);
        let side = |version: &Option<Version>, at| {
            let version = version.as_ref();
            let version = version.map(|each| FileVersion::new(py, names, each, target(at)));
            version.transpose()
        };
        let absolute = names.diff.absolute(version.root, &version.path);
        Ok(Self {
            kind: change.kind.name(),
            root: names.root(py, version.root)?,
            path: names.text(py, &version.path)?,
            absolute_path: names.text(py, &absolute)?,
            r#type: type_letter(version.file_type),
            growth: change.growth,
            likely: change.is_likely,
            renamed_from: from.transpose()?,
            link_to: link.transpose()?,
            changed: change.changed.iter().map(Column::name).collect(),
            old: side(&change.old, 0)?,
            new: side(&change.new, 1)?,
        })
    }
}

#[pymethods]
impl Change {
    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let path = self.absolute_path.bind(py).repr()?;
        Ok(format!(
            "<ringwalk.Change: {} {path}, growth {}>",
            self.kind, self.growth
        ))
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/FileVersion.txt"))]
#[pyclass(frozen, get_all, module = "ringwalk")]
pub(crate) struct FileVersion {
    /// The row in the snapshot.
    row: u64,
    /// Apparent size in bytes.
    size: Option<i64>,
    /// Allocated bytes.
    alloc: Option<i64>,
    /// Time of the last change of the contents, in nanoseconds since 1970.
    mtime_ns: Option<i64>,
    /// Time of the last change of the inode, in nanoseconds since 1970.
    ctime_ns: Option<i64>,
    /// Time of birth, in nanoseconds since 1970.
    btime_ns: Option<i64>,
    /// Permission bits.
    mode: Option<i64>,
    /// Owner.
    uid: Option<i64>,
    /// Group.
    gid: Option<i64>,
    /// Number of hard links.
    nlink: Option<i64>,
    /// Inode number.
    ino: Option<u64>,
    /// Device that a device file stands for.
    rdev: Option<u64>,
    /// Project to which quotas charge the file.
    projid: Option<i64>,
    /// Target of a symbolic link, if it has changed.
    target: Option<Py<PyAny>>,
}

impl FileVersion {
    fn new(
        py: Python<'_>,
        names: &Names<'_>,
        version: &Version,
        target: Option<&[u8]>,
    ) -> PyResult<Py<Self>> {
        let unsigned = |field| version.get(field).map(i64::cast_unsigned);
        let target = target.map(|target| names.text(py, target));
        let version = Self {
            row: version.row,
            size: version.get(Column::Size),
            alloc: version.get(Column::Alloc),
            mtime_ns: version.get(Column::Mtime),
            ctime_ns: version.get(Column::Ctime),
            btime_ns: version.get(Column::Btime),
            mode: version.get(Column::Mode),
            uid: version.get(Column::Uid),
            gid: version.get(Column::Gid),
            nlink: version.get(Column::Nlink),
            ino: unsigned(Column::Ino),
            rdev: unsigned(Column::Rdev),
            projid: version.get(Column::Projid),
            target: target.transpose()?,
        };
        Py::new(py, version)
    }
}

#[pymethods]
impl FileVersion {
    fn __repr__(&self) -> String {
        let number = |number: Option<i64>| number.map_or("None".to_owned(), |n| n.to_string());
        format!(
            "<ringwalk.FileVersion: row {}, size {}, alloc {}>",
            self.row,
            number(self.size),
            number(self.alloc)
        )
    }
}
