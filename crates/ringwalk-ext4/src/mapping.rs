//! Where the blocks of a file are.

use crate::inode::Inode;
use crate::inode_flags::InodeFlags;
use crate::superblock::Superblock;
use crate::{Error, ReadAt, extents, indirect};

/// A run of blocks of a file that is contiguous on the device too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Number of the first block in the file.
    pub logical: u64,
    /// Number of the first block on the device.
    pub physical: u64,
    /// Number of blocks.
    pub blocks: u32,
}

/// Returns the extents of an inode; see `FileSystem::extents`.
pub(crate) fn map(
    superblock: &Superblock,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
    most: usize,
) -> Result<Vec<Extent>, Error> {
    let mut mapped = Mapped::new(superblock, most);
    if !has_blocks(inode) {
        return Ok(mapped.extents);
    }
    if inode.flags().contains(InodeFlags::EXTENTS) {
        extents::collect(&mut mapped, device, inode)?;
    } else {
        indirect::collect(&mut mapped, device, inode)?;
    }
    Ok(mapped.extents)
}

/// Returns whether `i_block` is a map, and not data, a device number, or unused.
fn has_blocks(inode: &Inode<'_>) -> bool {
    let flags = inode.flags();
    if flags.contains(InodeFlags::INLINE_DATA) {
        return false;
    }
    // A symbolic link's target of less than 60 bytes is in the place of the map.
    let may_be_short = inode.is_symlink() && !flags.contains(InodeFlags::EA_INODE);
    let is_short = may_be_short && inode.size() < inode.block_map().len() as u64;
    let has_data = inode.is_regular() || inode.is_directory() || inode.is_symlink();
    has_data && !is_short
}

/// The extents found so far, in order. A new one may not be before the last in the file, nor
/// outside of the file system.
pub(crate) struct Mapped<'s> {
    pub(crate) superblock: &'s Superblock,
    extents: Vec<Extent>,
    /// Number of further extents allowed.
    left: usize,
    /// Number of further blocks of pointers allowed.
    pointers_left: usize,
    /// The first block of the file after the extents found.
    next: u64,
}

impl<'s> Mapped<'s> {
    fn new(superblock: &'s Superblock, most: usize) -> Self {
        Self {
            superblock,
            extents: Vec::new(),
            left: most,
            pointers_left: most.saturating_mul(3),
            next: 0,
        }
    }

    /// Counts a stored extent, also one that is not part of the result. So the time has a bound as
    /// well.
    pub(crate) fn count(&mut self) -> Result<(), Error> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(Error::Corrupt("more extents than expected"))?;
        Ok(())
    }

    /// Counts a block of pointers. At most three of them lead to an extent, but there could be any
    /// number of empty ones.
    pub(crate) fn count_pointers(&mut self) -> Result<(), Error> {
        let left = self.pointers_left.checked_sub(1);
        self.pointers_left = left.ok_or(Error::Corrupt("more indirect blocks than expected"))?;
        Ok(())
    }

    /// Returns the lowest block number of the file that may come next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Skips blocks of the file that have no data, or none yet.
    pub(crate) fn skip(&mut self, logical: u64, blocks: u64) -> Result<(), Error> {
        if logical < self.next {
            return Err(Error::Corrupt("extents out of order"));
        }
        self.next = logical.saturating_add(blocks);
        Ok(())
    }

    /// Adds `extent`, or extends the last one if `extent` continues it.
    pub(crate) fn add(&mut self, extent: Extent) -> Result<(), Error> {
        if !self
            .superblock
            .has_blocks(extent.physical, extent.blocks.into())
        {
            return Err(Error::Corrupt("extent outside of the file system"));
        }
        self.skip(extent.logical, extent.blocks.into())?;
        if let Some(last) = self.extents.last_mut() {
            let length = u64::from(last.blocks);
            let goes_on = last.logical + length == extent.logical
                && last.physical + length == extent.physical;
            if let Some(blocks) = last.blocks.checked_add(extent.blocks)
                && goes_on
            {
                last.blocks = blocks;
                return Ok(());
            }
        }
        self.extents.push(extent);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
