//! Names and paths as Python's objects: `str` where a caller gives `str`, `bytes` for `bytes`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBytes, PyString};

/// What names are given as.
pub(crate) enum NameKind {
    Bytes,
    /// Decoded as `os.fsdecode` does, but by the codec itself: that function is written in Python,
    /// and code in Python may have to wait for the interpreter. From UTF-8, with escapes for what
    /// is not, most names need not be decoded there.
    Text {
        utf8: bool,
        encoding: Py<PyAny>,
        errors: Py<PyAny>,
    },
}

impl NameKind {
    /// What goes with a path that is `str` or `bytes`.
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

    /// As `str`.
    pub(crate) fn text(py: Python<'_>) -> PyResult<Self> {
        // The interpreter never changes it.
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

    /// Whether names that are UTF-8 are `str` with just those characters.
    #[inline]
    pub(crate) fn is_utf8_text(&self) -> bool {
        matches!(self, Self::Text { utf8: true, .. })
    }

    /// The object for a name or a path.
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

    /// The bytes of a path that is `str` or `bytes`.
    ///
    /// # Errors
    ///
    /// `ValueError` if there is a NUL in it; `UnicodeEncodeError` if it has characters that no file name has.
    pub(crate) fn encode(&self, object: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
        let bytes = match self {
            Self::Text {
                utf8,
                encoding,
                errors,
            } if object.is_instance_of::<PyString>() => match object.cast::<PyString>()?.to_str() {
                Ok(text) if *utf8 => text.as_bytes().to_vec(),
                // There are escapes in it.
                _ => {
                    let encoded = object.call_method1("encode", (encoding, errors))?;
                    encoded.cast::<PyBytes>()?.as_bytes().to_vec()
                }
            },
            _ => object.cast::<PyBytes>()?.as_bytes().to_vec(),
        };
        if bytes.contains(&0) {
            return Err(PyValueError::new_err("embedded null byte"));
        }
        Ok(bytes)
    }
}
