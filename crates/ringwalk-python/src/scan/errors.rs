//! The read errors of a scan: a second table that grows during the scan.

use super::batch::{Batch, Capsules};
use crate::errors::os_error;
use arrow_array::builder::{BinaryBuilder, BooleanBuilder, Int32Builder, StringBuilder};
use arrow_array::{ArrayRef, RecordBatch, RecordBatchIterator};
use arrow_schema::{ArrowError, DataType, Field, Schema};
use pyo3::exceptions::{PyIndexError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyIterator, PyList, PyTuple};
use ringwalk::Error;
use ringwalk::sync::lock;
use ringwalk_text::escaped;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::{Arc, LazyLock, Mutex, MutexGuard};

/// The errors so far. Workers add errors to it.
#[derive(Debug, Default)]
pub(super) struct Log(Mutex<Vec<Error>>);

impl Log {
    fn lock(&self) -> MutexGuard<'_, Vec<Error>> {
        lock(&self.0)
    }

    pub(super) fn push(&self, error: Error) {
        self.lock().push(error);
    }
}

/// Selects the errors that are raised after the last row.
#[derive(Debug)]
pub(super) enum Raised {
    None,
    /// Errors of these paths, the roots of the scan.
    Roots(Vec<OsString>),
    /// All errors, except for entries that vanished.
    All,
}

impl Raised {
    /// Converts the word of a caller.
    ///
    /// # Errors
    ///
    /// `ValueError` for other words.
    pub(super) fn new(on_error: &str, roots: &[OsString]) -> PyResult<Self> {
        match on_error {
            "roots" => Ok(Self::Roots(roots.to_vec())),
            "raise" => Ok(Self::All),
            "collect" => Ok(Self::None),
            _ => Err(PyValueError::new_err(format!(
                "on_error={on_error:?}: expected 'raise' or 'collect', or 'roots'"
            ))),
        }
    }

    /// Returns the error to raise at the end of a scan: the error of the first root that has one,
    /// or else the first error.
    pub(super) fn of(&self, log: &Log) -> Option<Error> {
        let log = log.lock();
        let found = match self {
            Self::None => None,
            Self::Roots(roots) => roots
                .iter()
                .find_map(|root| log.iter().find(|error| error.path().as_os_str() == root)),
            Self::All => log.iter().find(|error| !error.is_vanished()),
        };
        found.cloned()
    }
}

static SCHEMA: LazyLock<Arc<Schema>> = LazyLock::new(|| {
    Arc::new(Schema::new(vec![
        Field::new("path", DataType::Utf8, false),
        Field::new("path_raw", DataType::Binary, true),
        Field::new("operation", DataType::Utf8, false),
        Field::new("errno", DataType::Int32, false),
        Field::new("message", DataType::Utf8, false),
        Field::new("vanished", DataType::Boolean, false),
    ]))
});

/// Returns an `OSError` for an error, with the path as bytes.
pub(super) fn exception(py: Python<'_>, error: &Error) -> PyErr {
    let path = PyBytes::new(py, error.path().as_os_str().as_bytes());
    os_error(error.errno(), &path)
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Errors.txt"))]
#[pyclass(frozen, module = "ringwalk")]
pub(crate) struct Errors(pub(super) Arc<Log>);

impl Errors {
    fn table(&self) -> Result<RecordBatch, ArrowError> {
        let errors = self.0.lock().clone();
        let (mut paths, mut raw_paths) = (StringBuilder::new(), BinaryBuilder::new());
        let mut operations = StringBuilder::new();
        let (mut numbers, mut messages) = (Int32Builder::new(), StringBuilder::new());
        let mut vanished = BooleanBuilder::new();
        for error in &errors {
            let path = error.path().as_os_str().as_bytes();
            paths.append_value(escaped(path));
            raw_paths.append_option(raw_unless_text(path));
            operations.append_value(error.operation().as_str());
            numbers.append_value(error.errno().raw_os_error());
            messages.append_value(error.to_string());
            vanished.append_value(error.is_vanished());
        }
        let columns: [ArrayRef; 6] = [
            Arc::new(paths.finish()),
            Arc::new(raw_paths.finish()),
            Arc::new(operations.finish()),
            Arc::new(numbers.finish()),
            Arc::new(messages.finish()),
            Arc::new(vanished.finish()),
        ];
        RecordBatch::try_new(Arc::clone(&SCHEMA), columns.into())
    }
}

/// Returns the bytes of a path that is not UTF-8.
fn raw_unless_text(path: &[u8]) -> Option<&[u8]> {
    std::str::from_utf8(path).is_err().then_some(path)
}

/// Returns a `ringwalk.ReadError`: a named tuple with the columns of the table.
fn row<'py>(py: Python<'py>, error: &Error) -> PyResult<Bound<'py, PyAny>> {
    let path = error.path().as_os_str().as_bytes();
    let values = (
        escaped(path),
        raw_unless_text(path).map(|path| PyBytes::new(py, path)),
        error.operation().as_str(),
        error.errno().raw_os_error(),
        error.to_string(),
        error.is_vanished(),
    );
    let class = py.import("ringwalk._errors")?.getattr("ReadError")?;
    // Its own `__new__` is written in Python.
    let tuple = py.get_type::<PyTuple>();
    tuple.call_method1("__new__", (class, values))
}

#[pymethods]
impl Errors {
    fn __len__(&self) -> usize {
        self.0.lock().len()
    }

    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let errors = self.0.lock().clone();
        let rows = errors.iter().map(|error| row(py, error));
        PyList::new(py, rows.collect::<PyResult<Vec<_>>>()?)?.try_iter()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: isize) -> PyResult<Bound<'py, PyAny>> {
        let error = {
            let log = self.0.lock();
            let from_end = || log.len().checked_add_signed(index);
            let index = usize::try_from(index).ok().or_else(from_end);
            index.and_then(|index| log.get(index).cloned())
        };
        let error = error.ok_or_else(|| PyIndexError::new_err("no such error"))?;
        row(py, &error)
    }

    fn __repr__(&self) -> String {
        format!("<ringwalk.Errors: {}>", self.0.lock().len())
    }

    #[allow(clippy::unused_self, reason = "a method of the protocol")]
    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Capsules::schema(py, &SCHEMA)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        let table = self.table().map_err(|error| super::batch::failed(&error))?;
        let batches = RecordBatchIterator::new([Ok(table)], Arc::clone(&SCHEMA));
        Capsules::stream(py, Box::new(batches))
    }

    /// Returns the rows so far as one batch.
    fn batch(&self) -> PyResult<Batch> {
        let table = self.table().map_err(|error| super::batch::failed(&error))?;
        Ok(Batch(table))
    }
}
