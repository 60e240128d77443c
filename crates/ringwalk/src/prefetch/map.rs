//! Where the blocks of directories are, found without waiting for each block of an extent tree by itself.
//!
//! A directory whose extents do not fit into its inode has blocks that say where its blocks are, up to five levels of them. They are found
//! through a device that has only what was fetched: what it lacks is noted, fetched together with what other
//! directories lack, and then the directory is asked again.

use super::fetch::{Ended, Fetcher, Kind};
use super::ranges::{GAP, Range, sort_and_merge};
use super::tables::Tables;
use ringwalk_ext4::{Error, Extent, FileSystem, Inode, ReadAt};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io;

/// Extents of one directory: 65536 of them are 256 MiB of blocks even if no two of those are neighbours.
const MOST_EXTENTS: usize = 65_536;

/// How often what is lacking is gathered, as an error ends the search at the first block that lacks; after that, blocks of maps are
/// read as they come. Trees of extents have few blocks, and the kernel's own have one level.
const ROUNDS: u32 = 8;

/// A device that has only what was fetched, and notes what else is asked for.
struct Fetched<'a> {
    device: &'a File,
    all: bool,
    known: &'a HashSet<u64>,
    lacking: &'a RefCell<Vec<Range>>,
    lacks: Cell<bool>,
    /// Blocks that were there.
    reads: Cell<u64>,
}

impl ReadAt for Fetched<'_> {
    fn read_exact_at(&self, bytes: &mut [u8], offset: u64) -> io::Result<()> {
        if self.all || self.known.contains(&offset) {
            self.reads.set(self.reads.get() + 1);
            return ReadAt::read_exact_at(self.device, bytes, offset);
        }
        self.lacks.set(true);
        let length = bytes.len() as u64;
        self.lacking.borrow_mut().push(Range::new(offset, length));
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Finds out where the blocks of many directories are.
pub(super) struct Mapper<'a> {
    file_system: &'a FileSystem,
    known: HashSet<u64>,
    lacking: RefCell<Vec<Range>>,
    /// Directories to be asked again.
    pending: Vec<u32>,
    /// How many more extents and blocks of maps are looked at. An extent has a block at least, so there are no more of them than
    /// blocks may be read: but on a damaged file system, where any number of directories may have the same map.
    left: u64,
}

impl<'a> Mapper<'a> {
    /// `bytes`: how many of directories may be read in all.
    pub(super) fn new(file_system: &'a FileSystem, bytes: u64) -> Self {
        Self {
            left: bytes / u64::from(file_system.superblock().block_size.max(1)),
            file_system,
            known: HashSet::new(),
            lacking: RefCell::default(),
            pending: Vec::new(),
        }
    }

    /// The extents of a directory; `None` if it is damaged, has to be [resolved](Self::resolve) with others, or enough has been
    /// looked at.
    pub(super) fn map(&mut self, device: &File, inode: &Inode<'_>) -> Option<Vec<Extent>> {
        self.try_map(device, inode, false)
    }

    pub(super) fn try_map(
        &mut self,
        device: &File,
        inode: &Inode<'_>,
        all: bool,
    ) -> Option<Vec<Extent>> {
        let fetched = Fetched {
            device,
            all,
            known: &self.known,
            lacking: &self.lacking,
            lacks: Cell::new(false),
            reads: Cell::new(0),
        };
        let most = usize::try_from(self.left).map_or(MOST_EXTENTS, |left| left.min(MOST_EXTENTS));
        let found = self.file_system.extents(&fetched, inode, most);
        let extents = found.as_ref().map_or(0, Vec::len) as u64;
        let (lacks, reads) = (fetched.lacks.get(), fetched.reads.get());
        self.left = self.left.saturating_sub(extents + reads);
        if lacks {
            self.pending.push(inode.ino());
            return None;
        }
        found.ok()
    }

    /// Fetches what is lacking, and gives the extents of the directories that wait for it.
    pub(super) fn resolve(
        &mut self,
        fetcher: &mut Fetcher<'_>,
        tables: &Tables<'_>,
        mut found: impl FnMut(u32, Vec<Extent>),
    ) -> Result<(), Ended> {
        let mut raw = Vec::new();
        for round in 0..=ROUNDS {
            let mut ranges = self.lacking.take();
            if self.pending.is_empty() {
                break;
            }
            self.known.extend(ranges.iter().map(|range| range.start));
            sort_and_merge(&mut ranges, GAP);
            fetcher.fetch(&ranges, Kind::Directories, |_, _| ())?;
            for ino in std::mem::take(&mut self.pending) {
                if !tables.read(fetcher, ino, &mut raw) {
                    continue;
                }
                let inode: Result<_, Error> = self.file_system.inode(ino, &raw);
                if let Ok(Some(inode)) = inode
                    && let Some(extents) = self.try_map(fetcher.device, &inode, round == ROUNDS)
                {
                    found(ino, extents);
                }
            }
        }
        self.known.clear();
        Ok(())
    }
}
