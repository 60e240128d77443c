//! Directories that hold what is in a trash, by the
//! [Trash Specification 1.0](https://specifications.freedesktop.org/trash-spec/1.0/).

use super::{DirId, Inventory};
use crate::inventory::DirRecord;

/// Returns true if a directory is the `files` of a trash: of `Trash` in the user's data, of
/// `.Trash-UID` at the top of a mount, or of `.Trash/UID` there.
pub(super) fn holds_files(inventory: &Inventory, id: DirId) -> bool {
    let directory = inventory.directory(id);
    if inventory.name_at(directory.name) != b"files" {
        return false;
    }
    let trash = inventory.directory(directory.parent);
    let name = name(inventory, trash);
    let of_user = name.strip_prefix(b".Trash-");
    name == b"Trash"
        || of_user.is_some_and(is_number)
        || (is_number(name)
            && self::name(inventory, inventory.directory(trash.parent)) == b".Trash")
}

/// Returns the last component of the path of a directory; of a root, that of the path as given.
fn name<'i>(inventory: &'i Inventory, directory: &'i DirRecord) -> &'i [u8] {
    let name = inventory.name_at(directory.name);
    if !name.is_empty() {
        return name;
    }
    let root = &inventory.roots()[directory.root as usize].path;
    let mut components = root.split(|byte| *byte == b'/').rev();
    components.find(|part| !part.is_empty()).unwrap_or(&[])
}

fn is_number(name: &[u8]) -> bool {
    !name.is_empty() && name.iter().all(u8::is_ascii_digit)
}
