//! `diff`: what has changed between two snapshots.

use super::change::{Change, Names};
use super::failure::Failure;
use super::info;
use super::input::{Input, Place, Taking};
use crate::given::{self, Engine};
use crate::waiting;
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringwalk_answers::diff::{
    self as changes, By, DiffOptions, Group, GroupKey, Kind, Renames, Unread,
};
use ringwalk_snapshot::{Contents, Skipped};
use std::cmp::Reverse;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The default of `depth`.
const DEPTH: usize = 1;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Diff.txt"))]
#[pyclass(frozen, sequence, module = "ringwalk")]
pub(crate) struct Diff {
    diff: changes::Diff,
    /// The indices of the changes, largest growth first.
    order: Vec<usize>,
}

/// The iterator over the changes of a comparison.
#[pyclass(frozen, module = "ringwalk._ringwalk")]
struct Changes {
    diff: Py<Diff>,
    next: AtomicUsize,
}

#[pymethods]
impl Changes {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Change>> {
        let diff = self.diff.get();
        let next = self.next.fetch_add(1, Ordering::Relaxed);
        let at = diff.order.get(next);
        at.map(|at| diff.change(py, *at)).transpose()
    }
}

/// A comparison to be made.
struct Order {
    old: Place,
    new: Place,
    taking: Taking,
    options: DiffOptions,
}

impl Order {
    fn run(mut self) -> Result<Diff, Failure> {
        let old = self.old.open()?;
        // A snapshot is compared with one that was taken the same way.
        self.taking.one_file_system =
            self.new.is_directory() && old.has_skipped(Skipped::OtherFs)?;
        self.taking.contents = changes::contents_to_compare(&old);
        let new = self.new.open_or_take(&self.taking)?;
        let diff = changes::diff(&old, &new, &self.options)?;
        let mut order: Vec<usize> = (0..diff.changes.len()).collect();
        order.sort_by_key(|at| {
            let change = &diff.changes[*at];
            let version = change.version();
            (Reverse(change.growth), version.root, &*version.path)
        });
        Ok(Diff { diff, order })
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/compare.txt"))]
#[pyfunction]
#[pyo3(signature = (old, new, renames, workers, source))]
pub(crate) fn compare(
    old: &Bound<'_, PyAny>,
    new: &Bound<'_, PyAny>,
    renames: bool,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<Diff> {
    let py = old.py();
    let (old, new) = (Input::new(old)?, Input::new(new)?);
    let engine = Engine::new(source, workers)?;
    let mut options = DiffOptions::default();
    options.threads = engine.workers().unwrap_or(options.threads);
    options.renames = if renames {
        Renames::Inode
    } else {
        Renames::Off
    };
    let stop = Arc::clone(&options.stop);
    let order = Order {
        old: old.place.clone(),
        new: new.place.clone(),
        taking: Taking {
            engine,
            one_file_system: false,
            contents: Contents::default(),
            stop: Arc::clone(&stop),
        },
        options,
    };
    let found = waiting::run_until(py, "ringwalk-diff", &stop, move || order.run())?;
    let given: Vec<_> = old.given.iter().chain(&new.given).collect();
    found.map_err(|failure| failure.exception(py, &given, None))
}

/// Returns what changes are grouped by.
///
/// # Errors
///
/// `ValueError` for other words, and for a depth that has no meaning.
fn by(by: &str, depth: Option<usize>) -> PyResult<By> {
    let by = match by {
        "dir" => {
            return Ok(By::Directory {
                depth: depth.unwrap_or(DEPTH),
            });
        }
        "owner" => By::Owner,
        "ext" => By::Extension,
        _ => {
            return Err(PyValueError::new_err(format!(
                "by={by:?}: expected 'dir', 'owner' or 'ext'"
            )));
        }
    };
    match depth {
        None => Ok(by),
        Some(_) => Err(PyValueError::new_err("depth needs by='dir'")),
    }
}

impl Diff {
    /// Returns the change with this index in the order of the rows.
    fn change(&self, py: Python<'_>, at: usize) -> PyResult<Change> {
        let names = Names::of(py, &self.diff)?;
        Change::new(py, &names, &self.diff.changes[at])
    }

    fn group<'py>(
        &self,
        py: Python<'py>,
        names: &Names<'_>,
        group: &Group,
    ) -> PyResult<Bound<'py, PyDict>> {
        let row = PyDict::new(py);
        match &group.key {
            GroupKey::Directory(location) => {
                row.set_item("root", names.root(py, location.root)?)?;
                row.set_item("path", names.text(py, &location.path)?)?;
            }
            GroupKey::Owner(uid) => {
                let name = uid.and_then(|uid| self.diff.owner_name(uid));
                row.set_item("uid", uid)?;
                row.set_item("owner", name.map(|name| names.text(py, name)).transpose()?)?;
            }
            GroupKey::Extension(extension) => row.set_item("ext", extension)?,
        }
        row.set_item("growth", group.growth)?;
        row.set_item("entries", group.entries)?;
        Ok(row)
    }
}

#[pymethods]
impl Diff {
    fn __len__(&self) -> usize {
        self.order.len()
    }

