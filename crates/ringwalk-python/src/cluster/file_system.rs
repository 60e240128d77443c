//! What identifies the file system of a root after another mount.

use pyo3::prelude::*;
use ringwalk_snapshot::cluster::file_system_of;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;

#[doc = include_str!(concat!(env!("OUT_DIR"), "/cluster_file_system.txt"))]
#[pyfunction]
pub(crate) fn cluster_file_system(
    py: Python<'_>,
    directory: Vec<u8>,
) -> (Option<String>, Option<u64>) {
    let directory = PathBuf::from(OsString::from_vec(directory));
    py.detach(|| file_system_of(&directory))
}
