//! `doctor`: a report on the sources that this kernel, user and file system allow.

use crate::errors::os_error;
use crate::given::Given;
use pyo3::prelude::*;
use ringwalk_doctor::Report;
use std::path::Path;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/doctor.txt"))]
#[pyfunction]
#[pyo3(signature = (path=None))]
pub(crate) fn doctor<'py>(
    py: Python<'py>,
    path: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let here = pyo3::types::PyString::new(py, ".").into_any();
    let given = Given::new(path.unwrap_or(&here))?;
    let report = py.detach(|| Report::of(Path::new(&given.path), None).map(|report| report.json()));
    let json = report.map_err(|errno| os_error(errno, given.object.bind(py)))?;
    py.import("json")?.call_method1("loads", (json,))
}
