//! Listings that are being made, and their memory, which is used again.

use super::{Listing, Names, PackedEntry, is_unsure};
use crate::system::time_stamps::Moment;
use ringwalk_sys::RawFileType as FileType;
use std::sync::Arc;

/// Listings that are kept for their memory. A walk makes and drops thousands of listings. One
/// thread makes them and another drops them, which is slow in the allocator.
#[derive(Debug, Default)]
pub(in crate::pull::ordered_walk) struct SpareListings(Vec<Arc<Listing>>);

impl SpareListings {
    /// The largest number of listings that are kept at a time.
    const MOST: usize = 64;

    /// The largest number of entries that a kept listing may have room for.
    const LARGEST: usize = 512;

    /// Keeps a listing, unless another owner still has it.
    pub(in crate::pull::ordered_walk) fn put(&mut self, listing: Arc<Listing>) {
        let fits = self.0.len() < Self::MOST && listing.entries.capacity() <= Self::LARGEST;
        if fits && Arc::strong_count(&listing) == 1 {
            self.0.push(listing);
        }
    }

    pub(in crate::pull::ordered_walk) fn get(&mut self) -> Option<Arc<Listing>> {
        self.0.pop()
    }

    /// Moves all but one to another place, if that is short of them.
    pub(in crate::pull::ordered_walk) fn share(&mut self, with: &mut SpareListings) {
        if with.0.len() < Self::MOST / 2 && self.0.len() > 1 {
            with.0.extend(self.0.drain(1..));
        }
    }
}

/// A listing that is being made. Its memory is used again for the next one.
#[derive(Debug, Default)]
pub(in crate::pull::ordered_walk) struct ListingBuilder {
    names: Vec<u8>,
    entries: Vec<PackedEntry>,
    directories: usize,
    unsure: usize,
}

impl ListingBuilder {
    pub(in crate::pull::ordered_walk) fn clear(&mut self) {
        self.names.clear();
        self.entries.clear();
        self.directories = 0;
        self.unsure = 0;
    }

    /// Adds an entry.
    #[inline]
    pub(in crate::pull::ordered_walk) fn push(
        &mut self,
        name: &[u8],
        file_type: FileType,
        ino: u64,
    ) {
        self.directories += usize::from(file_type == FileType::Directory);
        self.unsure += usize::from(is_unsure(file_type));
        self.entries.push(PackedEntry {
            ino,
            // A directory with 4 GiB of names has at least 8 GiB of records.
            start: u32::try_from(self.names.len()).unwrap_or(u32::MAX),
            length: u16::try_from(name.len()).unwrap_or(u16::MAX),
            file_type,
        });
        self.names.extend_from_slice(name);
        self.names.push(0);
    }

    /// Returns true if more entries fit: the indexes of names have 32 bits.
    pub(in crate::pull::ordered_walk) fn has_room(&self) -> bool {
        self.names.len() < (u32::MAX as usize) / 2
    }

    pub(in crate::pull::ordered_walk) fn has_directories(&self) -> bool {
        self.directories > 0
    }

    /// Returns the listing, in the memory of a listing that is no longer needed, if there is one.
    pub(in crate::pull::ordered_walk) fn finish(
        &mut self,
        spare: Option<Arc<Listing>>,
        path: &[u8],
        depth: usize,
        (dev, ino): (u64, u64),
        read_at: Moment,
    ) -> Arc<Listing> {
        let mut whole = spare.unwrap_or_default();
        let Some(listing) = Arc::get_mut(&mut whole) else {
            return self.finish(None, path, depth, (dev, ino), read_at);
        };
        listing.path.clear();
        listing.path.reserve_exact(path.len() + 1);
        listing.path.extend_from_slice(path);
        listing.path.push(0);
        match (std::str::from_utf8(&self.names), &mut listing.names) {
            (Ok(text), Names::Text(names)) => {
                names.clear();
                names.reserve_exact(text.len());
                names.push_str(text);
            }
            (Ok(text), names) => *names = Names::Text(text.to_owned()),
            (Err(_), names) => *names = Names::Bytes(self.names.clone()),
        }
        listing.entries.clear();
        listing.entries.reserve_exact(self.entries.len());
        listing.entries.extend_from_slice(&self.entries);
        listing.directories = self.directories;
        listing.unsure = self.unsure;
        listing.depth = depth;
        (listing.dev, listing.ino) = (dev, ino);
        listing.read_at = read_at;
        listing.trim();
        whole
    }
}
