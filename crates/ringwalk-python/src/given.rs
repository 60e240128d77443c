//! What callers give: paths, and the options that all walks have.

use crate::names::NameKind;
use pyo3::exceptions::{PyOSError, PyOverflowError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use ringwalk::{Follow, Scan, SourceChoice, Stay, Walk};
use std::ffi::{OsStr, OsString};
use std::num::NonZeroUsize;
use std::os::unix::ffi::OsStringExt as _;

/// A path.
pub(crate) struct Given {
    pub(crate) kind: NameKind,
    /// The path as `str` or `bytes`, for exceptions.
    pub(crate) object: Py<PyAny>,
    pub(crate) path: OsString,
}

impl Given {
    /// Of `str` or `bytes`. `python/ringwalk/_paths.py` makes those of path-like objects.
    ///
    /// # Errors
    ///
    /// `TypeError` for anything else; `ValueError` if there is a NUL in it.
    pub(crate) fn new(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        let kind = NameKind::of(path)?;
        Ok(Self {
            path: OsString::from_vec(kind.encode(path)?),
            kind,
            object: path.clone().unbind(),
        })
    }
}

/// One path, or any number of them.
///
/// # Errors
///
/// As those of [`Given::new`]; `ValueError` if there are none.
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

/// Which links are followed: `"never"`, `"roots"` or `"always"`.
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

/// Where a walk does not go on.
pub(crate) fn stay(one_file_system: bool) -> Stay {
    if one_file_system {
        Stay::Device
    } else {
        Stay::Anywhere
    }
}

/// What is done about what cannot be read: true if it is raised.
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

/// By what and by how many a walk is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Engine {
    source: SourceChoice,
    workers: Option<NonZeroUsize>,
}

impl Engine {
    /// More threads than this on one tree were never of use.
    const MOST_WORKERS: usize = 1024;

    /// Of the words that were given.
    ///
    /// # Errors
    ///
    /// `ValueError` if there is no such source, or for a number that makes no sense.
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
        Ok(Self { source, workers })
    }

    /// Sets up a walk.
    pub(crate) fn apply(&self, walk: Walk) -> Walk {
        walk.source(self.source).workers(self.workers)
    }

    /// Sets up a walk, if the source that was asked for by name can read its roots.
    ///
    /// # Errors
    ///
    /// `OSError` (`ENOTSUP`) with what it is that keeps it from that.
    pub(crate) fn ready(&self, py: Python<'_>, walk: Walk) -> PyResult<Walk> {
        let walk = self.apply(walk);
        let checked = py.detach(|| walk.check_source());
        checked.map_err(|error| refused(error.path().as_os_str(), &error))?;
        Ok(walk)
    }

    /// Sets up a scan.
    pub(crate) fn apply_to_scan(&self, scan: Scan) -> Scan {
        scan.source(self.source).workers(self.workers)
    }
}

fn refused(path: &OsStr, error: &ringwalk::SourceError) -> PyErr {
    let errno = rustix::io::Errno::NOTSUP.raw_os_error();
    PyOSError::new_err((errno, error.reason().to_owned(), path.to_owned()))
}

/// A number as callers give it: those that are too large or negative are a `ValueError`, as others are that make no sense.
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

/// The same, or `None`.
pub(crate) fn number_or_none(given: &Bound<'_, PyAny>) -> PyResult<Option<usize>> {
    (!given.is_none()).then(|| number(given)).transpose()
}
