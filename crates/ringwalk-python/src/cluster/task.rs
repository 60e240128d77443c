//! One task of a walk that several processes share.

use crate::given::{Engine, budget, number_or_none};
use crate::snapshot::Failure;
use crate::waiting;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use ringwalk::Budget;
use ringwalk_snapshot::Contents;
use ringwalk_snapshot::cluster::{Piece, Task, TaskNumber, TaskReport};
use rustix::time::{ClockId, clock_gettime};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// A task to be done.
struct Order {
    folder: PathBuf,
    roots: Vec<OsString>,
    pieces: Option<Vec<Piece>>,
    number: TaskNumber,
    contents: Contents,
    one_file_system: bool,
    engine: Engine,
    budget: Budget,
    stop: Arc<AtomicBool>,
}

impl Order {
    fn run(self) -> Result<Done, Failure> {
        let (begin, processor) = (Instant::now(), processor_time());
        let mut task = Task::new(&self.folder, self.roots, self.number)?
            .contents(self.contents)
            .one_file_system(self.one_file_system)
            .stop_by(self.stop);
        if let Some(pieces) = self.pieces {
            task = task.go_on(pieces);
        }
        let walk = self.engine.checked(task.walk())?.budget(self.budget);
        let report = task.run(walk)?;
        Ok(Done {
            report,
            elapsed: begin.elapsed(),
            processor: processor_time().saturating_sub(processor),
        })
    }
}

/// A task that was done, with the time that it took.
struct Done {
    report: TaskReport,
    elapsed: Duration,
    /// The CPU time of all threads of the process.
    processor: Duration,
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/cluster_task.txt"))]
#[pyfunction]
#[pyo3(signature = (
    directory, roots, pieces, *, task, epoch, attempt, seconds, entries, workers, in_flight,
    entries_per_second, source, xattrs, atime, one_file_system
))]
#[expect(clippy::too_many_arguments, reason = "keywords of Python")]
pub(crate) fn cluster_task<'py>(
    py: Python<'py>,
    directory: Vec<u8>,
    roots: Vec<Vec<u8>>,
    pieces: Option<Vec<(OsString, u64, usize)>>,
    task: u32,
    epoch: u64,
    attempt: u64,
    seconds: Option<f64>,
    #[pyo3(from_py_with = number_or_none)] entries: Option<usize>,
    #[pyo3(from_py_with = number_or_none)] workers: Option<usize>,
    #[pyo3(from_py_with = number_or_none)] in_flight: Option<usize>,
    #[pyo3(from_py_with = number_or_none)] entries_per_second: Option<usize>,
    source: &str,
    xattrs: bool,
    atime: bool,
    one_file_system: bool,
) -> PyResult<Bound<'py, PyDict>> {
    let pieces = pieces.map(|pieces| {
        let pieces = pieces.into_iter().map(|(file, offset, length)| Piece {
            file: file.into(),
            offset,
            length,
        });
        pieces.collect()
    });
    let stop = Arc::<AtomicBool>::default();
    let order = Order {
        folder: PathBuf::from(OsString::from_vec(directory)),
        roots: roots.into_iter().map(OsString::from_vec).collect(),
        pieces,
        number: TaskNumber {
            task,
            epoch,
            attempt,
        },
        contents: Contents {
            atime,
            xattrs,
            ..Contents::default()
        },
        one_file_system,
        engine: Engine::new(source, workers)?.limited(in_flight, entries_per_second)?,
        budget: budget(seconds, entries)?,
        stop: Arc::clone(&stop),
    };
    if order.roots.is_empty() {
        return Err(PyValueError::new_err("no root to begin with"));
    }
    let done = waiting::run_until(py, "ringwalk-task", &stop, move || order.run())?;
    let done = done.map_err(|failure| failure.exception(py, &[], None))?;
    dictionary(py, &done)
}

fn dictionary<'py>(py: Python<'py>, done: &Done) -> PyResult<Bound<'py, PyDict>> {
    let Done {
        report,
        elapsed,
        processor,
    } = done;
    let chunks = report.chunks.iter();
    let chunks: Vec<_> = chunks
        .map(|chunk| (chunk.offset, chunk.length, chunk.lines, chunk.big))
        .collect();
    let all = PyDict::new(py);
    all.set_item("part", &report.part)?;
    all.set_item("rows", report.rows)?;
    all.set_item("bytes", report.bytes)?;
    all.set_item("todo", &report.todo)?;
    all.set_item("chunks", chunks)?;
    all.set_item("errors_file", &report.errors_file)?;
    all.set_item("entries", report.summary.entries)?;
    all.set_item("directories", report.summary.directories)?;
    all.set_item("found", report.found)?;
    all.set_item("left", report.left)?;
    all.set_item("vanished", report.vanished)?;
    let trees = report.vanished_trees.iter();
    let trees: Vec<_> = trees
        .map(|tree| (tree.root, PyBytes::new(py, &tree.path), tree.directories))
        .collect();
    all.set_item("vanished_trees", trees)?;
    all.set_item("errors", report.errors)?;
    all.set_item("seconds", elapsed.as_secs_f64())?;
    all.set_item("cpu_seconds", processor.as_secs_f64())?;
    all.set_item("source", report.summary.source)?;
    Ok(all)
}

/// Returns the processor time that this process has taken.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    // The kernel returns no negative times.
    Duration::try_from(time).unwrap_or_default()
}
