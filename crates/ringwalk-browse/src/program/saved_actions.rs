//! What can be done with entries of a snapshot: they can be exported.

use super::export::{export_all, export_row};
use crate::service::{Actions, Export, IsWanted, Unshared};
use crate::tree::{Id, Tree};
use ringwalk_snapshot::SnapshotTree;
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

    fn unshared(&self, _: &[Id], _: IsWanted<'_>) -> Result<Unshared, String> {
        let why = "a snapshot does not know what files share: browse the directory itself";
        Err(why.to_owned())
    }

    fn export(&self, id: Id, export: &Export<'_>) -> Result<Option<String>, String> {
        let snapshot = self.saved.snapshot();
        if id == self.tree.top() && export.matches.is_none() {
            return export_all(snapshot, export);
        }
        if id.0 >= snapshot.rows() {
            return Err(
                "matches of several trees have no common root: open one of them".to_owned(),
            );
        }
        let path = self.tree.path(id).map_err(|error| error.to_string())?;
        export_row(snapshot, id.0, &path, export)
    }
}
