//! btrfs with an older tree: names and metadata that have not changed are taken from the older
//! tree.
//!
//! Each inode holds the number of the transaction that last changed it (`transid`), and each node
//! of a tree holds the number of the transaction that wrote it. Both only grow, whatever the clock
//! says. One search skips all nodes that are older than the older tree, and so finds every inode
//! that was changed since, without reading the others.
//!
//! A change of a directory's names changes the inode of the directory. So a directory that was not
//! found has the names that it had, and an inode that was not found has its metadata, if both were
//! read after the transaction of the older tree. Opening the volume has committed what waited in
//! memory.

use super::item::{FIRST_INO, InodeItem, LAST_INO, kind};
use super::reader::BtrfsReader;
use super::{Btrfs, for_each_item};
use crate::sources::older::{OlderListings, OlderVolume};
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::volume::{DirectoryKey, Position, Reader, Refused, Volume};
use crate::sources::wanted::Wanted;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::btrfs::{Key, TreeSearch};
use std::collections::HashSet;
use std::sync::Arc;

/// Changed inodes that are kept: 64 MiB at most. With more of them the walk reads everything.
const MOST_CHANGED: usize = 3 << 20;

/// Opens `btrfs` together with an older tree.
///
/// # Errors
///
/// If the older tree does not say its transaction, or too much has changed.
pub(super) fn open(btrfs: Arc<Btrfs>, older: OlderVolume) -> Result<Arc<dyn Volume>, Refused> {
    let transaction = older.file_system.transaction.ok_or_else(|| {
        Refused::because("the older snapshot does not name the transaction before it")
    })?;
    let changed = changed_since(&btrfs, transaction)?;
    Ok(Arc::new(UpdatedBtrfs {
        metadata: older.has_metadata(),
        btrfs,
        older,
        changed,
    }))
}

/// Returns the inodes that were changed after a transaction.
fn changed_since(btrfs: &Btrfs, transaction: u64) -> Result<HashSet<u64>, Refused> {
    let mut changed = HashSet::new();
    let mut search = TreeSearch::since(transaction.saturating_add(1));
    let all = Key::first(FIRST_INO, 0)..=Key::last(LAST_INO, kind::LAST);
    for_each_item(&btrfs.mounted, &mut search, btrfs.tree, all, |item| {
        if item.key.kind != kind::INODE_ITEM {
            return Ok(());
        }
        let inode = InodeItem::new(item.data);
        let inode = inode.ok_or_else(|| Refused::because("an inode is not understood"))?;
        if inode.transaction() > transaction {
            changed.insert(item.key.objectid);
        }
        if changed.len() > MOST_CHANGED {
            return Err(Refused::because(
                "too much has changed since the older snapshot",
            ));
        }
        Ok(())
    })?;
    Ok(changed)
}

struct UpdatedBtrfs {
    btrfs: Arc<Btrfs>,
    older: OlderVolume,
    changed: HashSet<u64>,
    /// True if metadata is taken, too.
    metadata: bool,
}

impl Volume for UpdatedBtrfs {
    fn describe(&self) -> String {
        format!("{}; {}", self.older.describe(), self.btrfs.describe())
    }

    fn has_subvolumes(&self) -> bool {
        self.btrfs.has_subvolumes()
    }

    fn holds(&self, ino: u64) -> bool {
        self.btrfs.holds(ino)
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(UpdatedBtrfsReader {
            inner: BtrfsReader::new(Arc::clone(&self.btrfs)),
            listings: self.older.reader(self.metadata),
            volume: self,
        })
    }
}

impl UpdatedBtrfs {
    /// Returns the metadata that an inode still has, as statx(2) would return it; `None` if it has
    /// changed, or the older tree lacks a field that the walk wants.
    fn still(&self, then: Metadata) -> Option<Metadata> {
        let shared = &self.btrfs.mounted.metadata;
        let wanted = self.older.fields & shared.mask;
        if self.changed.contains(&then.ino) || !then.mask.contains(wanted) {
            return None;
        }
        Some(Metadata {
            mask: shared.mask & (then.mask | Fields::MNT_ID),
            block_size: shared.block_size,
            dev: shared.dev,
            mnt_id: shared.mnt_id,
            ..then
        })
    }
}

struct UpdatedBtrfsReader {
    volume: Arc<UpdatedBtrfs>,
    inner: BtrfsReader,
    listings: OlderListings,
}

impl UpdatedBtrfsReader {
    /// Lists a directory from the older tree, if it has not changed.
    fn list_older(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        if self.volume.changed.contains(&dir.ino) {
            return Err(Refused::because("it has changed since the older snapshot"));
        }
        let listing = self.listings.listing(dir.ino)?;
        let next = self.listings.list(listing, from, batch)?;
        for known in &mut batch.known {
            if let Known::Metadata(then) = known {
                let still = self.volume.still(*then);
                *known = still.map_or(Known::Nothing, Known::Metadata);
            }
        }
        Ok(next)
    }
}

impl Reader for UpdatedBtrfsReader {
    fn list(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        match from {
            Some(position) if position.in_older => return self.list_older(dir, from, batch),
            Some(_) => return self.inner.list(dir, from, batch),
            None => {}
        }
        if let Ok(next) = self.list_older(dir, None, batch) {
            self.volume.older.count();
            return Ok(next);
        }
        batch.clear();
        self.inner.list(dir, None, batch)
    }

    fn stat(&mut self, dir: DirectoryKey<'_>, batch: &mut RawBatch, wanted: Wanted) {
        self.inner.stat(dir, batch, wanted);
    }
}
