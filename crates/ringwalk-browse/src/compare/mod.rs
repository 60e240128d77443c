//! What has grown since an older snapshot.
//!
//! Directories are compared by their paths. A listing of the older snapshot is read when somebody
//! looks at the directory.
//!
//! | file | contents |
//! |---|---|
//! | `old.rs` | what the older snapshot says of a path |
//! | `listing.rs` | the listing of a directory in the older snapshot |

mod listing;
mod old;
#[cfg(test)]
mod tests;

use crate::saved::{SnapshotView, join, read_error};
use listing::{Entry, Listing};
use old::{Old, Place};
use ringwalk::sync::lock;
use ringwalk_gnu::quote::file_always;
use ringwalk_snapshot::{SnapshotTree, places};
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex};

/// The comparison of a tree with an older snapshot.
///
/// Allocated bytes are compared. A file with several names counts for the first of them, in both:
/// `alloc_now` of a further name ([`Item::charged`](crate::tree::Item::charged) is false) is 0. The
/// growth of a directory is the growth of its entries, less the bytes of departed entries, plus the
/// growth of its own inode.
///
/// Growth is `None` if it is not known, since the older snapshot could not read the file, left it
/// out, or is a snapshot of other trees. For a directory with files that it could not read, growth
/// is the sum over the other files.
///
/// Directories and names are given as `Tree::path` and `Item::name` have them.
#[derive(Debug)]
pub struct Comparison {
    tree: Arc<SnapshotTree>,
    /// The absolute path of the top; empty if the names of its entries are absolute paths.
    top: Vec<u8>,
    old: Mutex<Old>,
}

/// An entry that only the older snapshot has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Departed {
    /// The name.
    pub name: Vec<u8>,
    /// The allocated bytes that counted for it; for a directory, with everything in it.
    pub alloc: u64,
    /// True for a directory.
    pub is_directory: bool,
}

impl Comparison {
    /// Opens an older snapshot, in each form that [`SnapshotView::open`] takes. `top` is
    /// `Tree::path_of_top` of the tree.
    ///
    /// # Errors
    ///
    /// If the snapshot cannot be read, or has nothing in common with the tree.
    pub fn open(older: &Path, top: &[u8]) -> io::Result<Self> {
        let view = SnapshotView::open(older)?;
        Self::new(Arc::clone(view.tree()), top)
    }

    /// Compares with a snapshot that is open. `top` is `Tree::path_of_top` of the tree.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn new(tree: Arc<SnapshotTree>, top: &[u8]) -> io::Result<Self> {
        let mut old = Old::default();
        let mut found = top.is_empty().then(Vec::new);
        if found.is_none() {
            for place in places(OsStr::from_bytes(top))? {
                let covers = old.covers(tree.snapshot(), &place);
                if covers.map_err(|error| read_error(&error))? {
                    found = Some(place);
                    break;
                }
            }
        }
        let Some(found) = found else {
            return Err(nothing_in_common(&tree, top));
        };
        Ok(Self {
            tree,
            top: found,
            old: Mutex::new(old),
        })
    }

    /// Returns the older snapshot.
    pub fn older(&self) -> &Arc<SnapshotTree> {
        &self.tree
    }

    /// Returns the growth of an entry of a directory. A new entry counts in full.
    ///
    /// # Errors
    ///
    /// The errors of reading the older snapshot.
    pub fn growth(&self, directory: &[u8], name: &[u8], alloc_now: u64) -> io::Result<Option<i64>> {
        let path = join(&self.top, directory);
        let mut old = lock(&self.old);
        let snapshot = self.tree.snapshot();
        let place = old.entry(snapshot, &path, name);
        let place = place.map_err(|error| read_error(&error))?;
        Ok(growth(&place, alloc_now))
    }

    /// Returns the growth of a directory. `None` for the top of several trees: its growth is the
    /// sum of the growth of its entries.
    ///
    /// # Errors
    ///
    /// The errors of reading the older snapshot.
    pub fn growth_of(&self, directory: &[u8], alloc_now: u64) -> io::Result<Option<i64>> {
        let path = join(&self.top, directory);
        let mut old = lock(&self.old);
        let place = old.place(self.tree.snapshot(), &path);
        let place = place.map_err(|error| read_error(&error))?;
        Ok(growth(&place, alloc_now))
    }

    /// Returns the entries that a directory had and for which `is_there` is false, in the order of
    /// their names. `is_there` is asked for each name in the older listing.
    ///
    /// # Errors
    ///
    /// The errors of reading the older snapshot.
    pub fn departed(
        &self,
        directory: &[u8],
        is_there: &mut dyn FnMut(&[u8]) -> bool,
    ) -> io::Result<Vec<Departed>> {
        let path = join(&self.top, directory);
        let snapshot = self.tree.snapshot();
        let place = {
            let mut old = lock(&self.old);
            old.listing(snapshot, &path)
        };
        let Place::There(listing) = place.map_err(|error| read_error(&error))? else {
            return Ok(Vec::new());
        };
        let departed = Listing::departed(snapshot, listing.rows.clone(), is_there);
        departed.map_err(|error| read_error(&error))
    }
}

fn growth(place: &Place<Entry>, alloc_now: u64) -> Option<i64> {
    let signed = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
    match place {
        Place::There(entry) => Some(signed(alloc_now) - signed(entry.alloc?)),
        Place::Missing => Some(signed(alloc_now)),
        Place::Unknown => None,
    }
}

fn nothing_in_common(tree: &SnapshotTree, top: &[u8]) -> io::Error {
    let snapshot = tree.snapshot();
    let name = file_always(snapshot.name().as_os_str().as_encoded_bytes());
    let top = file_always(top);
    let roots = snapshot.info().roots.iter();
    let roots: Vec<String> = roots
        .take(3)
        .map(|root| file_always(&root.path.0))
        .collect();
    let roots = roots.join(", ");
    io::Error::new(
        io::ErrorKind::NotFound,
        format!("{name}: this snapshot of {roots} does not have {top}, so nothing can be compared"),
    )
}
