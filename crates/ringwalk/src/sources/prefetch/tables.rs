//! Collects the blocks of inode tables that are needed, each once.

use super::fetch::{BlockKind, Ended, Fetcher};
use super::ranges::{ByteRange, GAP, sort_and_merge};
use ringwalk_ext4::FileSystem;
use std::os::unix::fs::FileExt;

/// The most blocks that are gathered before they are read: as many numbers as fit into 4 MiB.
const MOST_WANTED: usize = 1 << 19;

/// The blocks of all inode tables, numbered from the first inode on. Holds one bit for each block.
pub(super) struct NumberedTables<'a> {
    file_system: &'a FileSystem,
    inode_size: u64,
    block_size: u64,
    inodes: u32,
    inodes_per_group: u32,
    blocks_per_group: u64,
    /// One bit for each block that is wanted or was fetched before.
    seen: Vec<u64>,
    wanted: Vec<u64>,
}

impl<'a> NumberedTables<'a> {
    pub(super) fn new(file_system: &'a FileSystem) -> Self {
        let superblock = file_system.superblock();
        let inode_size = u64::from(superblock.inode_size.max(1));
        let block_size = u64::from(superblock.block_size.max(1024));
        let inodes_per_group = superblock.inodes_per_group.max(1);
        let blocks_per_group = (u64::from(inodes_per_group) * inode_size).div_ceil(block_size);
        let groups = u64::from(superblock.inodes.div_ceil(inodes_per_group));
        let words = (groups * blocks_per_group).div_ceil(64);
        Self {
            file_system,
            inode_size,
            block_size,
            inodes: superblock.inodes,
            inodes_per_group,
            blocks_per_group,
            seen: vec![0; usize::try_from(words).unwrap_or(0)],
            wanted: Vec::new(),
        }
    }

    /// Notes that the inode `ino` will be needed. Returns true if it is time to
    /// [`fetch`](Self::fetch).
    pub(super) fn want(&mut self, ino: u32) -> bool {
        let Some(index) = ino.checked_sub(1).filter(|_| ino <= self.inodes) else {
            return false;
        };
        let within = u64::from(index % self.inodes_per_group) * self.inode_size / self.block_size;
        let block = u64::from(index / self.inodes_per_group) * self.blocks_per_group + within;
        let word = usize::try_from(block / 64)
            .ok()
            .and_then(|word| self.seen.get_mut(word));
        let bit = 1 << (block % 64);
        if let Some(word) = word
            && *word & bit == 0
        {
            *word |= bit;
            self.wanted.push(block);
        }
        self.wanted.len() >= MOST_WANTED
    }

    /// Reads the blocks that were noted since the last call.
    pub(super) fn fetch(&mut self, fetcher: &mut Fetcher<'_>) -> Result<(), Ended> {
        let mut ranges: Vec<_> = self
            .wanted
            .iter()
            .filter_map(|&block| self.volume_begun_on(block))
            .collect();
        self.wanted.clear();
        sort_and_merge(&mut ranges, GAP);
        fetcher.fetch(&ranges, BlockKind::Inodes, |_, _| ())
    }

    fn volume_begun_on(&self, block: u64) -> Option<ByteRange> {
        let group = block / self.blocks_per_group;
        let within = block % self.blocks_per_group * self.block_size;
        let first = group * u64::from(self.inodes_per_group) + 1;
        let table = self
            .file_system
            .inode_offset(u32::try_from(first).ok()?)
            .ok()?;
        Some(ByteRange::new(table.checked_add(within)?, self.block_size))
    }

    /// Reads the bytes of one inode, from the page cache if its block was fetched. Returns false if
    /// it cannot be read.
    pub(super) fn read(&self, fetcher: &Fetcher<'_>, ino: u32, raw: &mut Vec<u8>) -> bool {
        raw.resize(usize::try_from(self.inode_size).unwrap_or(0), 0);
        let Ok(offset) = self.file_system.inode_offset(ino) else {
            return false;
        };
        fetcher.device.read_exact_at(raw, offset).is_ok()
    }
}
