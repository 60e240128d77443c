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
pub(crate) struct FailureLog<'a> {
    roots: &'a [PathBuf],
    /// The failures; `None` if they are reported and not kept.
    seen: Option<Mutex<Failures>>,
}

impl<'a> FailureLog<'a> {
    pub(super) fn new(roots: &'a [PathBuf]) -> Self {
        Self {
            roots,
            seen: Some(Mutex::default()),
        }
    }

    /// Creates a log that keeps nothing.
    pub(super) fn forgetful(roots: &'a [PathBuf]) -> Self {
        Self { roots, seen: None }
    }

    /// Notes an error, and returns it. Returns `None` for a file that was removed after it was
    /// listed: that is no error.
    pub(super) fn add(&self, error: &Error) -> Option<Failure> {
        if error.is_vanished() {
            return None;
        }
        let failure = Failure {
            operation: error.operation().into(),
            errno: error.errno(),
        };
        if let Some(seen) = &self.seen {
            lock(seen).add(self.place(error.path()), failure);
        }
        Some(failure)
    }

    /// Returns the root of a path and the path relative to it. Roots do not lie within each other.
    pub(super) fn place<'p>(&self, path: &'p Path) -> Option<(usize, &'p [u8])> {
        let (index, _, rest) = self.located(path)?;
        Some((index, rest))
    }

    /// Returns index and path of the root of a path, and the path relative to it.
    pub(super) fn located<'p>(&self, path: &'p Path) -> Option<(usize, &'a Path, &'p [u8])> {
        let mut roots = self.roots.iter().enumerate();
        roots.find_map(|(index, root)| {
            let rest = path.strip_prefix(root).ok()?;
            Some((index, root.as_path(), rest.as_os_str().as_bytes()))
        })
    }

    pub(super) fn into_failures(self) -> Failures {
        let seen = self.seen.map(|seen| seen.into_inner().ignore_poison());
        seen.unwrap_or_default()
    }
}
