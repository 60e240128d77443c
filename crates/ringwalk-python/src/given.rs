//! Arguments of callers: paths, and the options that all walks have.

use crate::names::NameKind;
use pyo3::exceptions::{PyOSError, PyOverflowError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use ringwalk::{Budget, Follow, InodeSweep, SourceChoice, SourceError, Stay, Walk};
use std::ffi::OsString;
use std::num::{NonZeroU64, NonZeroUsize};
use std::os::unix::ffi::OsStringExt as _;
use std::time::Duration;

/// A path.
pub(crate) struct Given {
    pub(crate) kind: NameKind,
    /// The path as the caller gave it, `str` or `bytes`, for exceptions.
    pub(crate) object: Py<PyAny>,
    pub(crate) path: OsString,
}

impl Given {
    /// Converts `str` or `bytes`. `python/ringwalk/_paths.py` converts path-like objects to these.
    ///
    /// # Errors
    ///
    /// `TypeError` for any other object; `ValueError` for a path with a NUL.
    pub(crate) fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kind = NameKind::of(path)?;
        Ok(Self {
            path: OsString::from_vec(kind.encode(path)?),
            kind,
            object: path.clone().unbind(),
        })
    }
}

/// Converts one path, or an iterable of paths.
///
/// # Errors
///
/// The errors of [`Given::new`]; `ValueError` if there is no path.
pub(crate) fn paths(given: &Bound<'_, PyAny>) -> PyResult<Vec<OsString>> {
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        return Ok(vec![Given::new(given)?.path]);
    }
    let paths = given
        .try_iter()?
        .map(|path| Ok(Given::new(&path?)?.path))
        .collect::<PyResult<Vec<_>>>()?;
    if paths.is_empty() {
        return Err(PyValueError::new_err("no path to begin with"));
    }
    Ok(paths)
}

/// Returns the links to follow: `"never"`, `"roots"` or `"always"`.
///
/// # Errors
///
/// `ValueError` for other words.
pub(crate) fn follow(word: &str) -> PyResult<Follow> {
    match word {
        "never" => Ok(Follow::Never),
        "roots" => Ok(Follow::CommandLine),
        "always" => Ok(Follow::Always),
        _ => Err(PyValueError::new_err(format!(
            "follow={word:?}: expected 'never', 'roots' or 'always'"
        ))),
    }
}

/// Returns the bounds of a walk.
pub(crate) fn stay(one_file_system: bool) -> Stay {
    if one_file_system {
        Stay::Device
    } else {
        Stay::Anywhere
    }
}

/// Returns true if read errors are raised.
///
/// # Errors
///
/// `ValueError` for other words than `"raise"` and `"collect"`.
pub(crate) fn raises(on_error: &str) -> PyResult<bool> {
    match on_error {
        "raise" => Ok(true),
        "collect" => Ok(false),
        _ => Err(PyValueError::new_err(format!(
            "on_error={on_error:?}: expected 'raise' or 'collect'"
        ))),
    }
}

/// The source and the number of threads of a walk.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    source: SourceChoice,
    workers: Option<NonZeroUsize>,
    /// Requests to a server at a time.
    in_flight: Option<NonZeroUsize>,
    entries_per_second: Option<NonZeroU64>,
}

impl Engine {
    /// More threads than this on one tree were never of use.
    const MOST_WORKERS: usize = 1024;

    /// Converts the options of a caller.
    ///
    /// # Errors
    ///
    /// `ValueError` for a source that does not exist, and for an invalid number.
    pub(crate) fn new(source: &str, workers: Option<usize>) -> PyResult<Self> {
        let source = source
            .parse()
            .map_err(|error| PyValueError::new_err(format!("source={source:?}: {error}")))?;
        let workers = workers
            .map(|number| {
                NonZeroUsize::new(number)
                    .filter(|_| number <= Self::MOST_WORKERS)
                    .ok_or_else(|| {
                        PyValueError::new_err(format!(
                            "workers={number}: expected a number from 1 to {}",
                            Self::MOST_WORKERS
                        ))
                    })
            })
            .transpose()?;
        Ok(Self {
            source,
            workers,
            in_flight: None,
            entries_per_second: None,
        })
    }

