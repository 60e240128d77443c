//! Read errors of a walk, by root and path.

use crate::entry::Failure;
use crate::write::Failures;
use ringwalk::Error;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Collects the errors that the workers report.
#[derive(Debug)]
pub(super) struct FailureLog<'a> {
    roots: &'a [PathBuf],
    seen: Mutex<Failures>,
}

impl<'a> FailureLog<'a> {
    pub(super) fn new(roots: &'a [PathBuf]) -> Self {
        Self {
            roots,
            seen: Mutex::default(),
        }
    }

    /// Notes an error, and returns it. A file that was removed since it was listed is none.
    pub(super) fn add(&self, error: &Error) -> Option<Failure> {
        if error.is_vanished() {
            return None;
        }
        let failure = Failure {
            operation: error.operation().into(),
            errno: error.errno(),
        };
        let key = self.key(error.path());
        lock(&self.seen).insert(key, failure);
        Some(failure)
    }

    /// Returns the root of a path and the path relative to it. Roots do not lie within each other.
    fn key(&self, path: &Path) -> (usize, Vec<u8>) {
        let mut roots = self.roots.iter().enumerate();
        let found = roots.find_map(|(index, root)| {
            let rest = path.strip_prefix(root).ok()?;
            Some((index, rest.as_os_str().as_bytes().to_vec()))
        });
        // A path below no root has no row: the error is counted all the same.
        found.unwrap_or_else(|| (usize::MAX, path.as_os_str().as_bytes().to_vec()))
    }

    pub(super) fn into_failures(self) -> Failures {
        self.seen.into_inner().ignore_poison()
    }
}
