//! What a scan with a budget leaves over.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringwalk::{Identity, Remaining};

#[doc = include_str!(concat!(env!("OUT_DIR"), "/Leftover.txt"))]
#[pyclass(frozen, eq, module = "ringwalk")]
#[derive(Clone, PartialEq)]
pub(crate) struct Leftover(pub(super) ringwalk::Leftover);

/// Device and inode number.
type Pair = (u64, u64);

fn pair(identity: Identity) -> Pair {
    (identity.dev, identity.ino)
}

fn identity((dev, ino): Pair) -> Identity {
    Identity { dev, ino }
}

#[pymethods]
impl Leftover {
    #[new]
    fn new(
        root: usize,
        root_identity: Pair,
        path: Vec<u8>,
        depth: usize,
        own_identity: Option<Pair>,
        position: Option<i64>,
        read: u64,
    ) -> PyResult<Self> {
        let levels = ringwalk::Leftover::depth_of(&path).ok_or_else(|| {
            PyValueError::new_err(
                "the path of a leftover is relative to its root, without . and ..",
            )
        })?;
        if depth != levels {
            return Err(PyValueError::new_err(format!(
                "depth={depth}: the path of the leftover has {levels} levels"
            )));
        }
        if let Some(position) = position.filter(|position| *position < 0) {
            return Err(PyValueError::new_err(format!(
                "position={position}: expected a position of a directory, from 0"
            )));
        }
        let to = None;
        Ok(Self(ringwalk::Leftover {
            root,
            root_identity: identity(root_identity),
            path,
            depth,
            identity: own_identity.map(identity),
            remaining: match position {
                Some(position) => Remaining::From { position, to },
                None => Remaining::Whole,
            },
            read,
            tag: 0,
        }))
    }

    /// The arguments of the constructor, for pickle.
    fn __getnewargs__<'py>(
        &self,
        py: Python<'py>,
    ) -> (
        usize,
        Pair,
        Bound<'py, PyBytes>,
        usize,
        Option<Pair>,
        Option<i64>,
        u64,
    ) {
        let leftover = &self.0;
        (
            leftover.root,
            pair(leftover.root_identity),
            self.path(py),
            leftover.depth,
            leftover.identity.map(pair),
            self.position(),
            leftover.read,
        )
    }

    #[getter]
    fn root(&self) -> usize {
        self.0.root
    }

    #[getter]
    fn path<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.0.path)
    }

    #[getter]
    fn depth(&self) -> usize {
        self.0.depth
    }

    #[getter]
    fn position(&self) -> Option<i64> {
        match self.0.remaining {
            Remaining::From { position, .. } => Some(position),
            Remaining::Whole | Remaining::Names(_) => None,
        }
    }

    fn __repr__(&self) -> String {
        let path = self.0.path.escape_ascii();
        let position = match self.position() {
            Some(position) => position.to_string(),
            None => "None".to_owned(),
        };
        format!("<ringwalk.Leftover b\"{path}\" position={position}>")
    }
}

/// Returns leftovers for a walk.
pub(super) fn of(given: &[PyRef<'_, Leftover>]) -> Vec<ringwalk::Leftover> {
    given.iter().map(|leftover| leftover.0.clone()).collect()
}
