//! What went wrong, as an error that names the place.

use super::driver::Fault;
use crate::error::{Error, Operation};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// The error of an operation on `path`, if that is known.
pub(super) fn failed(operation: Operation, path: Option<&Path>, fault: Fault) -> io::Error {
    let what = match fault {
        Fault::Kernel(errno) => {
            let Some(path) = path else {
                return errno.into();
            };
            let path = path.as_os_str().as_bytes().to_vec();
            return Error::new(operation, path, errno).into();
        }
        Fault::NoThread(errno) => {
            let error = io::Error::from(errno);
            return said(
                error.kind(),
                operation,
                path,
                &format!("no thread for it: {error}"),
            );
        }
        Fault::Lost => {
            "the answer is lost: it was asked for before this process was forked, or by a call that panicked"
        }
    };
    said(io::ErrorKind::Other, operation, path, what)
}

fn said(kind: io::ErrorKind, operation: Operation, path: Option<&Path>, what: &str) -> io::Error {
    let path = path.map_or_else(String::new, |path| {
        format!(" \"{}\"", path.as_os_str().as_bytes().escape_ascii())
    });
    io::Error::new(kind, format!("{}{path}: {what}", operation.describe()))
}
