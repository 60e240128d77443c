//! Failures of the driver, as errors that name the path.

use super::driver::Fault;
use crate::visit::error::{Error, Operation};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Returns the error of an operation on `path`, if the path is known.
pub(super) fn failed(operation: Operation, path: Option<&Path>, fault: Fault) -> io::Error {
    let reason = match fault {
        Fault::Kernel(errno) => {
            let Some(path) = path else {
                return errno.into();
            };
            let path = path.as_os_str().as_bytes().to_vec();
            return Error::new(operation, path, errno).into();
        }
        Fault::NoThread(errno) => {
            let error = io::Error::from(errno);
            return described(
                error.kind(),
                operation,
                path,
                &format!("cannot start a thread for the call: {error}"),
            );
        }
        Fault::Lost => {
            "the answer is lost: the call panicked, or was begun before this process was forked"
        }
    };
    described(io::ErrorKind::Other, operation, path, reason)
}

fn described(
    kind: io::ErrorKind,
    operation: Operation,
    path: Option<&Path>,
    reason: &str,
) -> io::Error {
    let path = path.map_or_else(String::new, |path| {
        format!(" \"{}\"", path.as_os_str().as_bytes().escape_ascii())
    });
    io::Error::new(kind, format!("{}{path}: {reason}", operation.describe()))
}