    /// Limits the requests to a server.
    ///
    /// # Errors
    ///
    /// `ValueError` for 0.
    pub(crate) fn limited(
        self,
        in_flight: Option<usize>,
        entries_per_second: Option<usize>,
    ) -> PyResult<Self> {
        let none = |name| PyValueError::new_err(format!("{name}=0: expected at least 1"));
        let in_flight =
            in_flight.map(|requests| NonZeroUsize::new(requests).ok_or_else(|| none("in_flight")));
        let entries_per_second = entries_per_second.map(|entries| {
            NonZeroU64::new(entries as u64).ok_or_else(|| none("entries_per_second"))
        });
        Ok(Self {
            in_flight: in_flight.transpose()?,
            entries_per_second: entries_per_second.transpose()?,
            ..self
        })
    }

    /// Sets up a walk.
    pub(crate) fn apply(&self, walk: Walk) -> Walk {
        walk.source(self.source)
            .workers(self.workers)
            .in_flight(self.in_flight)
            .entries_per_second(self.entries_per_second)
    }

    /// Sets up a walk, and checks that a source given by name can read its roots.
    ///
    /// # Errors
    ///
    /// `OSError` (`ENOTSUP`) with the reason if the source cannot read a root.
    pub(crate) fn ready(&self, py: Python<'_>, walk: Walk) -> PyResult<Walk> {
        py.detach(|| self.checked(walk))
            .map_err(|error| refused(&error))
    }

    /// Sets up a walk as [`ready`](Self::ready) does, on a thread without the interpreter.
    ///
    /// # Errors
    ///
    /// If the source cannot read a root; [`refused`] makes the exception.
    pub(crate) fn checked(&self, walk: Walk) -> Result<Walk, SourceError> {
        let walk = self.apply(walk);
        walk.check_source()?;
        Ok(walk)
    }

    /// Returns the number of threads, if the caller gave one.
    pub(crate) fn workers(&self) -> Option<NonZeroUsize> {
        self.workers
    }

    /// Sets up a scan.
    pub(crate) fn apply_to_sweep(&self, scan: InodeSweep) -> InodeSweep {
        scan.source(self.source).workers(self.workers)
    }
}

/// Returns the exception for a source that cannot read a root.
pub(crate) fn refused(error: &SourceError) -> PyErr {
    let errno = rustix::io::Errno::NOTSUP.raw_os_error();
    let path = error.path().as_os_str().to_owned();
    PyOSError::new_err((errno, error.reason().to_owned(), path))
}

/// Returns the budget of a walk.
///
/// # Errors
///
/// `ValueError` for a negative or infinite time, and for no entries.
pub(crate) fn budget(seconds: Option<f64>, entries: Option<usize>) -> PyResult<Budget> {
    let time = seconds.map(Duration::try_from_secs_f64).transpose();
    let most = Duration::MAX.as_secs();
    let time = time.map_err(|_| {
        PyValueError::new_err(format!("seconds: expected a number from 0 to {most}"))
    })?;
    let entries = entries
        .map(|number| {
            NonZeroU64::new(number as u64)
                .ok_or_else(|| PyValueError::new_err("entries=0: expected at least 1"))
        })
        .transpose()?;
    Ok(Budget { time, entries })
}

/// Converts an iterable of names, or `None`. A text is one, of its characters, and never meant.
pub(crate) fn names_or_none(given: &Bound<'_, PyAny>) -> PyResult<Option<Vec<String>>> {
    if given.is_none() {
        return Ok(None);
    }
    let wrong = |found: &Bound<'_, PyAny>| {
        let found = found.repr().map(|text| text.to_string());
        let found = found.unwrap_or_default();
        PyTypeError::new_err(format!("{found}: expected a list of names"))
    };
    if given.is_instance_of::<PyString>() || given.is_instance_of::<PyBytes>() {
        return Err(wrong(given));
    }
    let names = given.try_iter().map_err(|_| wrong(given))?.map(|name| {
        let name = name?;
        name.extract().map_err(|_| wrong(&name))
    });
    names.collect::<PyResult<_>>().map(Some)
}

/// Converts a number of a caller. Numbers that are negative or too large are a `ValueError`, like
/// other invalid numbers.
pub(crate) fn number(given: &Bound<'_, PyAny>) -> PyResult<usize> {
    given.extract().map_err(|error: PyErr| {
        if error.is_instance_of::<PyOverflowError>(given.py()) {
            PyValueError::new_err(format!(
                "{given}: expected a number from 0 to {}",
                usize::MAX
            ))
        } else {
            error
        }
    })
}

/// Converts a number or `None`.
pub(crate) fn number_or_none(given: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    (!given.is_none()).then(|| number(given)).transpose()
}
