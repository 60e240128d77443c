//! A snapshot that is searched.

use ringwalk_find::saved::SavedSearch;
use ringwalk_snapshot::{SnapshotTree, Text};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::sync::Arc;

/// Returns a snapshot with what was saved beside its files.
pub(super) fn saved_search(tree: &Arc<SnapshotTree>) -> SavedSearch {
    let info = tree.snapshot().info();
    let roots = info.roots.iter().map(|root| root.path.0.clone());
    let types = info.file_systems.iter().map(|file_system| {
        let kind = file_system.kind.as_deref().unwrap_or("unknown");
        kind.as_bytes().to_vec()
    });
    SavedSearch {
        roots: roots.map(OsString::from_vec).collect(),
        users: names(&info.users),
        groups: names(&info.groups),
        knows_names: info.has_all_names(),
        knows_types: info.has_all_file_system_types(),
        file_systems: (0..).zip(types).collect(),
        tree: Arc::clone(tree) as _,
    }
}

fn names(names: &BTreeMap<u32, Text>) -> BTreeMap<u32, Vec<u8>> {
    let names = names.iter();
    names
        .map(|(number, name)| (*number, name.0.clone()))
        .collect()
}
