//! Group descriptors: where the inode tables are, and how much of them is in use.

use crate::bytes::{Fixed, join16, join32, u16_at, u32_at};
use crate::checksum::{crc16, crc32c, crc32c_of_u32};
use crate::error::TRIES;
use crate::features::{compat, incompat, ro_compat};
use crate::superblock::Superblock;
use crate::{Error, ReadAt};

/// Bytes of descriptors read at once, if a block is not larger.
const CHUNK: u32 = 64 << 10;

/// `EXT4_BG_INODE_UNINIT`: the inode table has not been written yet.
const INODE_UNINIT: u16 = 0x1;

/// The part of a group's inode table that is in use, or has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeTable {
    /// Number of the first inode.
    pub first: u32,
    /// Number of inodes that may be in use, from the first one on.
    pub count: u32,
    /// Offset of the table on the device, in bytes.
    pub offset: u64,
}

/// The fields of a group descriptor that a reader needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    /// The first block of the inode table.
    pub(crate) table: u64,
    /// Number of inodes that may be in use, from the first one on.
    pub(crate) used: u32,
}

/// Calls the visitor with every group's descriptor, checked, in order.
pub(crate) fn descriptors(
    superblock: &Superblock,
    device: &(impl ReadAt + ?Sized),
    mut each: impl FnMut(u32, Descriptor),
) -> Result<(), Error> {
    let size = usize::from(superblock.descriptor_size);
    let mut bytes = Vec::new();
    let mut group = 0;
    while group < superblock.groups {
        // The table is read piece by piece, so a wrong number of groups ends at the end of the
        // device.
        let count = contiguous(superblock, group);
        bytes.resize(count as usize * size, 0);
        let offset = offset_of(superblock, group)?;
        device.read_exact_at(&mut bytes, offset)?;
        for raw in bytes.chunks_exact_mut(size) {
            let descriptor = checked(superblock, device, group, raw)?;
            each(group, descriptor);
            group += 1;
        }
    }
    Ok(())
}

/// Returns how many descriptors, beginning with the one of `group`, are read at once. `group` is
/// the first one of a block.
fn contiguous(superblock: &Superblock, group: u32) -> u32 {
    let block_size = superblock.block_size;
    let per_block = block_size / u32::from(superblock.descriptor_size);
    let block = group / per_block;
    let mut blocks = (CHUNK / block_size).max(1);
    if superblock.features.has_incompat(incompat::META_BG) {
        blocks = blocks
            .min(superblock.first_meta_group.saturating_sub(block))
            .max(1);
    }
    blocks
        .saturating_mul(per_block)
        .min(superblock.groups - group)
}

/// Returns the offset of the descriptor of `group`, in bytes.
fn offset_of(superblock: &Superblock, group: u32) -> Result<u64, Error> {
    let per_block = superblock.block_size / u32::from(superblock.descriptor_size);
    let index = group / per_block;
    // With blocks of 1 KiB the superblock is in block 1, even where groups begin with block 0
    // (bigalloc).
    let superblock_block = 1024 / u64::from(superblock.block_size);
    let is_meta =
        superblock.features.has_incompat(incompat::META_BG) && index >= superblock.first_meta_group;
    let block = if is_meta {
        // Each block of descriptors is at the beginning of the groups that it describes, after a
        // copy of the superblock.
        let first = u64::from(index) * u64::from(per_block);
        let start = first * u64::from(superblock.blocks_per_group);
        let mut block = start + u64::from(superblock.first_data_block);
        block += u64::from(has_superblock(superblock, index.saturating_mul(per_block)));
        if index == 0 && superblock_block > u64::from(superblock.first_data_block) {
            block += 1;
        }
        block
    } else {
        superblock_block + 1 + u64::from(index)
    };
    if !superblock.has_blocks(block, 1) {
        return Err(Error::Corrupt(
            "group descriptors outside of the file system",
        ));
    }
    let within = group % per_block * u32::from(superblock.descriptor_size);
    Ok(superblock.offset_of(block) + u64::from(within))
}

/// Returns whether a group begins with a copy of the superblock.
fn has_superblock(superblock: &Superblock, group: u32) -> bool {
    if group == 0 {
        return true;
    }
    if superblock.features.has_compat(compat::SPARSE_SUPER2) {
        return superblock.backup_groups.contains(&group);
    }
    let is_sparse = superblock.features.has_ro_compat(ro_compat::SPARSE_SUPER);
    !is_sparse || group == 1 || [3, 5, 7].into_iter().any(|base| is_power_of(base, group))
}

/// Returns whether `number` (not 0) is a power of `base`, other than 1.
fn is_power_of(base: u32, mut number: u32) -> bool {
    while number.is_multiple_of(base) {
        number /= base;
        if number == 1 {
            return true;
        }
    }
    false
}

/// Decodes a descriptor. Reads it again while its checksum is wrong, since the kernel may be
/// writing to it.
fn checked(
    superblock: &Superblock,
    device: &(impl ReadAt + ?Sized),
    group: u32,
    raw: &mut [u8],
) -> Result<Descriptor, Error> {
    let mut tries = 1;
    loop {
        match decode(superblock, group, raw) {
            Err(Error::Checksum(_)) if tries < TRIES => {}
            result => return result,
        }
        device.read_exact_at(raw, offset_of(superblock, group)?)?;
        tries += 1;
    }
}

