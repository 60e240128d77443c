//! Lists directories by their `DIR_ITEM`s, and looks up the inodes of their entries.

use super::item::{DirItems, InodeItem, Location, has_name, kind};
use super::runs::{InodeRun, Lookup, first_run};
use super::{Btrfs, refused};
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::volume::{DirectoryKey, Position, Reader, Refused};
use crate::sources::wanted::Wanted;
use ringwalk_sys::btrfs::{Item, Key, TreeSearch};
use ringwalk_sys::{RawFileType as FileType, Records};
use rustix::io::Errno;
use std::sync::Arc;

/// One worker's reader.
pub(super) struct BtrfsReader {
    volume: Arc<Btrfs>,
    search: TreeSearch,
    /// Entries to look up, in the order of inode numbers.
    lookups: Vec<Lookup>,
}

impl BtrfsReader {
    pub(super) fn new(volume: Arc<Btrfs>) -> Self {
        Self {
            volume,
            search: TreeSearch::default(),
            lookups: Vec::new(),
        }
    }
}

impl Reader for BtrfsReader {
    fn list(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let listed = self.list_batch(dir, from, &mut batch.records);
        if listed.is_err() {
            batch.clear();
        }
        listed
    }

    fn stat(&mut self, dir: DirectoryKey<'_>, batch: &mut RawBatch, wanted: Wanted) {
        let RawBatch { records, known, .. } = batch;
        // What came from an older tree stays.
        known.resize(records.len(), Known::Nothing);
        let mut lookups = std::mem::take(&mut self.lookups);
        lookups.clear();
        for (index, known) in known.iter().enumerate() {
            let (ino, file_type) = (records.ino(index), records.file_type(index));
            let is_skipped = match file_type {
                FileType::Unknown => true,
                FileType::Symlink => wanted.follows(),
                FileType::Directory
                | FileType::Regular
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Fifo
                | FileType::Socket => false,
            };
            let is_open = matches!(known, Known::Nothing);
            // An entry that leads to another subvolume has 0.
            if is_open && !is_skipped && ino != 0 {
                lookups.push(Lookup { ino, index });
            }
        }
        lookups.sort_unstable();
        let mut rest = lookups.as_slice();
        while let Some(run) = first_run(rest) {
            let end = rest.partition_point(|lookup| lookup.ino <= run.last);
            let (now, after) = rest.split_at(end);
            // Inodes that are not found stay unknown.
            let _ = self.look_up(dir.ino, run, now, records, known);
            rest = after;
        }
        self.lookups = lookups;
    }
}

impl BtrfsReader {
    /// Lists entries, as long as there is room in one search.
    fn list_batch(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        records: &mut Records,
    ) -> Result<Option<Position>, Refused> {
        let first = match from {
            None => Key::first(dir.ino, kind::INODE_ITEM),
            Some(position) => Key {
                offset: position.at,
                ..Key::first(dir.ino, kind::DIR_ITEM)
            },
        };
        let range = first..=Key::last(dir.ino, kind::DIR_ITEM);
        let (volume, search) = (&self.volume, &mut self.search);
        let mut found = search
            .search(
                volume.mounted.directory(),
                volume.tree,
                range,
                u32::MAX,
                TreeSearch::ROOM,
            )
            .map_err(refused)?;
        let mut owner = Owner::new(dir, from.is_some());
        let mut next = None;
        for item in found.by_ref() {
            next = item.key.next();
            match item.key.kind {
                kind::DIR_ITEM => take_entries(item, records)?,
                _ => owner.look_at(item),
            }
        }
        owner.check()?;
        if found.is_all() {
            return Ok(None);
        }
        let goes_on = next.filter(|next| next.kind <= kind::DIR_ITEM);
        // Extended attributes come before entries.
        let at = |next: Key| match next.kind {
            kind::DIR_ITEM => next.offset,
            _ => 0,
        };
        Ok(goes_on.map(|next| Position::at(at(next))))
    }

    /// Fills in the metadata of `lookups`, which are the entries of one run.
    fn look_up(
        &mut self,
        directory: u64,
        run: InodeRun,
        lookups: &[Lookup],
        records: &Records,
        known: &mut [Known],
    ) -> Result<(), Errno> {
        let (volume, search) = (&self.volume, &mut self.search);
        let mut taker = MetadataFiller {
            volume,
            directory,
            records,
            known,
            lookups,
            inode: None,
        };
        let last = Key::last(run.last, kind::INODE_REF);
        let mut first = Key::first(run.first, kind::INODE_ITEM);
        // Only the inode item is needed for a file that is not a directory.
        let alone = run.first == run.last
            && lookups
                .iter()
                .all(|lookup| records.file_type(lookup.index) != FileType::Directory);
        let most = if alone { 1 } else { u32::MAX };
        while first <= last {
            let mut found = search.search(
                volume.mounted.directory(),
                volume.tree,
                first..=last,
                most,
                TreeSearch::ROOM,
            )?;
            let mut end = None;
            for item in found.by_ref() {
                taker.take(item);
                end = Some(item.key);
            }
            let Some(end) = end.filter(|_| !alone && !found.is_all()) else {
                return Ok(());
            };
            let Some(next) = taker.next_after(end) else {
                return Ok(());
            };
            first = next;
        }
        Ok(())
    }
}

