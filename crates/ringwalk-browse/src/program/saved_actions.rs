//! What can be done with entries of a snapshot: it can be exported as a whole.

use super::export::export;
use crate::service::{Actions, Format};
use crate::tree::{Id, Tree};
use ringwalk_snapshot::SnapshotTree;
use std::path::Path;
use std::sync::Arc;

/// Actions on a snapshot.
pub(super) struct SavedActions {
    tree: Arc<dyn Tree>,
    saved: Arc<SnapshotTree>,
}

impl SavedActions {
    pub(super) fn new(tree: Arc<dyn Tree>, saved: Arc<SnapshotTree>) -> Self {
        Self { tree, saved }
    }
}

impl Actions for SavedActions {
    fn shell(&self, _: &[u8]) -> Result<(), String> {
        Err("a snapshot has no directories to work in".to_owned())
    }

    fn rescan(&self, _: Id) -> Result<(), String> {
        Err("a snapshot does not change".to_owned())
    }

    fn export(&self, id: Id, format: Format, file: &Path) -> Result<(), String> {
        if id != self.tree.top() {
            return Err("a snapshot is exported as a whole: go to its top first".to_owned());
        }
        export(self.saved.snapshot(), None, format, file)
    }
}
