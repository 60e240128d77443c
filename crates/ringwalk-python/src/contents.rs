//! `hash` and `dupes`: the contents of files.
//!
//! `python/ringwalk/_contents.py` has the public functions, which call these.

use crate::errors::os_error;
use crate::given::{self, Engine, stay};
use crate::names::NameKind;
use crate::snapshot::Failure;
use crate::waiting;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};
use ringwalk::sync::{IgnorePoison, lock};
use ringwalk::{Errno, Follow, SourceError, Walk};
use ringwalk_dupes::{
    Copy, Found, Group, Missed, Name, ScanError, Search, SearchError, is_live_root,
};
use ringwalk_hash::{Algorithm, Digest, Fault, FilesBelow, HashOptions, hash_files};
use ringwalk_snapshot::ReadError;
use std::ffi::OsString;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// A file or directory that could not be read.
struct Problem {
    path: Vec<u8>,
    errno: Errno,
    /// The reason, if the text of `errno` does not say it.
    reason: Option<&'static str>,
}

impl Problem {
    fn of_walk(error: &ringwalk::Error) -> Self {
        Self {
            path: error.path().as_os_str().as_bytes().to_vec(),
            errno: error.errno(),
            reason: None,
        }
    }

    fn of_file(path: &[u8], fault: Fault) -> Self {
        let errno = match fault {
            Fault::Irregular => Errno::INVAL,
            Fault::Changed => Errno::STALE,
            fault => fault.errno().unwrap_or(Errno::IO),
        };
        Self {
            path: path.to_vec(),
            errno,
            reason: fault.reason(),
        }
    }

    fn of_search(missed: Missed<'_>) -> Self {
        match missed {
            Missed::Scan(ScanError::Walk(error)) => Self::of_walk(error),
            Missed::Scan(ScanError::Root(path)) => Self {
                path: path.to_vec(),
                errno: Errno::INVAL,
                reason: Some("neither a directory nor a regular file"),
            },
            Missed::File(fault) => Self::of_file(fault.path, fault.fault),
            _ => Self {
                path: Vec::new(),
                errno: Errno::IO,
                reason: Some("something could not be read"),
            },
        }
    }

    fn exception(&self, py: Python<'_>, kind: &NameKind) -> PyResult<PyErr> {
        let path = kind.object(py, &self.path)?;
        Ok(match self.reason {
            None => os_error(self.errno, &path),
            Some(reason) => PyOSError::new_err((self.errno.raw_os_error(), reason, path.unbind())),
        })
    }
}

/// Returns exceptions for problems.
///
/// # Errors
///
/// The exception for a root itself.
fn exceptions<'py>(
    py: Python<'py>,
    kind: &NameKind,
    problems: &[Problem],
    roots: &[OsString],
) -> PyResult<Bound<'py, PyList>> {
    let list = PyList::empty(py);
    for problem in problems {
        let exception = problem.exception(py, kind)?;
        if roots.iter().any(|root| root.as_bytes() == problem.path) {
            return Err(exception);
        }
        list.append(exception.into_value(py))?;
    }
    Ok(list)
}

fn algorithm(algo: &str) -> PyResult<Algorithm> {
    match algo {
        "blake3" => Ok(Algorithm::Blake3),
        "xxh3" => Ok(Algorithm::Xxh3),
        "sha256" => Ok(Algorithm::Sha256),
        _ => Err(PyValueError::new_err(format!(
            "algo={algo:?}: expected 'blake3', 'xxh3' or 'sha256'"
        ))),
    }
}

