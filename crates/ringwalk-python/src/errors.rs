//! Converts the engine's errors to Python exceptions and warnings.

use pyo3::exceptions::{PyOSError, PyRuntimeWarning};
use pyo3::prelude::*;
use ringwalk::Errno;
use ringwalk_snapshot::NotKept;
use std::ffi::CString;
use std::path::Path;

/// Returns `OSError(errno, strerror, filename)`, which Python turns into `FileNotFoundError`,
/// `PermissionError` and so on.
///
/// `filename` is the argument of the caller (`str`, `bytes`, a descriptor), or
/// [`pyo3::Python::None`].
pub(crate) fn os_error(errno: Errno, filename: &Bound<'_, PyAny>) -> PyErr {
    match filename.py().import("os").and_then(|os| {
        os.call_method1("strerror", (errno.raw_os_error(),))
            .map(Bound::unbind)
    }) {
        Ok(text) => PyOSError::new_err((errno.raw_os_error(), text, filename.clone().unbind())),
        Err(error) => error,
    }
}

/// Warns of the rights of a replaced file that the new one at `output` could not get. A filter that
/// turns warnings into exceptions cannot undo the file: Python's hook gets the exception.
pub(crate) fn warn_not_kept(output: &Path, rights: NotKept) {
    Python::attach(|py| {
        let message = format!("{}: {rights}", output.display());
        let category = py.get_type::<PyRuntimeWarning>();
        // A path has no NUL.
        let message = CString::new(message).unwrap_or_default();
        if let Err(error) = PyErr::warn(py, &category, &message, 1) {
            error.write_unraisable(py, None);
        }
    });
}
