//! Names and paths as Python objects: `str` for callers that use `str`, `bytes` for `bytes`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

/// The type of the names that a caller gets.
pub(crate) enum NameKind {
    Bytes,
    /// Decoded like `os.fsdecode`, but by the codec itself: `os.fsdecode` is written in Python, and
    /// code in Python may have to wait for the interpreter. For UTF-8 with escapes, most names need
    /// no codec.
    Text {
        utf8: bool,
        encoding: Py<PyAny>,
        errors: Py<PyAny>,
    },
}

impl NameKind {
    /// Returns the type that matches a path of `str` or `bytes`.
    ///
    /// # Errors
    ///
    /// `TypeError` for anything else.
    pub(crate) fn of(path: &Bound<'_, PyAny>) -> PyResult<Self> {
        if path.is_instance_of::<PyBytes>() {
            Ok(Self::Bytes)
        } else if path.is_instance_of::<PyString>() {
            Self::text(path.py())
        } else {
            let name = path.get_type().name()?;
            Err(PyTypeError::new_err(format!(
                "expected str, bytes or os.PathLike object, not {name}"
            )))
        }
    }

    /// Returns the type for `str`.
    pub(crate) fn text(py: Python<'_>) -> PyResult<Self> {
        // The interpreter never changes this encoding.
        static CODEC: PyOnceLock<(bool, Py<PyAny>, Py<PyAny>)> = PyOnceLock::new();
        let (utf8, encoding, errors) = CODEC.get_or_try_init(py, || {
            let sys = py.import("sys")?;
            let encoding = sys.call_method0("getfilesystemencoding")?;
            let errors = sys.call_method0("getfilesystemencodeerrors")?;
            let utf8 = encoding.extract::<String>()? == "utf-8";
            Ok::<_, PyErr>((utf8, encoding.unbind(), errors.unbind()))
        })?;
        Ok(Self::Text {
            utf8: *utf8,
            encoding: encoding.clone_ref(py),
            errors: errors.clone_ref(py),
        })
    }

    pub(crate) fn is_bytes(&self) -> bool {
        matches!(self, Self::Bytes)
    }

    /// Returns true if names in UTF-8 become `str` with exactly those characters.
    #[inline]
    pub(crate) fn is_utf8_text(&self) -> bool {
        matches!(self, Self::Text { utf8: true, .. })
    }

    /// Returns the object for a name or a path.
    pub(crate) fn object<'py>(&self, py: Python<'py>, bytes: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        match self {
            Self::Bytes => Ok(PyBytes::new(py, bytes).into_any()),
            Self::Text {
                utf8,
                encoding,
                errors,
            } => match std::str::from_utf8(bytes) {
                Ok(text) if *utf8 => Ok(PyString::new(py, text).into_any()),
                _ => PyBytes::new(py, bytes).call_method1("decode", (encoding, errors)),
            },
        }
    }

    /// Returns the bytes of a path of `str` or `bytes`.
    ///
    /// # Errors
    ///
    /// `ValueError` for a path with a NUL; `UnicodeEncodeError` for characters that no file name
    /// has.
    pub(crate) fn encode(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let bytes = match self {
            Self::Text {
                utf8,
                encoding,
                errors,
            } if object.is_instance_of::<PyString>() => match object.cast::<PyString>()?.to_str() {
                Ok(text) if *utf8 => text.as_bytes().to_vec(),
                // The text has escapes.
                _ => {
                    let encoded = object.call_method1("encode", (encoding, errors))?;
                    encoded.cast::<PyBytes>()?.as_bytes().to_vec()
                }
            },
            Self::Text { .. } | Self::Bytes => object.cast::<PyBytes>()?.as_bytes().to_vec(),
        };
        if bytes.contains(&0) {
            return Err(PyValueError::new_err("embedded null byte"));
        }
        Ok(bytes)
    }
}
