//! Converts the engine's errors to Python exceptions.

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use ringwalk::Errno;

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
