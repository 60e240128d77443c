//! Directories that are not open while their entries are visited.

use crate::sources::names_at::OpenOnDemand;
use crate::visit::dir::Dir;
use crate::walk::descriptors::Descriptors;
use ringwalk_sys::DirectoryFd;
use rustix::io::{Errno, retry_on_intr};
use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

/// A directory that is not open while its entries are visited. It was listed past the VFS, or was
/// closed when descriptors were scarce. It is opened when a visitor asks for its descriptor.
pub(super) struct Unopened<'a, S> {
    dir: &'a Arc<Dir<S>>,
    descriptors: &'a Descriptors<S>,
    fd: OnceCell<Result<Arc<DirectoryFd>, Errno>>,
}

impl<'a, S> Unopened<'a, S> {
    pub(super) fn new(dir: &'a Arc<Dir<S>>, descriptors: &'a Descriptors<S>) -> Self {
        Self {
            dir,
            descriptors,
            fd: OnceCell::new(),
        }
    }
}

impl<S> fmt::Debug for Unopened<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unopened").finish_non_exhaustive()
    }
}

impl<S> OpenOnDemand for Unopened<'_, S> {
    fn open(&self) -> Result<&DirectoryFd, Errno> {
        let open = || {
            self.descriptors
                .open_for_visit(self.dir)
                .map_err(|failure| {
                    // Something else has replaced the directory, or one above it. The replacement
                    // has none of the entries.
                    if failure.is_race() {
                        Errno::NOENT
                    } else {
                        failure.errno
                    }
                })
        };
        // An error is kept, so it must not be one that callers answer by another try.
        let opened = self.fd.get_or_init(|| retry_on_intr(open));
        opened.as_deref().map_err(|errno| *errno)
    }
}
