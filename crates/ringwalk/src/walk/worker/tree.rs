//! Directories whose entries were read together with the entries of a directory above. They are not
//! open.

use super::Worker;
use crate::sources::TreeListing;
use crate::visit::batch::numbers_of_read;
use crate::visit::dir::Dir;
use crate::visit::visitor::Visitor;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Visits the entries of a directory that was read before.
    pub(super) fn list_from_tree(&mut self, dir: Arc<Dir<V::State>>, listing: TreeListing) {
        if dir.parent().is_some_and(Dir::is_pruned) {
            return self.abandon(dir);
        }
        let identity = listing.identity;
        let Ok(metadata) = listing.fill(&mut self.raw) else {
            // The bytes are no records. The directory is opened and read by itself.
            return self.open(dir);
        };
        // Where a descriptor is needed, the directory is found again by its identity.
        dir.slot.set_identity(identity);
        if !self.enter(&dir, || Ok(identity)) {
            return self.finish(dir);
        }
        self.sort_entries();
        self.visit(&dir, None, numbers_of_read(0), metadata, 0, None);
        self.finish(dir);
    }
}
