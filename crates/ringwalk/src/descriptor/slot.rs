//! Where a directory keeps its descriptor, and what is needed to find it again without.

use super::reopen::identity;
use crate::metadata::Identity;
use ringwalk_sys::DirectoryFd;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The descriptor of one directory, if it is held, and what is needed to find the directory again if not.
#[derive(Debug, Default)]
pub(crate) struct Slot {
    /// Children that have been found and not yet opened, and parts of its entries that have not
    /// been visited.
    pub(super) unopened: AtomicUsize,
    inner: Mutex<SlotInner>,
}

#[derive(Debug, Default)]
pub(super) struct SlotInner {
    pub(super) fd: Option<Arc<DirectoryFd>>,
    identity: Option<Identity>,
}

impl SlotInner {
    /// Notes which directory this was, so that it is known again. If even that fails, it will not be found again, and
    /// its children are reported as vanished.
    pub(super) fn remember(&mut self, fd: &DirectoryFd) {
        if self.identity.is_none() {
            self.identity = identity(fd).ok();
        }
    }
}

impl Slot {
    pub(super) fn lock(&self) -> MutexGuard<'_, SlotInner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Device and inode number of the directory, if somebody had to know them.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.lock().identity
    }

    /// Whether children are still to be opened, or parts of its entries to be visited.
    pub(super) fn is_expected(&self) -> bool {
        self.unopened.load(Ordering::Relaxed) > 0
    }

    pub(super) fn is_held(&self) -> bool {
        self.lock().fd.is_some()
    }

    pub(crate) fn set_identity(&self, identity: Identity) {
        self.lock().identity = Some(identity);
    }
}
