//! Taking a snapshot.

use super::failure::Failure;
use super::info;
use crate::errors::warn_not_kept;
use crate::given::{self, Engine, Given};
use crate::waiting;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringwalk_snapshot::{Capture, Contents, Info, OlderSnapshot, WriteOptions};
use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A snapshot to be taken.
struct Order {
    roots: Vec<OsString>,
    output: OsString,
    /// The older snapshot.
    since: Option<OsString>,
    one_file_system: bool,
    write: WriteOptions,
    engine: Engine,
    stop: Arc<AtomicBool>,
}

impl Order {
    fn run(self) -> Result<Info, Failure> {
        let mut capture = Capture::new(self.roots)?
            .one_file_system(self.one_file_system)
            .options(self.write)
            .stop_by(self.stop);
        if let Some(since) = self.since {
            let older = OlderSnapshot::new(ringwalk_snapshot::open(Path::new(&since))?)?;
            capture = capture.since(Arc::new(older));
        }
        let walk = self.engine.checked(capture.walk())?;
        let captured = capture.run(walk, Path::new(&self.output))?;
        Ok(captured.info)
    }
}

#[doc = include_str!(concat!(env!("OUT_DIR"), "/take_snapshot.txt"))]
#[pyfunction]
#[pyo3(signature = (roots, output, since, xattrs, atime, projid, one_file_system, memory, workers,
    source))]
#[expect(
    clippy::too_many_arguments,
    clippy::fn_params_excessive_bools,
    reason = "keywords of Python"
)]
pub(crate) fn take_snapshot<'py>(
    roots: &Bound<'py, PyAny>,
    output: &Bound<'py, PyAny>,
    since: Option<&Bound<'py, PyAny>>,
    xattrs: bool,
    atime: bool,
    projid: bool,
    one_file_system: bool,
    #[pyo3(from_py_with = given::number_or_none)] memory: Option<usize>,
    #[pyo3(from_py_with = given::number_or_none)] workers: Option<usize>,
    source: &str,
) -> PyResult<Bound<'py, PyDict>> {
    let py = roots.py();
    let output = Given::new(output)?;
    let since = since.map(Given::new).transpose()?;
    let mut write = WriteOptions::default();
    write.not_kept = warn_not_kept;
    write.memory = memory.unwrap_or(write.memory);
    write.contents = Contents {
        atime,
        xattrs,
        projid,
        ..Contents::default()
    };
    let stop = Arc::<AtomicBool>::default();
    let order = Order {
        roots: given::paths(roots)?,
        output: output.path.clone(),
        since: since.as_ref().map(|since| since.path.clone()),
        one_file_system,
        write,
        engine: Engine::new(source, workers)?,
        stop: Arc::clone(&stop),
    };
    let taken = waiting::run_until(py, "ringwalk-snapshot", &stop, move || order.run())?;
    let given: Vec<_> = [Some(&output), since.as_ref()]
        .into_iter()
        .flatten()
        .collect();
    let info = taken.map_err(|failure| failure.exception(py, &given, None))?;
    info::dictionary(py, &info)
}
