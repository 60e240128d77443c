//! The Python package `ringwalk`, as its compiled module `ringwalk._ringwalk`.
//!
//! | file | contents |
//! |---|---|
//! | `errors.rs` | the engine's errors as Python's exceptions: the only place where that is done |
//! | `names.rs` | names and paths as `str` or `bytes` |
//! | `given.rs` | paths and options as callers give them |
//! | `waiting.rs` | waiting for other threads without the interpreter's lock, with an eye on signals |
//! | `scan/` | `scan` |
//! | `sums.rs` | `du`, `count` |
//! | `find/` | `find` |
//! | `contents.rs` | `hash`, `dupes` |
//! | `doctor.rs` | the report of `doctor` |
//! | `cluster/` | a task of `ringwalk.cluster`, and the snapshot of all parts |
//! | `snapshot/` | `snapshot`, `open_snapshot`, `diff`, `report` |
//! | `walk/`, `scandir/` | `walk` and `scandir` with `DirEntry`, as the standard library's |
//!
//! **No Python code runs below frames of Rust**, and no function that detaches from the interpreter
//! by itself. When the interpreter ends, a daemon thread that attaches again is ended at that call
//! (before Python 3.14). Frames of Rust cannot be unwound for that, so the process would abort.
//! `attach` and `detach` of pyo3 are safe: they park the thread for ever instead. So this crate
//! makes system calls in Rust, detached, and `python/ringwalk` calls callbacks and path-like
//! objects. The exceptions are: `__index__` and `__bool__` of arguments of types that are not built
//! in, and the warning about an unclosed `scandir`.
//!
//! The Python side is in `python/ringwalk`: `__init__.py` lists the public names, `_ringwalk.pyi`
//! has the types. This crate has nothing that a Rust program could use; that belongs to the crates
//! below. The module has no state, which threads of a free-threaded interpreter would have to
//! share.

#![allow(
    clippy::doc_lazy_continuation,
    clippy::doc_link_with_quotes,
    clippy::doc_markdown,
    reason = "documentation that is read in Python"
)]

mod cluster;
mod contents;
mod doctor;
mod errors;
mod find;
mod given;
mod names;
mod scan;
mod scandir;
mod snapshot;
mod sums;
mod waiting;
mod walk;

use pyo3::prelude::*;

/// The compiled part of `ringwalk`. Programs import `ringwalk`.
#[pymodule(gil_used = false)]
mod _ringwalk {
    #[pymodule_export]
    use crate::cluster::{cluster_compact, cluster_file_system, cluster_mounts, cluster_task};
    #[pymodule_export]
    use crate::contents::{find_copies, hash_contents};
    #[pymodule_export]
    use crate::doctor::examine;
    #[pymodule_export]
    use crate::find::{Found, find};
    #[pymodule_export]
    use crate::scan::{Batch, Bell, Errors, Leftover, Scan, scan};
    #[pymodule_export]
    use crate::scandir::{DirEntry, ScandirIterator, scandir};
    #[pymodule_export]
    use crate::snapshot::{Change, Diff, FileVersion, OpenSnapshot};
    #[pymodule_export]
    use crate::snapshot::{add_up, compare, take_snapshot};
    #[pymodule_export]
    use crate::sums::{Count, Usage, count, du};
    #[pymodule_export]
    use crate::walk::Walk;

    /// The version of the package and of the engine.
    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");
}
