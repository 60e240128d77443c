//! A directory that is being left, and the directory that it was found in.

use crate::visit::dir::Dir;
use crate::visit::error::{Error, Operation};
use crate::walk::descriptors::{At, Descriptors};
use rustix::io::Errno;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A directory that has been left, with everything below it: the argument of a visitor's
/// [`leave`](crate::Visitor::leave).
#[derive(Debug)]
pub struct Left<'a, S> {
    pub(crate) dir: &'a Arc<Dir<S>>,
    pub(crate) descriptors: &'a Descriptors<S>,
    pub(crate) parents_open: bool,
    /// The walk reads a saved tree.
    pub(crate) saved: bool,
}

/// The directory that the name of another one is relative to: an open directory, or the working
/// directory for roots.
#[derive(Clone, Debug)]
pub struct ParentFd(At);

impl AsFd for ParentFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<S> Left<'_, S> {
    /// Returns the directory that this one was found in, for calls on [`Dir::c_name`]. It is the
    /// very directory that was read, wherever it lies now, never one that has replaced it. For
    /// roots it is the working directory.
    ///
    /// # Errors
    ///
    /// If the directory had to be closed meanwhile, the errors of opening it again: `ENOENT` if it
    /// is no longer at its place. `EBADF` for walks without
    /// [`parents_open`](crate::Walk::parents_open). `EOPNOTSUPP` for saved trees.
    pub fn parent_fd(&self) -> Result<ParentFd, Error> {
        let parent = self.dir.parent_arc();
        let got = match parent {
            _ if self.saved => Err(Errno::OPNOTSUPP),
            None => Ok(At::Cwd),
            Some(parent) if self.parents_open => self.descriptors.get(parent).map_err(|f| f.errno),
            Some(_) => Err(Errno::BADF),
        };
        got.map(ParentFd)
            .map_err(|errno| error_of(parent.unwrap_or(self.dir), errno))
    }

    /// Returns true if the directory is one of a saved tree.
    pub fn is_saved(&self) -> bool {
        self.saved
    }
}

impl<S> Deref for Left<'_, S> {
    type Target = Dir<S>;

    fn deref(&self) -> &Dir<S> {
        self.dir
    }
}

/// Returns the error of opening a directory.
fn error_of<S>(dir: &Dir<S>, errno: Errno) -> Error {
    Error {
        operation: Operation::Open,
        path: dir.path(),
        depth: dir.depth(),
        errno,
        vanished: errno == Errno::NOENT,
        loops_with: None,
    }
}
