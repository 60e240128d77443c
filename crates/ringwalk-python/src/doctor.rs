//! `doctor`: a report on the sources that this kernel, user and file system allow.

use crate::errors::os_error;
use crate::given::Given;
use pyo3::prelude::*;
use ringwalk_doctor::Report;
use std::path::Path;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/examine.txt"))]
#[pyfunction]
pub(crate) fn examine(path: &Bound<'_, PyAny>) -> PyResult<String> {
    let given = Given::new(path)?;
    let report = path
        .py()
        .detach(|| Report::of(Path::new(&given.path), None).map(|report| report.json()));
    report.map_err(|errno| os_error(errno, path))
}
