//! Finds the blocks of a directory on the device.

use super::Ext4;
use crate::sources::volume::Refused;
use ringwalk_ext4::{Extent, Inode};
use rustix::fs::{Advice, fadvise};
use std::num::NonZeroU64;
use std::ops::Range;

/// The largest directory that is read from the device. System calls read larger ones, because a
/// copy is held in memory as a whole. Half a million names of 100 bytes fit.
const LARGEST: u64 = 64 << 20;

/// If the blocks of a directory are in more parts than this, the kernel is asked to read them
/// ahead.
const FEW_EXTENTS: usize = 8;

/// Returns the bytes of a directory whose names are in blocks.
///
/// # Errors
///
/// If there are too many bytes for one read, or they are not whole blocks.
pub(super) fn length(volume: &Ext4, inode: &Inode<'_>) -> Result<usize, Refused> {
    let size = inode.size();
    let block_size = u64::from(volume.file_system.superblock().block_size);
    if size > LARGEST || !size.is_multiple_of(block_size) {
        return Err(Refused::because("it is too large to be read at one go"));
    }
    Ok(usize::try_from(size).unwrap_or(usize::MAX))
}

/// The blocks of a directory on its device.
pub(super) struct Places {
    extents: Vec<Extent>,
    block_size: u64,
    /// Bytes of the directory.
    length: u64,
}

impl Places {
    /// Reads where the first `length` bytes of a directory are on the device.
    pub(super) fn of(volume: &Ext4, inode: &Inode<'_>, length: usize) -> Result<Self, Refused> {
        let block_size = u64::from(volume.file_system.superblock().block_size);
        let length = length as u64;
        let most = usize::try_from(length / block_size).unwrap_or(usize::MAX);
        let extents = volume
            .file_system
            .extents(&*volume.device, inode, most)
            .map_err(|why| Refused::because(why.to_string()))?;
        Ok(Self {
            extents,
            block_size,
            length,
        })
    }

    /// Asks the kernel to read the parts ahead, if there are many, in the order of the disk.
    pub(super) fn ask_ahead(&self, volume: &Ext4) {
        if self.extents.len() <= FEW_EXTENTS {
            return;
        }
        let mut in_order = self.extents.clone();
        in_order.sort_unstable_by_key(|extent| extent.physical);
        for extent in &in_order {
            let length = NonZeroU64::new(u64::from(extent.blocks) * self.block_size);
            let offset = extent.physical * self.block_size;
            // The advice is only a hint.
            let _ = fadvise(&*volume.device, offset, length, Advice::WillNeed);
        }
    }

    /// Returns the offset of the last of several blocks.
    pub(super) fn last_block(&self) -> Option<u64> {
        let last = (self.length / self.block_size).saturating_sub(1);
        let place = |extent: &Extent| {
            let behind = last.checked_sub(extent.logical)?;
            (behind < u64::from(extent.blocks))
                .then_some((extent.physical + behind) * self.block_size)
        };
        self.extents.iter().find_map(place).filter(|_| last > 0)
    }

    /// Passes on each part of the directory in order: its range of bytes in the directory, and its
    /// offset on the device.
    pub(super) fn each(
        &self,
        mut each: impl FnMut(Range<usize>, u64) -> Result<(), Refused>,
    ) -> Result<(), Refused> {
        let mut next = 0;
        for extent in &self.extents {
            if extent.logical != next {
                return Err(Refused::because("it has a hole"));
            }
            next += u64::from(extent.blocks);
            let start = extent.logical * self.block_size;
            // Blocks beyond the size of the directory may be reserved for it.
            let end = (next * self.block_size).min(self.length);
            if start > end {
                return Err(Refused::because("it has blocks beyond its size"));
            }
            let index = |offset| usize::try_from(offset).unwrap_or(usize::MAX);
            each(index(start)..index(end), extent.physical * self.block_size)?;
        }
        if next * self.block_size < self.length {
            return Err(Refused::because("it has a hole at its end"));
        }
        Ok(())
    }
}
