//! The sorted section: search, and reading from beginning to end.
//!
//! Both read [`WINDOW`] blocks at a time. A search for one key after the other, in their order,
//! goes forward only. It skips blocks in steps that double, so that few files are found in a large
//! cache without reading it as a whole.

use super::record::{BLOCK, Block, FileSystem, Record};
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Blocks that are read at once: 64 KiB.
pub(super) const WINDOW: u64 = 16;

/// The blocks of the sorted section.
#[derive(Debug)]
pub(super) struct Sorted {
    /// Number of blocks that are in the file.
    pub(super) blocks: u64,
    /// True if a damaged block was seen.
    pub(super) damaged: AtomicBool,
}

/// Some blocks of the section, in memory.
pub(super) struct Window<'s> {
    sorted: &'s Sorted,
    file: &'s File,
    bytes: Vec<u8>,
    /// Number of the first block in memory.
    first: u64,
    /// Which of the blocks in memory are sound, one each.
    sound: Vec<bool>,
    /// The next block to search. The keys of all blocks before it are smaller than the last key
    /// sought.
    at: u64,
    /// Blocks read until now.
    #[cfg(test)]
    pub(super) reads: u64,
}

impl<'s> Window<'s> {
    pub(super) fn new(sorted: &'s Sorted, file: &'s File) -> Self {
        Self {
            sorted,
            file,
            bytes: Vec::new(),
            first: 0,
            sound: Vec::new(),
            at: 0,
            #[cfg(test)]
            reads: 0,
        }
    }

    /// Returns a block; `None` if it is damaged. It must be one of the section.
    fn block(&mut self, number: u64) -> io::Result<Option<Block<'_>>> {
        let loaded = self.first..self.first + self.sound.len() as u64;
        if !loaded.contains(&number) {
            self.load(number)?;
        }
        let at = usize::try_from(number - self.first).unwrap_or(usize::MAX);
        if !self.sound[at] {
            return Ok(None);
        }
        let bytes = &self.bytes[at * BLOCK..(at + 1) * BLOCK];
        Ok(Some(Block::checked(bytes)))
    }

    fn load(&mut self, number: u64) -> io::Result<()> {
        // Without any, should the read fail.
        self.sound.clear();
        let count = WINDOW.min(self.sorted.blocks - number);
        let length = usize::try_from(count).unwrap_or(0) * BLOCK;
        self.bytes.resize(length, 0);
        self.file.read_exact_at(&mut self.bytes, place(number))?;
        self.first = number;
        let blocks = self.bytes.chunks_exact(BLOCK);
        self.sound
            .extend(blocks.map(|bytes| Block::check(bytes).is_some()));
        if self.sound.contains(&false) {
            self.sorted.damaged.store(true, Ordering::Relaxed);
        }
        #[cfg(test)]
        {
            self.reads += count;
        }
        Ok(())
    }

    /// Returns the record of a file. Keys must be sought in their order.
    pub(super) fn find(&mut self, file_system: FileSystem, ino: u64) -> io::Result<Option<Record>> {
        let key = (file_system, ino);
        while self.at < self.sorted.blocks {
            let at = self.at;
            if let Some(block) = self.block(at)?
                && block.last() >= key
            {
                return Ok(block.find(file_system, ino));
            }
            // The key is not in this block, or the block is damaged and has no keys.
            self.at += 1;
            if self.at == self.first + self.sound.len() as u64 {
                self.skip(key)?;
            }
        }
        Ok(None)
    }

    /// Goes forward over blocks whose keys are smaller than the one sought.
    fn skip(&mut self, key: (FileSystem, u64)) -> io::Result<()> {
        let mut step = WINDOW;
        while self.ends_before(self.at.saturating_add(step), key)? {
            self.at += step;
            step *= 2;
        }
        while step > WINDOW {
            step /= 2;
            if self.ends_before(self.at.saturating_add(step), key)? {
                self.at += step;
            }
        }
        Ok(())
    }

    /// Returns true if all blocks before this one have smaller keys than the one sought. A damaged
    /// block does not say that.
    fn ends_before(&mut self, number: u64, key: (FileSystem, u64)) -> io::Result<bool> {
        if number > self.sorted.blocks {
            return Ok(false);
        }
        let mut bytes = [0; BLOCK];
        self.file.read_exact_at(&mut bytes, place(number - 1))?;
        #[cfg(test)]
        {
            self.reads += 1;
        }
        Ok(Block::check(&bytes).is_some_and(|block| block.last() < key))
    }
}

/// Returns where a block is in the file. The header is as long as one.
pub(super) fn place(number: u64) -> u64 {
    (number + 1) * BLOCK as u64
}

/// Reads all sound blocks, from the first to the last.
pub(super) struct Records<'s> {
    window: Window<'s>,
    block: u64,
    record: usize,
    last: Option<(FileSystem, u64)>,
}

impl<'s> Records<'s> {
    pub(super) fn new(sorted: &'s Sorted, file: &'s File) -> Self {
        Self {
            window: Window::new(sorted, file),
            block: 0,
            record: 0,
            last: None,
        }
    }

    /// Returns the next record.
    pub(super) fn next(&mut self) -> io::Result<Option<(FileSystem, Record)>> {
        while self.block < self.window.sorted.blocks {
            if let Some(block) = self.window.block(self.block)?
                && self.record < block.len()
            {
                let found = (block.file_system(), block.record(self.record));
                self.record += 1;
                let key = (found.0, found.1.version.ino);
                // Only a file that somebody made has keys out of order. They would stay so.
                if self.last.is_none_or(|last| last < key) {
                    self.last = Some(key);
                    return Ok(Some(found));
                }
            } else {
                self.block += 1;
                self.record = 0;
            }
        }
        Ok(None)
    }
}
