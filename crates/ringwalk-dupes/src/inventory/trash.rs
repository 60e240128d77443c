//! Directories that hold what is in a trash, by the
//! [Trash Specification 1.0](https://specifications.freedesktop.org/trash-spec/1.0/): `files` of
//! `Trash` in the user's data, of `.Trash-UID` at the top of a mount, and of `.Trash/UID` there.

use super::{DirId, Inventory};
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
    let &[b"files", trash, ..] = names else {
        return false;
    };
    let of_user = trash.strip_prefix(b".Trash-");
    trash == b"Trash"
        || of_user.is_some_and(is_number)
        || (is_number(trash) && names.get(2) == Some(&b".Trash".as_slice()))
}

fn is_number(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(u8::is_ascii_digit)
}