    fn __getitem__(&self, py: Python<'_>, index: isize) -> PyResult<Change> {
        let from_end = || self.order.len().checked_add_signed(index);
        let index = usize::try_from(index).ok().or_else(from_end);
        let at = index.and_then(|index| self.order.get(index));
        let at = at.ok_or_else(|| PyIndexError::new_err("no such change"))?;
        self.change(py, *at)
    }

    fn __iter__(this: Bound<'_, Self>) -> Changes {
        Changes {
            diff: this.unbind(),
            next: AtomicUsize::new(0),
        }
    }

    fn __repr__(&self) -> String {
        format!(
            "<ringwalk.Diff: {} changes, growth {}>",
            self.order.len(),
            self.diff.growth()
        )
    }

    /// True if there is no change.
    #[getter]
    fn same(&self) -> bool {
        self.diff.is_same()
    }

    /// False if there may be more changes, because a snapshot is incomplete.
    #[getter]
    fn complete(&self) -> bool {
        self.diff.is_certain()
    }

    /// Bytes by which all trees have grown.
    #[getter]
    fn growth(&self) -> i64 {
        self.diff.growth()
    }

    /// Number of changes of each kind.
    #[getter]
    fn counts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let counts = PyDict::new(py);
        for kind in Kind::ALL {
            counts.set_item(kind.name(), self.diff.count(kind))?;
        }
        Ok(counts)
    }

    /// What could not be read or was left out.
    #[getter]
    fn unread<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let names = Names::of(py, &self.diff)?;
        let row = |unread: &Unread| {
            let row = PyDict::new(py);
            row.set_item("snapshot", unread.which.name())?;
            row.set_item("root", names.root(py, unread.root)?)?;
            row.set_item("path", names.text(py, &unread.path)?)?;
            row.set_item("errno", unread.errno)?;
            row.set_item("reason", &unread.reason)?;
            Ok(row)
        };
        self.diff.unread.iter().map(row).collect()
    }

    /// Number of paths below unread directories.
    #[getter]
    fn unknown(&self) -> u64 {
        self.diff.unknown
    }

    /// What the older snapshot says of itself.
    #[getter(old)]
    fn old_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::dictionary(py, &self.diff.old)
    }

    /// What the newer snapshot says of itself.
    #[getter(new)]
    fn new_info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::dictionary(py, &self.diff.new)
    }

    /// Returns the growth of directories, owners or extensions, largest growth first.
    #[pyo3(signature = (by, *, depth=None))]
    fn groups<'py>(
        &self,
        py: Python<'py>,
        by: &str,
        #[pyo3(from_py_with = given::number_or_none)] depth: Option<usize>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let by = self::by(by, depth)?;
        let groups = py.detach(|| self.diff.groups(by));
        let names = Names::of(py, &self.diff)?;
        let rows = groups.iter().map(|group| self.group(py, &names, group));
        rows.collect()
    }
}