/// Returns a path and a hash for each file, and the errors.
#[pyfunction]
pub(crate) fn hash_contents<'py>(
    paths: &Bound<'py, PyAny>,
    algo: &str,
    one_file_system: bool,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<(Bound<'py, PyList>, Bound<'py, PyList>)> {
    let py = paths.py();
    let algorithm = algorithm(algo)?;
    let engine = Engine::new(source, workers)?;
    let roots = given::paths(paths)?;
    let walk = Walk::from_roots(roots.iter().cloned())
        .follow(Follow::CommandLine)
        .stay(stay(one_file_system));
    let options = HashOptions::new(algorithm, engine.workers());
    // The number that the caller gives is for the workers that read files, not for the walk.
    let walk = engine.ready(py, walk)?.workers(None);
    let walk = walk.descriptor_reserve(options.descriptor_reserve());
    let stop = Arc::new(AtomicBool::new(false));
    let (stopped, given) = (Arc::clone(&stop), roots.clone());
    let done = waiting::run_until(py, "ringwalk-hash", &stop, move || {
        hash_all(FilesBelow::new(walk, &given), &options, &stopped)
    });
    let hashed = done??;
    let kind = NameKind::text(py)?;
    let errors = exceptions(py, &kind, &hashed.problems, &roots)?;
    let files = PyList::empty(py);
    for (path, digest) in hashed.files {
        let path = kind.object(py, path.as_os_str().as_bytes())?;
        files.append((path, PyBytes::new(py, digest.as_bytes())))?;
    }
    Ok((files, errors))
}

/// What `hash` has found.
struct Hashed {
    files: Vec<(PathBuf, Digest)>,
    problems: Vec<Problem>,
}

