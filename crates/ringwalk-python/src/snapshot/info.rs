//! What a snapshot says of itself, as a dictionary.

use crate::names::NameKind;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use ringwalk_snapshot::{FileSystemInfo, Info, Moment, Text};
use std::collections::BTreeMap;

/// Returns a dictionary with the keys of the footer.
pub(crate) fn dictionary<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let kind = NameKind::text(py)?;
    let all = PyDict::new(py);
    let tool = PyDict::new(py);
    tool.set_item("name", &info.tool.name)?;
    tool.set_item("version", &info.tool.version)?;
    all.set_item("tool", tool)?;
    let roots = info.roots.iter().map(|root| kind.object(py, &root.path.0));
    all.set_item("roots", roots.collect::<PyResult<Vec<_>>>()?)?;
    let file_systems = info
        .file_systems
        .iter()
        .map(|each| file_system(py, &kind, each));
    all.set_item("filesystems", file_systems.collect::<PyResult<Vec<_>>>()?)?;
    all.set_item("users", names(py, &kind, &info.users)?)?;
    all.set_item("groups", names(py, &kind, &info.groups)?)?;
    let verdict = PyDict::new(py);
    verdict.set_item("complete", info.verdict.complete)?;
    verdict.set_item("errors", info.verdict.errors)?;
    verdict.set_item("entries", info.verdict.entries)?;
    all.set_item("verdict", verdict)?;
    let run = PyDict::new(py);
    run.set_item("start_ns", nanoseconds(info.run.start))?;
    run.set_item("end_ns", nanoseconds(info.run.end))?;
    run.set_item("source", &info.run.source)?;
    all.set_item("run", run)?;
    Ok(all)
}

fn file_system<'py>(
    py: Python<'py>,
    kind: &NameKind,
    file_system: &FileSystemInfo,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    let mount_point = file_system.mount_point.as_ref();
    let mount_point = mount_point.map(|path| kind.object(py, &path.0));
    all.set_item("uuid", &file_system.uuid)?;
    all.set_item("type", &file_system.kind)?;
    all.set_item("mount_point", mount_point.transpose()?)?;
    all.set_item("device", file_system.device)?;
    Ok(all)
}

fn names<'py>(
    py: Python<'py>,
    kind: &NameKind,
    names: &BTreeMap<u32, Text>,
) -> PyResult<Bound<'py, PyDict>> {
    let all = PyDict::new(py);
    for (number, name) in names {
        all.set_item(number, kind.object(py, &name.0)?)?;
    }
    Ok(all)
}

/// Returns nanoseconds since 1970.
fn nanoseconds(moment: Moment) -> i128 {
    i128::from(moment.seconds) * 1_000_000_000 + i128::from(moment.nanoseconds)
}
