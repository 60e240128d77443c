//! Where the blocks of a file are.

use crate::inode::{Inode, InodeFlags};
use crate::superblock::Superblock;
use crate::{Error, ReadAt, extents, indirect};

/// Neighbouring blocks of a file that are neighbours on the device too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// The first block's number in the file.
    pub logical: u64,
    /// Its number on the device.
    pub physical: u64,
    /// How many blocks.
    pub blocks: u32,
}

/// The extents of an inode; see `FileSystem::extents`.
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

/// Whether `i_block` is a map, rather than data, a device's number, or nothing.
fn has_blocks(inode: &Inode<'_>) -> bool {
    let flags = inode.flags();
    if flags.contains(InodeFlags::INLINE_DATA) {
        return false;
    }
    // The target of a symbolic link of less than 60 bytes is in the map's place.
    let may_be_short = inode.is_symlink() && !flags.contains(InodeFlags::EA_INODE);
    let is_short = may_be_short && inode.size() < inode.block_map().len() as u64;
    let has_data = inode.is_regular() || inode.is_directory() || inode.is_symlink();
    has_data && !is_short
}

/// Extents found so far, in order. What is found may not go back in the file, nor outside of the file system.
pub(crate) struct Mapped<'s> {
    pub(crate) superblock: &'s Superblock,
    extents: Vec<Extent>,
    /// How many more extents and blocks of pointers are allowed.
    left: usize,
    /// The first block of the file behind those found.
    next: u64,
}

impl<'s> Mapped<'s> {
    fn new(superblock: &'s Superblock, most: usize) -> Self {
        Self {
            superblock,
            extents: Vec::new(),
            left: most,
            next: 0,
        }
    }

    /// Counts something that has been found, whether or not it will be in the result: so the time that this takes has a
    /// bound as well.
    pub(crate) fn count(&mut self) -> Result<(), Error> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or(Error::Corrupt("more extents than expected"))?;
        Ok(())
    }

    /// The first block of the file that may come next.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Passes over blocks of the file that have no data (or none yet).
    pub(crate) fn skip(&mut self, logical: u64, blocks: u64) -> Result<(), Error> {
        if logical < self.next {
            return Err(Error::Corrupt("extents out of order"));
        }
        self.next = logical.saturating_add(blocks);
        Ok(())
    }

    /// Adds `extent`, to the last one where it goes on from it.
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
