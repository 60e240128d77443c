//! Snapshots as callers name them.

use super::failure::Failure;
use super::open::OpenSnapshot;
use crate::given::{Engine, Given};
use pyo3::prelude::*;
use ringwalk_snapshot::cluster::is_live;
use ringwalk_snapshot::{Capture, Contents, Snapshot, WriteOptions};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A snapshot that is open, or the path of a snapshot or of a directory.
pub(super) struct Input {
    /// The path, for exceptions.
    pub(super) given: Option<Given>,
    pub(super) place: Place,
}

/// Where a snapshot comes from.
#[derive(Clone)]
pub(super) enum Place {
    Open(Arc<Snapshot>),
    Path(OsString),
}

impl Input {
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        if let Ok(open) = object.cast::<OpenSnapshot>() {
            return Ok(Self {
                given: None,
                place: Place::Open(open.get().snapshot()),
            });
        }
        let given = Given::new(object)?;
        Ok(Self {
            place: Place::Path(given.path.clone()),
            given: Some(given),
        })
    }
}

impl Place {
    /// Returns true for a directory, of which a snapshot has to be taken.
    pub(super) fn is_directory(&self) -> bool {
        matches!(self, Self::Path(path) if is_live(Path::new(path)))
    }

    /// Opens a snapshot.
    pub(super) fn open(&self) -> Result<Arc<Snapshot>, Failure> {
        match self {
            Self::Open(snapshot) => Ok(Arc::clone(snapshot)),
            Self::Path(path) => Ok(Arc::new(ringwalk_snapshot::open(Path::new(path))?)),
        }
    }

    /// Opens a snapshot, or takes one of a directory, which goes into an unnamed temporary file.
    pub(super) fn open_or_take(&self, taking: &Taking) -> Result<Arc<Snapshot>, Failure> {
        match self {
            Self::Path(path) if self.is_directory() => {
                let mut write = WriteOptions::default();
                write.contents = taking.contents;
                let capture = Capture::new([path])?
                    .one_file_system(taking.one_file_system)
                    .options(write)
                    .stop_by(Arc::clone(&taking.stop));
                let walk = taking.engine.checked(capture.walk())?;
                let (snapshot, _) = capture.run_unnamed(walk, Path::new(path))?;
                Ok(Arc::new(snapshot))
            }
            _ => self.open(),
        }
    }
}

/// How a directory is read.
pub(super) struct Taking {
    pub(super) engine: Engine,
    pub(super) one_file_system: bool,
    pub(super) contents: Contents,
    pub(super) stop: Arc<AtomicBool>,
}
