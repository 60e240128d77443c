//! The place of a directory's descriptor, and the identity by which the directory is found again.

use super::reopen::identity;
use crate::visit::metadata::Identity;
use ringwalk_sys::DirectoryFd;
use ringwalk_sys::sync::lock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

/// The descriptor of one directory while it is held, and the identity by which the directory is
/// found again without it.
#[derive(Debug, Default)]
pub(crate) struct DescriptorSlot {
    /// Children that have been found and not yet opened, and parts of the entries that have not
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
    /// Notes the identity of the directory, by which it is found again. If fstat(2) fails, it will
    /// not be found, and its children are reported as vanished.
    pub(super) fn remember(&mut self, fd: &DirectoryFd) {
        if self.identity.is_none() {
            self.identity = identity(fd).ok();
        }
    }
}

impl DescriptorSlot {
    pub(super) fn lock(&self) -> MutexGuard<'_, SlotInner> {
        lock(&self.inner)
    }

    /// Returns device and inode number of the directory, if they were noted.
    pub(crate) fn identity(&self) -> Option<Identity> {
        self.lock().identity
    }

    /// Returns true if children are still to be opened, or parts of its entries to be visited.
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
