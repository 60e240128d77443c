//! What is mounted below the roots.

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ringwalk_snapshot::cluster::mounts_below;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

type Mounted = (
    Py<PyBytes>,
    Option<u64>,
    Option<String>,
    Option<u64>,
    String,
);

#[doc = include_str!(concat!(env!("OUT_DIR"), "/cluster_mounts.txt"))]
#[pyfunction]
pub(crate) fn cluster_mounts(
    py: Python<'_>,
    roots: Vec<Vec<u8>>,
    expected: Vec<Vec<u8>>,
) -> PyResult<Vec<Mounted>> {
    let paths = |all: Vec<Vec<u8>>| -> Vec<PathBuf> {
        let all = all.into_iter();
        all.map(|path| OsString::from_vec(path).into()).collect()
    };
    let (roots, expected) = (paths(roots), paths(expected));
    let found = py.detach(|| mounts_below(&roots, &expected))?;
    let found = found.into_iter().map(|mount| {
        let point = PyBytes::new(py, mount.point.as_os_str().as_bytes()).unbind();
        (point, mount.inode, mount.uuid, mount.subvolume, mount.kind)
    });
    Ok(found.collect())
}
