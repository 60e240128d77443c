//! The changes that the caller has made to the list of subdirectories.

use crate::names::NameKind;
use pyo3::gc::{PyTraverseError, PyVisit};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use ringwalk::{Chosen, Turn, path_below};
use std::collections::HashMap;

/// The changes that the caller has made to the list.
pub(super) enum Edited {
    /// No change.
    Unchanged,
    Chosen(Vec<Chosen>),
    /// The list has objects that are no names, perhaps path-like ones: code in Python must convert
    /// them.
    Odd(Py<PyList>),
}

/// A directory that the caller has received.
pub(super) struct GivenDirectory {
    /// The caller's list of subdirectories.
    list: Py<PyList>,
    /// The original contents of the list; `None` if it was empty.
    original: Option<Py<PyTuple>>,
    /// The entries of the list, to find changed names.
    entries: Vec<usize>,
    path: Py<PyAny>,
}

impl GivenDirectory {
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

    /// Visits the objects for the garbage collector.
    pub(super) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.list)?;
        visit.call(&self.original)?;
        visit.call(&self.path)
    }

    /// Replaces the caller's list by another.
    pub(super) fn replace(&mut self, list: Py<PyList>) {
        self.list = list;
    }

    /// Returns the subdirectories to descend into.
    ///
    /// # Errors
    ///
    /// If the list has a name that no file can have.
    pub(super) fn edited(&self, py: Python<'_>, kind: &NameKind) -> PyResult<Edited> {
        let list = self.list.bind(py);
        let original = match &self.original {
            None if list.is_empty() => return Ok(Edited::Unchanged),
            None => PyTuple::empty(py),
            Some(original) => original.bind(py).clone(),
        };
        if list.len() == original.len() && list.iter().zip(original.iter()).all(|(a, b)| a.is(&b)) {
            return Ok(Edited::Unchanged);
        }
        if !list.iter().all(|object| is_name(&object, kind)) {
            return Ok(Edited::Odd(self.list.clone_ref(py)));
        }
        let mut places: HashMap<Vec<u8>, usize> = HashMap::new();
        for (object, &entry) in original.iter().zip(&self.entries) {
            places.insert(kind.encode(&object)?, entry);
        }
        let mut chosen = Vec::with_capacity(list.len());
        for object in list.iter() {
            let name = kind.encode(&object)?;
            chosen.push(match places.get(&name) {
                Some(&entry) => Chosen::Entry(entry),
                None => Chosen::Path(path_below(&kind.encode(self.path.bind(py))?, &name)),
            });
        }
        Ok(Edited::Chosen(chosen))
    }
}

fn is_name(object: &Bound<'_, PyAny>, kind: &NameKind) -> bool {
    if kind.is_bytes() {
        object.is_instance_of::<PyBytes>()
    } else {
        object.is_instance_of::<PyString>()
    }
}
