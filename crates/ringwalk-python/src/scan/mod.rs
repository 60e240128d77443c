//! `scan`: a walk as a table.
//!
//! | file | contents |
//! |---|---|
//! | `fields.rs` | all columns, and the metadata that each needs |
//! | `columns.rs`, `rows.rs` | columns that are being filled; the workers that fill them |
//! | `reading.rs` | the states of a scan; threads, tasks and forks that read it |
//! | `bell.rs` | a descriptor that wakes a task |
//! | `stream.rs`, `batch.rs` | export through Arrow's C interface |
//! | `leftover.rs` | what a scan with a budget leaves over |
//! | `errors.rs` | read errors as a second table |

mod batch;
mod bell;
mod columns;
mod errors;
mod fields;
mod leftover;
mod reading;
mod rows;
mod stream;

pub(crate) use batch::{Batch, Capsules};
pub(crate) use bell::Bell;
pub(crate) use errors::Errors;
pub(crate) use fields::TIME_ZONE;
pub(crate) use leftover::Leftover;

use crate::given;
use errors::Raised;
use pyo3::exceptions::{PyStopAsyncIteration, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};
use reading::Reading;
use ringwalk::{Follow, Walk};
use rows::SharedScan;
use std::sync::{Arc, OnceLock};
use std::task::Poll;
use stream::Stream;

/// The largest number of rows in a batch. More rows only take memory.
const MOST_ROWS: usize = 1 << 24;

const DEFAULT_FIELDS: [&str; 4] = ["path", "type", "size", "mtime"];

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Scan.txt"))]
#[pyclass(frozen, module = "ringwalk", weakref)]
pub(crate) struct Scan {
    reading: Arc<Reading>,
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/scan.txt"))]
#[pyfunction]
#[pyo3(signature = (paths, fields=None, batch_size=16_384, *, follow="never", one_file_system=false, min_depth=0,
    max_depth=None, workers=None, source="auto", on_error="roots", seconds=None, entries=None, resume=None,
    in_flight=None, entries_per_second=None))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn scan(
    paths: &Bound<'_, PyAny>,
    #[pyo3(from_py_with = given::names_or_none)] fields: Option<Vec<String>>,
    #[pyo3(from_py_with = given::number)] batch_size: usize,
    follow: &str,
    one_file_system: bool,
    #[pyo3(from_py_with = given::number)] min_depth: usize,
    #[pyo3(from_py_with = given::number_or_none)] max_depth: Option<usize>,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
    on_error: &str,
    seconds: Option<f64>,
    #[pyo3(from_py_with = given::number_or_none)] entries: Option<usize>,
    resume: Option<Vec<PyRef<'_, Leftover>>>,
    #[pyo3(from_py_with = given::number_or_none)] in_flight: Option<usize>,
    #[pyo3(from_py_with = given::number_or_none)] entries_per_second: Option<usize>,
) -> PyResult<Scan> {
    if !(1..=MOST_ROWS).contains(&batch_size) {
        return Err(PyValueError::new_err(format!(
            "batch_size={batch_size}: expected a number from 1 to {MOST_ROWS}"
        )));
    }
    let fields = fields.unwrap_or_else(|| DEFAULT_FIELDS.map(str::to_owned).into());
    let columns = fields::columns(&fields)?;
    let engine = given::Engine::new(source, workers)?.limited(in_flight, entries_per_second)?;
    let roots = given::paths(paths)?;
    let raised = Raised::new(on_error, &roots)?;
    let follow = given::follow(follow)?;
    let budget = given::budget(seconds, entries)?;
    if follow == Follow::Always && (seconds.is_some() || entries.is_some() || resume.is_some()) {
        return Err(PyValueError::new_err(
            "follow='always': such a scan cannot stop and go on",
        ));
    }
    let walk = Walk::from_roots(roots)
        .fields(fields::needs(&columns))
        .follow(follow)
        .budget(budget)
        .stay(given::stay(one_file_system))
        .min_depth(min_depth)
        .max_depth(max_depth.unwrap_or(usize::MAX));
    let walk = match resume {
        Some(resume) => walk.resume(leftover::of(&resume)),
        None => walk,
    };
    let walk = engine.ready(paths.py(), walk)?;
    let shared = SharedScan {
        schema: fields::schema(&columns),
        columns,
        batch_size,
        log: Arc::default(),
        raised,
        leftovers: OnceLock::new(),
    };
    Ok(Scan {
        reading: Arc::new(Reading::new(walk, Arc::new(shared))),
    })
}

