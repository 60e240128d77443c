//! `--from`: find, du and count on a snapshot in place of the live file system.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::Path;
use std::sync::Arc;

use ringwalk::{Errno, SavedTree};
use ringwalk_find::saved::SavedSearch;
use ringwalk_snapshot::{Info, Snapshot, SnapshotTree, Text};

use crate::console;
use crate::quote::quoted;

/// Opens a snapshot.
///
/// # Errors
///
/// A message that names the file.
pub fn open(name: &OsStr) -> Result<Arc<SnapshotTree>, String> {
    match ringwalk_snapshot::open(Path::new(name)) {
        Ok(snapshot) => Ok(Arc::new(SnapshotTree::new(snapshot))),
        Err(error) => Err(format!(
            "cannot read {}: {}",
            quoted(error.path()),
            error.reason()
        )),
    }
}

/// Returns true if a path leads to a snapshot: somebody may have forgotten `--from`.
pub fn is_snapshot(path: &Path) -> bool {
    // To open a pipe could wait for ever.
    let is_file = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    is_file && Snapshot::open(path).is_ok()
}

/// Opens a snapshot for a search.
///
/// # Errors
///
/// A message that names the file.
pub fn open_for_search(name: &OsStr) -> Result<Arc<SavedSearch>, String> {
    let tree = open(name)?;
    let info = tree.snapshot().info();
    let types = info.file_systems.iter().zip(0..);
    Ok(Arc::new(SavedSearch {
        roots: roots(info),
        users: names(&info.users),
        groups: names(&info.groups),
        knows_names: info.has_all_names(),
        knows_types: info.has_all_file_system_types(),
        file_systems: types
            .map(|(file_system, index)| {
                let kind = file_system.kind.as_deref().unwrap_or("unknown");
                (index, kind.as_bytes().to_vec())
            })
            .collect(),
        tree,
    }))
}

fn names(names: &BTreeMap<u32, Text>) -> BTreeMap<u32, Vec<u8>> {
    let names = names.iter();
    names
        .map(|(number, name)| (*number, name.0.clone()))
        .collect()
}

/// Returns the paths of the roots.
pub fn roots(info: &Info) -> Vec<OsString> {
    let roots = info.roots.iter();
    roots
        .map(|root| OsString::from_vec(root.path.0.clone()))
        .collect()
}

/// Keeps the operands that a snapshot holds, and reports the others. Without operands returns the
/// roots of the snapshot. The second result is true if an operand was reported.
pub fn operands(tree: &SnapshotTree, given: Vec<OsString>, follow: bool) -> (Vec<OsString>, bool) {
    if given.is_empty() {
        return (roots(tree.snapshot().info()), false);
    }
    let number = given.len();
    let mut kept = given;
    kept.retain(|path| {
        let Err(errno) = tree.find(path.as_bytes(), follow) else {
            return true;
        };
        let path = quoted(path);
        match errno {
            Errno::NOENT => console::error(format_args!("{path}: not in {}", tree.describe())),
            errno => console::error(format_args!("{path}: {}", console::reason(&errno.into()))),
        }
        false
    });
    let failed = kept.len() < number;
    (kept, failed)
}

/// Reports why a snapshot could not be read to its end, if that is so.
pub fn report_failure(tree: &dyn SavedTree) -> bool {
    let failure = tree.failure();
    if let Some(why) = &failure {
        console::error(format_args!("cannot read {why}"));
    }
    failure.is_some()
}
