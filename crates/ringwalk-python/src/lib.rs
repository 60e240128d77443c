//! The Python package `ringwalk`, as its compiled module `ringwalk._ringwalk`.
//!
//! | file | what is in it |
//! |---|---|
//! | `errors.rs` | the engine's errors as Python's exceptions: the only place where that is done |
//!
//! The Python side is in `python/ringwalk`: `__init__.py` says what is public, `_ringwalk.pyi` has the types. What is
//! *not* here: anything that a Rust program could use, which belongs to the crates below; and any state of the module,
//! which threads of a free-threaded interpreter would have to share.

mod errors;

use pyo3::prelude::*;

/// The compiled part of `ringwalk`; import that instead.
#[pymodule(gil_used = false)]
mod _ringwalk {
    /// Version of the package, which is the engine's.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
