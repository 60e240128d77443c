//! What the older snapshot says of a path.

use super::listing::{Entry, Listing, OF_ENTRY};
use crate::saved::join;
use ringwalk_snapshot::{Cursor, ReadError, Snapshot};
use std::collections::VecDeque;
use std::sync::Arc;

/// Bytes of listings that are kept, and their number.
const KEPT_BYTES: usize = 32 * 1024 * 1024;
const KEPT: usize = 256;

/// What the older snapshot says of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place<T> {
    /// It was there.
    There(T),
    /// It was not there.
    Missing,
    /// The snapshot could not read the place, left it out, or is one of other trees.
    Unknown,
}

/// The pages and listings of the older snapshot that are kept.
#[derive(Debug, Default)]
pub(super) struct Old {
    cursor: Cursor,
    /// Listings by absolute paths, the one used last at the end.
    listings: VecDeque<(Vec<u8>, Place<Arc<Listing>>)>,
    bytes: usize,
}

impl Old {
    /// Returns true if a snapshot has an absolute path, or trees below it.
    pub(super) fn covers(&mut self, snapshot: &Snapshot, path: &[u8]) -> Result<bool, ReadError> {
        let mut roots = snapshot.info().roots.iter();
        let is_above = roots.any(|root| is_above(path, &root.path.0));
        Ok(is_above || self.cursor.find(snapshot, path)?.is_some())
    }

    /// Returns what the snapshot says of an entry of a directory.
    pub(super) fn entry(
        &mut self,
        snapshot: &Snapshot,
        directory: &[u8],
        name: &[u8],
    ) -> Result<Place<Entry>, ReadError> {
        Ok(match self.listing(snapshot, directory)? {
            Place::Missing => Place::Missing,
            // The entry may be a root.
            Place::Unknown => match self.entry_at(snapshot, &join(directory, name))? {
                Some(entry) => Place::There(entry),
                None => Place::Unknown,
            },
            Place::There(listing) => {
                let found = if listing.is_kept() {
                    listing.find(name)
                } else {
                    self.entry_at(snapshot, &join(directory, name))?
                };
                match found {
                    Some(entry) => Place::There(entry),
                    None if listing.is_complete => Place::Missing,
                    None => Place::Unknown,
                }
            }
        })
    }

    /// Returns what the snapshot says of an absolute path.
    pub(super) fn place(
        &mut self,
        snapshot: &Snapshot,
        path: &[u8],
    ) -> Result<Place<Entry>, ReadError> {
        if let Some(entry) = self.entry_at(snapshot, path)? {
            return Ok(Place::There(entry));
        }
        let slash = path.iter().rposition(|byte| *byte == b'/');
        let Some(slash) = slash.filter(|_| path.len() > 1) else {
            return Ok(Place::Unknown);
        };
        let (directory, name) = (&path[..slash.max(1)], &path[slash + 1..]);
        self.entry(snapshot, directory, name)
    }

    fn entry_at(&mut self, snapshot: &Snapshot, path: &[u8]) -> Result<Option<Entry>, ReadError> {
        let Some(row) = self.cursor.find(snapshot, path)? else {
            return Ok(None);
        };
        let (chunk, at) = self.cursor.row(snapshot, row, &OF_ENTRY)?;
        Ok(Some(Entry::of(chunk, at)))
    }

    /// Returns the listing of the directory at an absolute path.
    pub(super) fn listing(
        &mut self,
        snapshot: &Snapshot,
        path: &[u8],
    ) -> Result<Place<Arc<Listing>>, ReadError> {
        // The directory that is shown is at the end of the list.
        let found = self.listings.iter().rposition(|(known, _)| known == path);
        if let Some(kept) = found.and_then(|at| self.listings.remove(at)) {
            let listing = kept.1.clone();
            self.listings.push_back(kept);
            return Ok(listing);
        }
        let listing = self.read_listing(snapshot, path)?;
        self.bytes += bytes(path, &listing);
        self.listings.push_back((path.to_vec(), listing.clone()));
        while self.listings.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some((path, oldest)) = self.listings.pop_front() else {
                break;
            };
            self.bytes -= bytes(&path, &oldest);
        }
        Ok(listing)
    }

    fn read_listing(
        &mut self,
        snapshot: &Snapshot,
        path: &[u8],
    ) -> Result<Place<Arc<Listing>>, ReadError> {
        if let Some(row) = self.cursor.find(snapshot, path)? {
            let (chunk, at) = self.cursor.row(snapshot, row, &OF_ENTRY)?;
            let entry = Entry::of(chunk, at);
            if !entry.is_directory {
                // A file was there, so the entries of today's directory are new.
                return Ok(Place::Missing);
            }
            let rows = self.cursor.listing(snapshot, row)?;
            let listing = Listing::read(snapshot, rows, entry.alloc.is_some())?;
            return Ok(Place::There(Arc::new(listing)));
        }
        // The nearest directory above that was there says whether the path was missing.
        let mut above = path;
        while let Some(slash) = above.iter().rposition(|byte| *byte == b'/') {
            above = &above[..slash];
            let root: &[u8] = if above.is_empty() { b"/" } else { above };
            if let Some(row) = self.cursor.find(snapshot, root)? {
                let (chunk, at) = self.cursor.row(snapshot, row, &OF_ENTRY)?;
                let entry = Entry::of(chunk, at);
                let is_read = !entry.is_directory || entry.alloc.is_some();
                return Ok(if is_read {
                    Place::Missing
                } else {
                    Place::Unknown
                });
            }
        }
        Ok(Place::Unknown)
    }
}

fn bytes(path: &[u8], listing: &Place<Arc<Listing>>) -> usize {
    let listing = match listing {
        Place::There(listing) => listing.bytes(),
        Place::Missing | Place::Unknown => 0,
    };
    path.len() + listing
}

/// Returns true if a directory lies above a path, by their text.
fn is_above(directory: &[u8], path: &[u8]) -> bool {
    let directory = directory.strip_suffix(b"/").unwrap_or(directory);
    let rest = path.strip_prefix(directory);
    rest.is_some_and(|rest| rest.starts_with(b"/"))
}
