//! Directories read past the VFS, from the block device of an ext4: what [`Walk`](crate::Walk) calls a source of its own, three times as
//! fast from cache as opening and reading.
//!
//! Of `volume/` only ext4 is used. Its directories are in the page cache of the device as soon as they are changed; those of
//! btrfs wait elsewhere until a commit, so an old time of change would not say that the listing has the change.

use super::listing::{Listing, Packer};
use super::queue::Place;
use crate::options::{Follow, Options};
use crate::raw_batch::RawBatch;
use crate::root::Root;
use crate::volume::{Grounds, Position, Reader, Volume, Wanting, seconds_now};
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

/// A volume whose directories can be read by inode number.
pub(super) struct Past {
    volume: Arc<dyn Volume>,
    dev: u64,
}

impl fmt::Debug for Past {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.volume.name())
    }
}

impl Past {
    /// The volume that a tree lies on, if it is one that can be read and this process may read all of it anyway.
    pub(super) fn find(root: &[u8]) -> Option<Self> {
        let path = Path::new(OsStr::from_bytes(root));
        let mut options = Options::new(vec![Root::from(path)]);
        options.follow = Follow::CommandLine;
        let grounds = Grounds::find(&options, seconds_now());
        let ground = grounds.all.into_iter().next()?;
        let dev = ground.mounted.metadata.dev;
        let is_known = ground.volume.name() == "ext4";
        is_known.then_some(Self {
            volume: ground.volume,
            dev,
        })
    }
}

/// One thread's means to read it.
pub(super) struct PastReader {
    past: Arc<Past>,
    reader: Box<dyn Reader>,
    batch: RawBatch,
}

impl fmt::Debug for PastReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.past.fmt(f)
    }
}

impl PastReader {
    pub(super) fn new(past: &Arc<Past>) -> Self {
        Self {
            reader: Arc::clone(&past.volume).reader(),
            batch: RawBatch::default(),
            past: Arc::clone(past),
        }
    }

    /// Whether directories below this one may be on the volume.
    pub(super) fn may_have(&self, above: &Listing) -> bool {
        above.dev == self.past.dev
    }

    /// Reads a directory whole; its inode number. `None` if it has to be read by system calls. That something else may be mounted
    /// there is found out when its turn comes: it has another inode number or device then.
    pub(super) fn read(&mut self, place: &Place, packer: &mut Packer) -> Option<u64> {
        let ino = place.parent.ino(place.entry);
        let wanting = Wanting {
            ino,
            parent: Some(place.parent.ino),
            name: place.parent.name(place.entry),
        };
        packer.clear();
        let mut from: Option<Position> = None;
        loop {
            self.batch.clear();
            from = self
                .reader
                .list(wanting, from.as_ref(), &mut self.batch)
                .ok()?;
            let records = &self.batch.records;
            for index in 0..records.len() {
                let name = records.name(index).to_bytes();
                packer.push(name, records.file_type(index), records.ino(index));
            }
            if from.is_none() {
                return Some(ino);
            }
        }
    }
}
