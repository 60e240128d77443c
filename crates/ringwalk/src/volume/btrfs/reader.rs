//! Lists directories by their `DIR_ITEM`s, and looks up the inodes of their entries.

use super::item::{Entries, InodeItem, Location, has_name, kind};
use super::runs::{Lookup, Run, first_run};
use super::{Btrfs, refused};
use crate::raw_batch::{Known, RawBatch};
use crate::stat::Wanted;
use crate::volume::{Position, Reader, Refused, Wanting};
use ringwalk_sys::btrfs::{Item, Key, TreeSearch};
use ringwalk_sys::{RawFileType as FileType, Records};
use rustix::io::Errno;
use std::sync::Arc;

/// One worker's reader.
pub(super) struct BtrfsReader {
    volume: Arc<Btrfs>,
    search: TreeSearch,
    /// Entries to be looked up, by inode number.
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
        dir: Wanting<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let listed = self.list_batch(dir, from, &mut batch.records);
        if listed.is_err() {
            batch.clear();
        }
        listed
    }

    fn stat(&mut self, dir: Wanting<'_>, batch: &mut RawBatch, wanted: Wanted) {
        let RawBatch { records, known, .. } = batch;
        known.clear();
        known.resize(records.len(), Known::Nothing);
        let mut lookups = std::mem::take(&mut self.lookups);
        lookups.clear();
        for index in 0..records.len() {
            let (ino, file_type) = (records.ino(index), records.file_type(index));
            let left_out = match file_type {
                FileType::Unknown => true,
                FileType::Symlink => wanted.follows(),
                _ => false,
            };
            // What leads to another subvolume has 0.
            if !left_out && ino != 0 {
                lookups.push(Lookup { ino, index });
            }
        }
        lookups.sort_unstable();
        let mut rest = lookups.as_slice();
        while let Some(run) = first_run(rest) {
            let end = rest.partition_point(|lookup| lookup.ino <= run.last);
            let (now, after) = rest.split_at(end);
            // What is not found stays unknown.
            let _ = self.look_up(dir.ino, run, now, records, known);
            rest = after;
        }
        self.lookups = lookups;
    }
}

impl BtrfsReader {
    /// Entries as long as there is room in one search.
    fn list_batch(
        &mut self,
        dir: Wanting<'_>,
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
        Ok(goes_on.map(|next| Position {
            // Extended attributes come before entries.
            at: if next.kind == kind::DIR_ITEM {
                next.offset
            } else {
                0
            },
            bytes: None,
        }))
    }

    /// Fills in what is known of `lookups`, which are those of one run.
    fn look_up(
        &mut self,
        directory: u64,
        run: Run,
        lookups: &[Lookup],
        records: &Records,
        known: &mut [Known],
    ) -> Result<(), Errno> {
        let (volume, search) = (&self.volume, &mut self.search);
        let mut taker = Taker {
            volume,
            directory,
            records,
            known,
            lookups,
            inode: None,
        };
        let last = Key::last(run.last, kind::INODE_REF);
        let mut first = Key::first(run.first, kind::INODE_ITEM);
        // Of a file that is no directory only the inode itself is looked at.
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

/// Entries of one item. Their order is that of hashes, which never changes.
#[inline]
fn take_entries(item: Item<'_>, records: &mut Records) -> Result<(), Refused> {
    for entry in Entries(item.data) {
        let entry = entry.map_err(|_| Refused::because("an entry of it is not understood"))?;
        let ino = match entry.location {
            Location::Inode(ino) => ino,
            Location::Subvolume(_) => 0,
        };
        records.push_bytes(entry.name, entry.file_type, ino);
    }
    Ok(())
}

/// Looks whether a directory is the one that was meant.
struct Owner<'n> {
    dir: Wanting<'n>,
    is_directory: bool,
    is_named: bool,
}

impl<'n> Owner<'n> {
    /// `known`: that has been looked at before.
    fn new(dir: Wanting<'n>, known: bool) -> Self {
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

/// Gives inodes to the entries that lead to them.
struct Taker<'t> {
    volume: &'t Btrfs,
    /// The directory that the entries are in.
    directory: u64,
    records: &'t Records,
    known: &'t mut [Known],
    /// Those not yet come to.
    lookups: &'t [Lookup],
    /// A directory that has been come to, but whose name has not: its number and what statx would tell.
    inode: Option<(u64, crate::metadata::Metadata)>,
}

impl Taker<'_> {
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

    /// A directory has one name, and what has that name may be a subvolume with the same number.
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

    /// Where the search goes on when there was no more room behind the item `end`: what belongs to an inode besides its
    /// names is left out.
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