fn decode(superblock: &Superblock, group: u32, raw: &[u8]) -> Result<Descriptor, Error> {
    let cut = Error::Corrupt("group descriptor cut short");
    let low: &[u8; 32] = raw.first_chunk().ok_or(cut)?;
    let low = Fixed(low);
    let counts_use = check_checksum(superblock, group, raw, low)?;
    // Without 64bit a descriptor has 32 bytes, and no upper half.
    let table = join32(low.u32::<0x8>(), u32_at(raw, 0x28).unwrap_or(0));
    let unused = join16(low.u16::<0x1C>(), u16_at(raw, 0x32).unwrap_or(0));
    let inodes = superblock.inodes_per_group;
    let table_size = u64::from(inodes) * u64::from(superblock.inode_size);
    let table_blocks = table_size.div_ceil(superblock.block_size.into());
    if !superblock.has_blocks(table, table_blocks) {
        return Err(Error::Corrupt("inode table outside of the file system"));
    }
    let used = match counts_use {
        false => inodes,
        true if low.u16::<0x12>() & INODE_UNINIT != 0 => 0,
        true => inodes
            .checked_sub(unused)
            .ok_or(Error::Corrupt("unused inodes of a group"))?,
    };
    Ok(Descriptor { table, used })
}

/// Checks the checksum, if there is one, and returns how many inodes of the table may be in use. A
/// descriptor without a checksum does not say that.
fn check_checksum(
    superblock: &Superblock,
    group: u32,
    raw: &[u8],
    low: Fixed<'_, 32>,
) -> Result<bool, Error> {
    let rest = &raw[low.0.len()..];
    let before = &low.0[..0x1E];
    let sum = if superblock.has_checksums {
        let sum = crc32c_of_u32(superblock.seed, group);
        let sum = crc32c(crc32c(crc32c(sum, before), &[0; 2]), rest);
        // The lower half is stored.
        (sum & 0xFFFF) as u16
    } else if superblock.features.has_ro_compat(ro_compat::GDT_CSUM) {
        let sum = crc16(crc16(!0, &superblock.uuid), &group.to_le_bytes());
        // This checksum leaves its own field out, and does not take it as 0.
        crc16(crc16(sum, before), rest)
    } else {
        return Ok(false);
    };
    if sum != low.u16::<0x1E>() {
        return Err(Error::Checksum("a group descriptor"));
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{set, superblock};

    /// Returns an image with the descriptors of two groups, whose tables are in blocks 10 and 2100.
    fn image() -> Vec<u8> {
        let mut image = vec![0; 4096 * 1024];
        set(&mut image, 2048 + 8, &10_u32.to_le_bytes());
        set(&mut image, 2048 + 32 + 8, &2100_u32.to_le_bytes());
        image
    }

    fn read(superblock: &Superblock, image: &[u8]) -> Result<Vec<Descriptor>, Error> {
        let mut all = Vec::new();
        descriptors(superblock, image, |_, descriptor| all.push(descriptor))?;
        Ok(all)
    }

    #[test]
    fn without_checksums_whole_tables_are_in_use() {
        let mut image = image();
        // INODE_UNINIT and the number of unused inodes have no meaning here.
        set(&mut image, 2048 + 0x12, &[1, 0]);
        set(&mut image, 2048 + 0x1C, &[9, 0]);
        let used = 256;
        let expected = [
            Descriptor { table: 10, used },
            Descriptor { table: 2100, used },
        ];
        assert_eq!(read(&superblock(), &image).unwrap(), expected);
    }

    #[test]
    fn tables_are_within_the_file_system() {
        for table in [0, 1, 4033, u32::MAX] {
            let mut image = image();
            set(&mut image, 2048 + 32 + 8, &table.to_le_bytes());
            assert!(read(&superblock(), &image).is_err(), "{table}");
        }
        assert!(
            read(&superblock(), &image()[..2048 + 63]).is_err(),
            "cut short"
        );
    }

    #[test]
    fn gdt_csum_reports_how_much_is_in_use() {
        let mut superblock = superblock();
        superblock.features.ro_compat = ro_compat::GDT_CSUM;
        let mut image = image();
        assert!(matches!(read(&superblock, &image), Err(Error::Checksum(_))));
        set(&mut image, 2048 + 0x1C, &[56, 0]);
        set(&mut image, 2048 + 32 + 0x12, &[1, 0]);
        for group in 0..2_u32 {
            let at = 2048 + 32 * group as usize;
            let sum = crc16(crc16(!0, &superblock.uuid), &group.to_le_bytes());
            let sum = crc16(sum, &image[at..at + 0x1E]);
            set(&mut image, at + 0x1E, &sum.to_le_bytes());
        }
        let expected = [
            Descriptor {
                table: 10,
                used: 200,
            },
            Descriptor {
                table: 2100,
                used: 0,
            },
        ];
        assert_eq!(read(&superblock, &image).unwrap(), expected);
    }

    #[test]
    fn copies_are_in_powers_of_3_5_and_7() {
        let mut superblock = superblock();
        assert!(
            (0..100).all(|group| has_superblock(&superblock, group)),
            "in all"
        );
        superblock.features.ro_compat = ro_compat::SPARSE_SUPER;
        let with: Vec<u32> = (0..350)
            .filter(|&group| has_superblock(&superblock, group))
            .collect();
        assert_eq!(with, [0, 1, 3, 5, 7, 9, 25, 27, 49, 81, 125, 243, 343]);
        superblock.features.compat = compat::SPARSE_SUPER2;
        superblock.backup_groups = [1, 99];
        let with: Vec<u32> = (0..350)
            .filter(|&group| has_superblock(&superblock, group))
            .collect();
        assert_eq!(with, [0, 1, 99]);
    }
}
