//! What the caller has made of the list of subdirectories.

use crate::names::NameKind;
use pyo3::exceptions::PyValueError;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyTuple};
use ringwalk::{Chosen, Turn, path_below};
use std::collections::HashMap;

/// A directory that has been given.
pub(super) struct Given {
    /// The list that the caller has.
    list: Py<PyList>,
    /// What was in it; `None` for nothing.
    original: Option<Py<PyTuple>>,
    /// The entries it was made from, to be found by name if it was changed.
    entries: Vec<usize>,
    path: Py<PyAny>,
}

impl Given {
    pub(super) fn new(list: Bound<'_, PyList>, path: Bound<'_, PyAny>, turn: &Turn) -> Self {
        let original = (turn.directories() > 0).then(|| list.to_tuple().unbind());
        let listing = turn.listing();
        let entries = if original.is_some() {
            (0..listing.len())
                .filter(|&index| turn.is_directory(index))
                .collect()
        } else {
            Vec::new()
        };
        Self {
            list: list.unbind(),
            original,
            entries,
            path: path.unbind(),
        }
    }

    /// For the garbage collector.
    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.list)?;
        visit.call(&self.original)?;
        visit.call(&self.path)
    }

    /// What is to be gone down into, if the caller has changed the list.
    ///
    /// # Errors
    ///
    /// If there is something in the list that is no name: what `os.path.join` says of it.
    pub(super) fn chosen(&self, py: Python<'_>, kind: &NameKind) -> PyResult<Option<Vec<Chosen>>> {
        let list = self.list.bind(py);
        let original = match &self.original {
            None if list.is_empty() => return Ok(None),
            None => PyTuple::empty(py),
            Some(original) => original.bind(py).clone(),
        };
        if list.len() == original.len() && list.iter().zip(original.iter()).all(|(a, b)| a.is(&b)) {
            return Ok(None);
        }
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for (object, &entry) in original.iter().zip(&self.entries) {
            places.insert(kind.encode(&object)?, entry);
        }
        let mut chosen = Vec::with_capacity(list.len());
        for object in list.iter() {
            let name = self.name(&object, kind)?;
            chosen.push(match places.get(&name) {
                Some(&entry) => Chosen::Entry(entry),
                None => Chosen::Path(path_below(&kind.encode(self.path.bind(py))?, &name)),
            });
        }
        Ok(Some(chosen))
    }

    fn name(&self, object: &Bound<'_, PyAny>, kind: &NameKind) -> PyResult<Vec<u8>> {
        let py = object.py();
        let path = self.path.bind(py);
        let fits = if kind.is_bytes() {
            object.is_instance_of::<pyo3::types::PyBytes>()
        } else {
            object.is_instance_of::<PyString>()
        };
        let name = if fits {
            kind.encode(object)?
        } else {
            // A path-like object is as good; of anything else this says what is wrong.
            let joined = py.import("os.path")?.call_method1("join", (path, object))?;
            let mut joined = kind.encode(&joined)?;
            if joined.first() != Some(&b'/') {
                // Relative to the working directory as the top is: below it, without its path.
                let above = kind.encode(path)?;
                let below = joined.split_off(above.len().min(joined.len()));
                joined = below.strip_prefix(b"/").unwrap_or(&below).to_vec();
            }
            joined
        };
        if name.contains(&0) {
            return Err(PyValueError::new_err("embedded null byte"));
        }
        Ok(name)
    }
}
