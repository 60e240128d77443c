//! A directory that is being left, and the directory it was found in, still open or open again.

use crate::descriptor::{At, Descriptors};
use crate::dir::Dir;
use crate::error::{Error, Operation};
use rustix::io::Errno;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

/// A directory of which everything below has been left; what a visitor's [`leave`](crate::Visitor::leave) is given.
#[derive(Debug)]
pub struct Left<'a, S> {
    dir: &'a Arc<Dir<S>>,
    descriptors: &'a Descriptors<S>,
    parents_open: bool,
}

/// An open directory, or the working directory for roots: what the name of a directory is relative to.
#[derive(Clone, Debug)]
pub struct ParentFd(At);

impl AsFd for ParentFd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

impl<'a, S> Left<'a, S> {
    pub(crate) fn new(
        dir: &'a Arc<Dir<S>>,
        descriptors: &'a Descriptors<S>,
        parents_open: bool,
    ) -> Self {
        Self {
            dir,
            descriptors,
            parents_open,
        }
    }

    /// The directory that this one was found in, for calls on [`Dir::c_name`]: the very directory that was read, wherever
    /// it lies now, never one that has taken its place. For roots the working directory.
    ///
    /// # Errors
    ///
    /// Where it had to be closed meanwhile: what opening it again says, `ENOENT` if it is no longer where it was.
    /// `EBADF` for walks without [`parents_open`](crate::Walk::parents_open).
    pub fn parent_fd(&self) -> Result<ParentFd, Error> {
        let Some(parent) = self.dir.parent_arc() else {
            return Ok(ParentFd(At::Cwd));
        };
        let got = if self.parents_open {
            self.descriptors.get(parent).map_err(|f| f.errno)
        } else {
            Err(Errno::BADF)
        };
        got.map(ParentFd).map_err(|errno| Error {
            operation: Operation::Open,
            path: parent.path(),
            errno,
            vanished: errno == Errno::NOENT,
            loops_with: None,
        })
    }
}

impl<S> Deref for Left<'_, S> {
    type Target = Dir<S>;

    fn deref(&self) -> &Dir<S> {
        self.dir
    }
}
