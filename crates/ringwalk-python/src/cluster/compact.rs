//! The snapshot of all parts.

use crate::errors::warn_not_kept;
use crate::snapshot::{Failure, info_dictionary};
use crate::waiting;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringwalk_snapshot::WriteOptions;
use ringwalk_snapshot::cluster::Compact;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/cluster_compact.txt"))]
#[pyfunction]
#[pyo3(signature = (directory, output, *, memory))]
pub(crate) fn cluster_compact(
    py: Python<'_>,
    directory: Vec<u8>,
    output: Vec<u8>,
    #[pyo3(from_py_with = crate::given::number_or_none)] memory: Option<usize>,
) -> PyResult<Bound<'_, PyDict>> {
    let path = |bytes| PathBuf::from(OsString::from_vec(bytes));
    let (directory, output) = (path(directory), path(output));
    let mut options = WriteOptions::default();
    options.not_kept = warn_not_kept;
    options.memory = memory.unwrap_or(options.memory);
    let stop = Arc::<AtomicBool>::default();
    let compact = Compact::new(&directory)
        .options(options)
        .stop_by(Arc::clone(&stop));
    let made = waiting::run_until(py, "ringwalk-compact", &stop, move || compact.run(&output))?;
    let info = made.map_err(|error| Failure::from(error).exception(py, &[], None))?;
    info_dictionary(py, &info)
}
