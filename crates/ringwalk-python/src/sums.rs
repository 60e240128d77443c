//! `du` and `count`: sums over a tree.

use crate::errors::os_error;
use crate::given::{Engine, Given, follow, number_or_none, stay};
use crate::waiting;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList};
use ringwalk::sync::{IgnorePoison, lock};
use ringwalk::{Errno, Fields, FileType, Follow, InodeSweep, Operation, Stay, Walk};
use ringwalk_du::{ReadError, Rule, SweptTally, Tally, Usage as Sums, type_name};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::Mutex;

/// The read errors, by the bytes of their paths.
struct Failure {
    operation: Operation,
    path: OsString,
    errno: Errno,
}

#[derive(Default)]
struct Failures(Mutex<Vec<Failure>>);

impl Failures {
    fn push(&self, error: ReadError<'_>) {
        let mut failures = lock(&self.0);
        failures.push(Failure {
            operation: error.operation,
            path: error.path.as_os_str().to_owned(),
            errno: error.errno,
        });
    }

    fn into_inner(self) -> Vec<Failure> {
        self.0.into_inner().ignore_poison()
    }
}

/// Returns the exceptions for failures in the order of their occurrence. Their paths have the type
/// that the caller gave.
///
/// # Errors
///
/// The exception for the given path itself, if `is_fatal` says that there is no result without it.
fn exceptions(
    py: Python<'_>,
    given: &Given,
    failures: Vec<Failure>,
    is_fatal: impl Fn(Operation) -> bool,
) -> PyResult<Py<PyList>> {
    let list = PyList::empty(py);
    for failure in failures {
        let path = given.kind.object(py, failure.path.as_bytes())?;
        let exception = os_error(failure.errno, &path);
        if failure.path == given.path && is_fatal(failure.operation) {
            return Err(exception);
        }
        list.append(exception.into_value(py))?;
    }
    Ok(list.unbind())
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Usage.txt"))]
#[pyclass(frozen, get_all, module = "ringwalk")]
pub(crate) struct Usage {
    /// Sum of the sizes of regular files and symbolic links in bytes.
    apparent_size: u128,
    /// Bytes that the files take on the device.
    allocated_size: u128,
    /// Number of files of any type, including directories and the path itself.
    entries: u64,
    /// The read errors, in no particular order.
    errors: Py<PyList>,
}

#[pymethods]
impl Usage {
    fn __repr__(&self, py: Python<'_>) -> String {
        format!(
            "Usage(apparent_size={}, allocated_size={}, entries={}, errors=<{}>)",
            self.apparent_size,
            self.allocated_size,
            self.entries,
            self.errors.bind(py).len()
        )
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/du.txt"))]
#[pyfunction]
#[pyo3(signature = (path, *, follow="roots", one_file_system=false, workers=None, source="auto"))]
pub(crate) fn du(
    path: &Bound<'_, PyAny>,
    follow: &str,
    one_file_system: bool,
    #[pyo3(from_py_with = number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<Usage> {
    let py = path.py();
    let given = Given::new(path)?;
    let follow = self::follow(follow)?;
    let engine = Engine::new(source, workers)?;
    let walk = Walk::new(given.path.clone())
        .fields(Sums::FIELDS)
        .follow(follow);
    let walk = engine.ready(py, walk)?;
    let sweep = (follow != Follow::Always).then(|| {
        let sweep = InodeSweep::new(given.path.clone()).fields(Sums::FIELDS);
        let sweep = sweep.follow(follow != Follow::Never);
        engine.apply_to_sweep(sweep.stay(stay(one_file_system)))
    });
    let (sums, failures) = waiting::run(py, "ringwalk-du", move |stop| {
        let failures = Failures::default();
        let rule = Rule::new(follow).one_file_system(one_file_system);
        let sums = Sums::measure(walk, sweep, &rule, &|error| failures.push(error), stop);
        (sums, failures.into_inner())
    })?;
    Ok(Usage {
        apparent_size: sums.apparent,
        allocated_size: sums.allocated,
        entries: sums.files,
        errors: exceptions(py, &given, failures, |operation| {
            operation == Operation::Stat
        })?,
    })
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Count.txt"))]
#[pyclass(frozen, get_all, module = "ringwalk")]
pub(crate) struct Count {
    /// Number of entries of any type: `files` and `directories`.
    entries: u64,
    /// Number of entries that are no directories, by each of their names.
    files: u64,
    /// Number of directories; the directory itself does not count.
    directories: u64,
    /// Sum of the sizes in bytes, by each of their names; `None` without metadata.
    apparent_size: Option<u128>,
    /// Sum of the space taken in bytes, by each of their names; `None` without metadata.
    allocated_size: Option<u128>,
    /// Number of entries by type. The types are the same as in `scan`, and `unknown` for entries
    /// whose type could not be found out.
    types: Py<PyDict>,
    /// The read errors, in no particular order.
    errors: Py<PyList>,
}

#[pymethods]
impl Count {
    fn __repr__(&self, py: Python<'_>) -> String {
        let text = |sum: Option<u128>| sum.map_or("None".to_owned(), |sum| sum.to_string());
        format!(
            "Count(entries={}, files={}, directories={}, apparent_size={}, allocated_size={}, types={}, errors=<{}>)",
            self.entries,
            self.files,
            self.directories,
            text(self.apparent_size),
            text(self.allocated_size),
            self.types.bind(py),
            self.errors.bind(py).len()
        )
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/count.txt"))]
#[pyfunction]
#[pyo3(signature = (path, *, stat=true, follow="roots", one_file_system=false, workers=None, source="auto"))]
pub(crate) fn count(
    path: &Bound<'_, PyAny>,
    stat: bool,
    follow: &str,
    one_file_system: bool,
    #[pyo3(from_py_with = number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<Count> {
    let py = path.py();
    let given = Given::new(path)?;
    let follow = self::follow(follow)?;
    let engine = Engine::new(source, workers)?;
    let fields = if stat {
        Fields::SIZE | Fields::BLOCKS
    } else {
        Fields::empty()
    };
    let walk = Walk::new(given.path.clone())
        .fields(fields)
        .follow(follow)
        .stay(stay(one_file_system));
    let walk = engine.ready(py, walk)?;
    let sweep = (follow != Follow::Always && stay(one_file_system) == Stay::Anywhere).then(|| {
        let sweep = InodeSweep::new(given.path.clone()).fields(fields);
        engine.apply_to_sweep(sweep.follow(follow != Follow::Never))
    });
    let (tally, failures) = waiting::run(py, "ringwalk-count", move |stop| {
        let failures = Failures::default();
        let tally = tally(walk, sweep, &failures, stop);
        (tally, failures.into_inner())
    })?;
    let types = PyDict::new(py);
    for (file_type, number) in tally.types {
        types.set_item(type_name(file_type), number)?;
    }
    Ok(Count {
        entries: tally.entries,
        files: tally.entries - tally.directories,
        directories: tally.directories,
        apparent_size: stat.then_some(tally.apparent_size),
        allocated_size: stat.then_some(tally.allocated_size),
        types: types.unbind(),
        errors: exceptions(py, &given, failures, |_| true)?,
    })
}

/// A tally that can leave the thread it was made on.
struct Counted {
    entries: u64,
    directories: u64,
    apparent_size: u128,
    allocated_size: u128,
    types: Vec<(FileType, u64)>,
}

fn tally(
    walk: Walk,
    sweep: Option<InodeSweep>,
    failures: &Failures,
    stop: &(dyn Fn() -> bool + Sync),
) -> Counted {
    let report = |error: ReadError<'_>| failures.push(error);
    let new = || Tally::new(&report).stop_when(stop);
    let swept = sweep.and_then(|sweep| sweep.run(|_| SweptTally::new(new())).ok());
    let parts = match swept {
        Some(outcome) => outcome
            .visitors
            .into_iter()
            .map(SweptTally::into_tally)
            .collect(),
        None => walk.run(|_| new()).visitors,
    };
    let all = parts.iter().fold(new(), Tally::plus);
    let types = [
        FileType::Regular,
        FileType::Directory,
        FileType::Symlink,
        FileType::BlockDevice,
        FileType::CharacterDevice,
        FileType::Fifo,
        FileType::Socket,
        FileType::Unknown,
    ];
    Counted {
        entries: all.files(),
        directories: all.of(FileType::Directory),
        apparent_size: all.bytes,
        allocated_size: all.allocated,
        types: types.map(|file_type| (file_type, all.of(file_type))).into(),
    }
}