fn hash_all(mut below: FilesBelow, options: &HashOptions, stop: &AtomicBool) -> io::Result<Hashed> {
    let problems = Mutex::new(Vec::new());
    let files = std::iter::from_fn(|| {
        loop {
            if stop.load(Ordering::Relaxed) {
                return None;
            }
            match below.next()? {
                Ok(file) => return Some(file),
                Err(error) => lock(&problems).push(Problem::of_walk(&error)),
            }
        }
    });
    let mut hashed = Vec::new();
    hash_files(files, options, |results| {
        for (path, result) in results.drain(..) {
            match result {
                Ok(digest) => hashed.push((path, digest)),
                Err(fault) => {
                    let path = path.as_os_str().as_bytes();
                    lock(&problems).push(Problem::of_file(path, fault));
                }
            }
        }
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    Ok(Hashed {
        files: hashed,
        problems: problems.into_inner().ignore_poison(),
    })
}

/// Why a search has no answer.
enum Refused {
    Search(SearchError),
    Snapshot(ReadError),
    /// A snapshot has no hashes.
    NoHashes(OsString),
    Source(SourceError),
}

impl Refused {
    fn exception(self, py: Python<'_>) -> PyErr {
        match self {
            Self::Source(error) => given::refused(&error),
            Self::Snapshot(error) | Self::Search(SearchError::Snapshot(error)) => {
                Failure::from(error).exception(py, &[], None)
            }
            Self::NoHashes(name) => {
                PyValueError::new_err(format!("{}: the snapshot has no hashes", name.display()))
            }
            Self::Search(SearchError::Root(path, error)) => {
                let problem = Problem {
                    path: path.as_os_str().as_bytes().to_vec(),
                    errno: Errno::from_io_error(&error).unwrap_or(Errno::IO),
                    reason: None,
                };
                let exception = NameKind::text(py).and_then(|kind| problem.exception(py, &kind));
                exception.unwrap_or_else(|error| error)
            }
            Self::Search(SearchError::Threads(error)) => error.into(),
            Self::Search(error) => PyValueError::new_err(error.to_string()),
        }
    }
}

/// What the thread of a search needs.
struct Wanted {
    roots: Vec<OsString>,
    keep_in: Vec<OsString>,
    min: u64,
    one_file_system: bool,
    engine: Engine,
}

/// Returns groups of files with the same contents, the number of files that were not compared, and
/// the errors.
#[pyfunction]
pub(crate) fn find_copies<'py>(
    roots: &Bound<'py, PyAny>,
    keep_in: &Bound<'py, PyAny>,
    #[pyo3(from_py_with = given::number)] min: usize,
    one_file_system: bool,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<(Bound<'py, PyList>, u64, Bound<'py, PyList>)> {
    let py = roots.py();
    let keep_in = match keep_in.cast::<PyList>() {
        Ok(list) if list.is_empty() => Vec::new(),
        _ => given::paths(keep_in)?,
    };
    let wanted = Wanted {
        roots: given::paths(roots)?,
        keep_in,
        min: min as u64,
        one_file_system,
        engine: Engine::new(source, workers)?,
    };
    let roots: Vec<_> = wanted
        .roots
        .iter()
        .chain(&wanted.keep_in)
        .cloned()
        .collect();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let done = waiting::run_until(py, "ringwalk-dupes", &stop, move || {
        search(&wanted, stopped)
    });
    let (groups, without_hash, problems) = done?.map_err(|refused| refused.exception(py))?;
    let kind = NameKind::text(py)?;
    let errors = exceptions(py, &kind, &problems, &roots)?;
    let list = PyList::empty(py);
    for each in groups {
        list.append(group(py, &kind, &each)?)?;
    }
    Ok((list, without_hash, errors))
}

fn search(
    wanted: &Wanted,
    stop: Arc<AtomicBool>,
) -> Result<(Vec<Group>, u64, Vec<Problem>), Refused> {
    let (live, saved): (Vec<_>, Vec<_>) = wanted.roots.iter().partition(|root| is_live_root(root));
    let mut search = Search::new(live).map_err(Refused::Search)?;
    for reference in &wanted.keep_in {
        search.keep_in(reference).map_err(Refused::Search)?;
    }
    for name in &saved {
        let snapshot = ringwalk_snapshot::open(Path::new(name));
        search.snapshot(snapshot.map_err(Refused::Snapshot)?);
    }
    search.min(wanted.min);
    search.one_file_system(wanted.one_file_system);
    search.workers(wanted.engine.workers());
    search.stop_when(stop);
    let walk = wanted.engine.checked(search.walk());
    let walk = walk.map_err(Refused::Source)?;
    let problems = Mutex::new(Vec::new());
    let missed = |missed: Missed<'_>| lock(&problems).push(Problem::of_search(missed));
    let found: Found = search.run(walk, &missed).map_err(|error| match error {
        SearchError::NoHashes(number) => Refused::NoHashes(saved[number].clone()),
        error => Refused::Search(error),
    })?;
    let groups = found.groups().collect();
    Ok((
        groups,
        found.without_hash,
        problems.into_inner().ignore_poison(),
    ))
}

/// Returns the fields of a `DuplicateGroup`, with those of each `DuplicateFile`.
fn group<'py>(py: Python<'py>, kind: &NameKind, group: &Group) -> PyResult<Bound<'py, PyAny>> {
    let files = PyList::empty(py);
    for at in 0..group.copies.len() {
        files.append(file(py, kind, &group.copies, at)?)?;
    }
    let hash = group.hash.map(|hash| PyBytes::new(py, &hash));
    let fields = (group.size, hash, group.freeable, files);
    Ok(fields.into_pyobject(py)?.into_any())
}

fn file<'py>(
    py: Python<'py>,
    kind: &NameKind,
    copies: &[Copy],
    at: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let copy = &copies[at];
    let others = copy.names.iter().skip(1).map(Name::path);
    let links = others.map(|path| kind.object(py, path));
    let shares_with = copy
        .shares_with
        .map(|other| kind.object(py, copies[other].path()));
    let mtime = copy.version.mtime;
    let fields = (
        kind.object(py, copy.path())?,
        at == 0,
        copy.is_reference,
        copy.snapshot,
        copy.version.ino,
        copy.links,
        i128::from(mtime.secs) * 1_000_000_000 + i128::from(mtime.nanos),
        shares_with.transpose()?,
        PyList::new(py, links.collect::<PyResult<Vec<_>>>()?)?,
    );
    Ok(fields.into_pyobject(py)?.into_any())
}
