//! Directories whose entries were read together with the entries of a directory above. They are not
//! open.

use super::Worker;
use super::list::ListedEntries;
use crate::sources::TreeListing;
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
        self.sort_entries();
        let listed = ListedEntries {
            identity,
            next: None,
            failure: None,
            metadata,
            calls: 0,
            begin: None,
        };
        self.begin_listed(dir, listed);
    }
}
