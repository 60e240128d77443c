//! The Python package `ringwalk`, as its compiled module `ringwalk._ringwalk`.
//!
//! | file | what is in it |
//! |---|---|
//! | `errors.rs` | the engine's errors as Python's exceptions: the only place where that is done |
//! | `names.rs` | names and paths as `str` or `bytes` |
//! | `walk/`, `scandir/` | `walk` and `scandir` with `DirEntry`, as the standard library's |
//!
//! The Python side is in `python/ringwalk`: `__init__.py` says what is public, `_ringwalk.pyi` has the types. What is
//! *not* here: anything that a Rust program could use, which belongs to the crates below; and any state of the module,
//! which threads of a free-threaded interpreter would have to share.

mod errors;
mod names;
mod scandir;
mod walk;

use pyo3::prelude::*;

/// The compiled part of `ringwalk`; import that instead.
#[pymodule(gil_used = false)]
mod _ringwalk {
    #[pymodule_export]
    use crate::scandir::{DirEntry, ScandirIterator, scandir};
    #[pymodule_export]
    use crate::walk::Walk;

    /// Version of the package, which is the engine's.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
