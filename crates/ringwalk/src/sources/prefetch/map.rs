//! Finds the blocks of directories, without a wait for each block of an extent tree.
//!
//! If the extents of a directory do not fit into its inode, up to five levels of map blocks hold
//! them. The search reads these through [`Fetched`], which has only the blocks that were fetched.
//! It notes each block that it lacks. These blocks are fetched together with those that other
//! directories lack, and then the search for the directory starts again.

use super::fetch::{BlockKind, Ended, Fetcher};
use super::ranges::{ByteRange, GAP, sort_and_merge};
use super::tables::NumberedTables;
use ringwalk_ext4::{Error, Extent, FileSystem, Inode, ReadAt};
use std::cell::{Cell, RefCell};
use std::collections::HashSet;
use std::fs::File;
use std::io;

/// The most extents of one directory. 65536 extents are 256 MiB of blocks even if no two of them
/// are neighbours.
const MOST_EXTENTS: usize = 65_536;

/// The rounds in which lacking blocks are gathered. Each round of a directory ends at the first
/// lacking block, as that is an error. After the last round, map blocks are read one by one. Extent
/// trees have few blocks, and those that the kernel writes have one level.
const ROUNDS: u32 = 8;

/// A device that has only the blocks that were fetched, and notes every other block that is asked
/// for.
struct Fetched<'a> {
    device: &'a File,
    all: bool,
    known: &'a HashSet<u64>,
    lacking: &'a RefCell<Vec<ByteRange>>,
    lacks: Cell<bool>,
    /// How many blocks were there.
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
        self.lacking
            .borrow_mut()
            .push(ByteRange::new(offset, length));
        Err(io::ErrorKind::WouldBlock.into())
    }
}

/// Finds the blocks of many directories.
pub(super) struct Mapper<'a> {
    file_system: &'a FileSystem,
    known: HashSet<u64>,
    lacking: RefCell<Vec<ByteRange>>,
    /// Directories to be searched again.
    pending: Vec<u32>,
    /// How many more extents and map blocks may be visited. An extent has at least one block, so a
    /// sound file system has no more extents than blocks that may be read. On a damaged file system
    /// any number of directories can have the same map.
    left: u64,
}

impl<'a> Mapper<'a> {
    /// Creates a mapper. `bytes` is how many bytes of directories may be read in total.
    pub(super) fn new(file_system: &'a FileSystem, bytes: u64) -> Self {
        Self {
            left: bytes / u64::from(file_system.superblock().block_size.max(1)),
            file_system,
            known: HashSet::new(),
            lacking: RefCell::default(),
            pending: Vec::new(),
        }
    }

    /// Returns the extents of a directory. Returns `None` if the directory is damaged, must be
    /// [resolved](Self::resolve) with others, or the limit is reached.
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

    /// Fetches the lacking blocks, and passes the extents of the waiting directories to `found`.
    pub(super) fn resolve(
        &mut self,
        fetcher: &mut Fetcher<'_>,
        tables: &NumberedTables<'_>,
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
            fetcher.fetch(&ranges, BlockKind::Directories, |_, _| ())?;
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