/// Adds the entries of one item. They are in the order of hashes, which never changes.
#[inline]
fn take_entries(item: Item<'_>, records: &mut Records) -> Result<(), Refused> {
    for entry in DirItems(item.data) {
        let entry = entry.map_err(|_| Refused::because("an entry of it is not understood"))?;
        let ino = match entry.location {
            Location::Inode(ino) => ino,
            Location::Subvolume(_) => 0,
        };
        records.push_bytes(entry.name, entry.file_type, ino);
    }
    Ok(())
}

/// Checks that a directory is the wanted one.
struct Owner<'n> {
    dir: DirectoryKey<'n>,
    is_directory: bool,
    is_named: bool,
}

impl<'n> Owner<'n> {
    /// Creates a checker. `known` is true if the directory was checked before.
    fn new(dir: DirectoryKey<'n>, known: bool) -> Self {
        Self {
            dir,
            is_directory: known,
            is_named: known || dir.parent.is_none(),
        }
    }

    fn look_at(&mut self, item: Item<'_>) {
        match item.key.kind {
            kind::INODE_ITEM => {
                let inode = InodeItem::new(item.data);
                self.is_directory = inode.is_some_and(|inode| {
                    inode.file_type() == FileType::Directory && inode.nlink() > 0
                });
            }
            kind::INODE_REF if Some(item.key.offset) == self.dir.parent => {
                self.is_named = has_name(item.data, self.dir.name);
            }
            _ => {}
        }
    }

    fn check(&self) -> Result<(), Refused> {
        if !self.is_directory {
            return Err(Refused::because("it has been deleted"));
        }
        if !self.is_named {
            return Err(Refused::because("it has been moved"));
        }
        Ok(())
    }
}

/// Gives entries the metadata of their inodes.
struct MetadataFiller<'t> {
    volume: &'t Btrfs,
    /// The directory of the entries.
    directory: u64,
    records: &'t Records,
    known: &'t mut [Known],
    /// Entries that the search has not reached.
    lookups: &'t [Lookup],
    /// The number and the metadata of a directory whose inode was found, but whose name was not
    /// yet.
    inode: Option<(u64, crate::visit::metadata::Metadata)>,
}

impl MetadataFiller<'_> {
    #[inline]
    fn take(&mut self, item: Item<'_>) {
        let ino = item.key.objectid;
        match item.key.kind {
            kind::INODE_ITEM => {
                while self.lookups.first().is_some_and(|lookup| lookup.ino < ino) {
                    self.lookups = &self.lookups[1..];
                }
                self.inode = None;
                if self.lookups.first().is_some_and(|lookup| lookup.ino == ino)
                    && let Some(inode) = InodeItem::new(item.data)
                {
                    self.take_inode(ino, inode);
                }
            }
            kind::INODE_REF if item.key.offset == self.directory => self.take_name(ino, item.data),
            _ => {}
        }
    }

    fn take_inode(&mut self, ino: u64, inode: InodeItem<'_>) {
        let mounted = &self.volume.mounted;
        if inode.nlink() == 0 || inode.is_unsettled(mounted) {
            return;
        }
        let metadata = inode.to_metadata(ino, mounted.metadata.dev, mounted);
        if inode.file_type() == FileType::Directory {
            self.inode = Some((ino, metadata));
            return;
        }
        for lookup in self.lookups.iter().take_while(|lookup| lookup.ino == ino) {
            if self.records.file_type(lookup.index) == inode.file_type() {
                self.known[lookup.index] = Known::Metadata(metadata);
            }
        }
    }

    /// Takes the name of a directory, which has only one. Another entry with its number may be a
    /// subvolume.
    fn take_name(&mut self, ino: u64, references: &[u8]) {
        let Some((_, metadata)) = self.inode.filter(|(of, _)| *of == ino) else {
            return;
        };
        for lookup in self.lookups.iter().take_while(|lookup| lookup.ino == ino) {
            let name = self.records.name(lookup.index).to_bytes();
            if self.records.file_type(lookup.index) == FileType::Directory
                && has_name(references, name)
            {
                self.known[lookup.index] = Known::Metadata(metadata);
            }
        }
    }

    /// Returns the key at which the search continues when the room was used up behind the item
    /// `end`. Skips items of an inode other than its names.
    fn next_after(&self, end: Key) -> Option<Key> {
        let next = end.next()?;
        if next.kind <= kind::INODE_REF {
            return Some(next);
        }
        let later = self
            .lookups
            .iter()
            .find(|lookup| lookup.ino > end.objectid)?;
        Some(Key::first(later.ino, kind::INODE_ITEM))
    }
}