impl Scan {
    /// Returns the error to raise at the end.
    fn verdict(&self, py: Python<'_>) -> PyResult<()> {
        let shared = &self.reading.shared;
        let raised = shared.raised.of(&shared.log);
        raised.map_or(Ok(()), |error| Err(errors::exception(py, &error)))
    }
}

#[pymethods]
impl Scan {
    fn __iter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Batch>> {
        let batch = self.reading.next(py)?;
        if batch.is_none() {
            self.verdict(py)?;
        }
        Ok(batch.map(Batch))
    }

    /// For `AsyncBatches`: returns the next batch, or `None` if there is none yet; then `bell` is
    /// rung once when there may be one.
    #[pyo3(signature = (bell, /))]
    fn _poll(&self, py: Python<'_>, bell: &Bell) -> PyResult<Option<Batch>> {
        let waker = bell.waker();
        let polled = py.detach(|| self.reading.poll_next(&waker));
        let Poll::Ready(taken) = polled else {
            return Ok(None);
        };
        if let Some(batch) = taken.transpose()? {
            return Ok(Some(Batch(batch)));
        }
        self.verdict(py)?;
        Err(PyStopAsyncIteration::new_err(()))
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        Capsules::schema(py, &self.reading.shared.schema)
    }

    /// Returns a stream of all batches that have not been read. Ignores the requested schema, which
    /// the protocol allows.
    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        if self.reading.is_begun() {
            return Err(PyValueError::new_err(
                "this scan is being read already, or has been: a scan can be read once",
            ));
        }
        let stream = Stream::new(Arc::clone(&self.reading));
        Capsules::stream(py, Box::new(stream))
    }

    /// The names of the columns.
    #[getter]
    fn fields(&self) -> Vec<&'static str> {
        let columns = self.reading.shared.columns.iter();
        columns.map(|column| column.name).collect()
    }

    /// The read errors so far.
    #[getter]
    fn errors(&self) -> Errors {
        Errors(Arc::clone(&self.reading.shared.log))
    }

    /// What the scan has not read; `None` until the last batch has been read.
    #[getter]
    fn leftovers(&self) -> Option<Vec<Leftover>> {
        self.reading.summary()?;
        let leftovers = self.reading.shared.leftovers.get()?;
        Some(leftovers.iter().cloned().map(Leftover).collect())
    }

    /// The summary as a dict; `None` until the last batch has been read.
    #[getter]
    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let Some(summary) = self.reading.summary() else {
            return Ok(None);
        };
        let dict = PyDict::new(py);
        dict.set_item("entries", summary.entries)?;
        dict.set_item("directories", summary.directories)?;
        dict.set_item("errors", summary.errors)?;
        dict.set_item("vanished", summary.vanished)?;
        dict.set_item("elapsed_seconds", summary.elapsed.as_secs_f64())?;
        dict.set_item("source", summary.source)?;
        dict.set_item("source_reason", &summary.source_reason)?;
        dict.set_item("workers", summary.workers)?;
        Ok(Some(dict))
    }

    /// Ends the scan. Batches that were read stay valid; reading more is an error. Does nothing if
    /// the scan has ended.
    fn close(&self, py: Python<'_>) {
        py.detach(|| self.reading.close());
    }

    fn __enter__(this: PyRef<'_, Self>) -> PyRef<'_, Self> {
        this
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyAny>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<ringwalk.Scan of {}>", self.fields().join(", "))
    }
}
