//! A snapshot that is open for reading.
//!
//! It has no state that a fork or another thread could disturb: reading gives positions of its own,
//! and no thread goes on after a call.

use super::failure::{Failure, not_inside};
use super::info;
use super::stream::Rows;
use crate::given::Given;
use crate::scan::Capsules;
use crate::waiting;
use arrow_array::RecordBatchReader as _;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use ringwalk_snapshot::{Column, ReadError, Snapshot, places};
use std::ffi::OsString;
use std::ops::Range;
use std::os::fd::{AsRawFd as _, RawFd};
use std::path::Path;
use std::sync::Arc;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/OpenSnapshot.txt"))]
#[pyclass(frozen, module = "ringwalk._ringwalk")]
pub(crate) struct OpenSnapshot {
    given: Given,
    snapshot: Arc<Snapshot>,
}

impl OpenSnapshot {
    pub(super) fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshot)
    }

    fn rows(&self, py: Python<'_>) -> PyResult<Rows> {
        let snapshot = self.snapshot();
        let rows = waiting::call(py, false, || Rows::new(snapshot))?;
        rows.map_err(|error| Failure::from(error).exception(py, &[&self.given], None))
    }

    /// Does `work` with the row of a file, if the snapshot has it.
    fn at<R: Send + 'static>(
        &self,
        py: Python<'_>,
        path: &Bound<'_, PyAny>,
        work: impl FnOnce(&Snapshot, Option<u64>) -> Result<R, Failure> + Send + 'static,
    ) -> PyResult<R> {
        let under = Given::new(path)?;
        let (snapshot, path) = (self.snapshot(), under.path.clone());
        let found = waiting::call(py, false, move || {
            let row = locate(&snapshot, &path)?;
            work(&snapshot, row)
        })?;
        found.map_err(|failure| failure.exception(py, &[&self.given], Some(&under)))
    }
}

/// Returns the row of a file, by its path in the file system.
fn locate(snapshot: &Snapshot, path: &OsString) -> Result<Option<u64>, Failure> {
    for path in places(path).map_err(Failure::Under)? {
        if let Some(row) = snapshot.find(&path)? {
            return Ok(Some(row));
        }
    }
    Ok(None)
}

/// Returns the rows below a row, then the row itself.
fn subtree(snapshot: &Snapshot, row: u64) -> Result<Vec<(u64, u64)>, ReadError> {
    let columns = [Column::TreeFirst, Column::TreeLast];
    let mut scan = snapshot.scan(row..row + 1, &columns)?;
    let mut ranges = Vec::new();
    if let Some(chunk) = scan.next_chunk()? {
        let [first, last] = columns.map(|column| chunk.integer(column, 0));
        if let (Some(first), Some(last)) = (first, last) {
            ranges.push((first.cast_unsigned(), last.cast_unsigned() + 1));
        }
    }
    ranges.push((row, row + 1));
    Ok(ranges)
}

#[pymethods]
impl OpenSnapshot {
    #[new]
    fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let py = path.py();
        let given = Given::new(path)?;
        let name = given.path.clone();
        let opened = waiting::call(py, false, move || ringwalk_snapshot::open(Path::new(&name)))?;
        let snapshot =
            opened.map_err(|error| Failure::from(error).exception(py, &[&given], None))?;
        Ok(Self {
            given,
            snapshot: Arc::new(snapshot),
        })
    }

    fn __len__(&self) -> usize {
        usize::try_from(self.snapshot.rows()).unwrap_or(usize::MAX)
    }

    /// The path of the file, as it was given.
    #[getter]
    fn path(&self, py: Python<'_>) -> Py<PyAny> {
        self.given.object.clone_ref(py)
    }

    /// Returns what the snapshot says of itself.
    fn info<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        info::dictionary(py, self.snapshot.info())
    }

    /// Returns the descriptor of the file.
    fn fileno(&self) -> RawFd {
        self.snapshot.file().as_raw_fd()
    }

    /// Returns the first row of each row group and the row behind its last.
    fn row_groups(&self) -> Vec<(u64, u64)> {
        let groups = self.snapshot.row_groups().iter();
        groups.map(|Range { start, end }| (*start, *end)).collect()
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Capsules::schema(py, &self.rows(py)?.schema())
    }

    /// Returns a stream of all rows. Ignores the requested schema, which the protocol allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        Capsules::stream(py, Box::new(self.rows(py)?))
    }

    /// Returns the row of a file, or `None`.
    fn locate(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
        self.at(py, path, |_, row| Ok(row))
    }

    /// Returns the ranges of rows of a file and of everything below it.
    fn subtree(&self, py: Python<'_>, path: &Bound<'_, PyAny>) -> PyResult<Vec<(u64, u64)>> {
        self.at(py, path, |snapshot, row| {
            let row = row.ok_or_else(not_inside)?;
            Ok(subtree(snapshot, row)?)
        })
    }
}
