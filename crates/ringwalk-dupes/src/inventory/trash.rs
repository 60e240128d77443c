//! Directories that hold what is in a trash, by the
//! [Trash Specification 1.0](https://specifications.freedesktop.org/trash-spec/1.0/): `files` of one
//! of its [directories](is_trash).

use super::{DirId, Inventory};
use ringwalk_delete::is_trash;
use std::ffi::OsStr;
use std::path::Path;

/// Returns true if a directory that has a parent is the `files` of a trash.
pub(super) fn holds_files(inventory: &Inventory, id: DirId) -> bool {
    let above = components(&inventory.root_of(id).real);
    let names: Vec<_> = inventory.names_up(id).chain(above).take(3).collect();
    are_files_of_trash(&names)
}

/// Returns true if a path without symbolic links is the `files` of a trash, or lies in it.
pub(super) fn lies_in_one(path: &Path) -> bool {
    let names: Vec<_> = components(path).collect();
    (0..names.len()).any(|at| are_files_of_trash(&names[at..]))
}

/// Returns the components of a path, the last one first.
fn components(path: &Path) -> impl Iterator<Item = &[u8]> {
    path.iter().rev().map(OsStr::as_encoded_bytes)
}

/// Looks at the names of a directory, of the one that holds it, and so on.
fn are_files_of_trash(names: &[&[u8]]) -> bool {
    matches!(names, &[b"files", trash, ..] if is_trash(trash, names.get(2).copied()))
}
