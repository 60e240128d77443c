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
mod tests {
    use super::*;
    use crate::checksum::crc32c;
    use crate::test_image::{inode, inode_bytes, set, superblock};

    const EXTENTS: [u8; 4] = InodeFlags::EXTENTS.to_le_bytes();

    fn header(entries: u16, depth: u16) -> Vec<u8> {
        [0xF30A, entries, 4, depth, 0, 0]
            .into_iter()
            .flat_map(u16::to_le_bytes)
            .collect()
    }

    fn extent(logical: u32, length: u16, physical: u32) -> Vec<u8> {
        [
            &logical.to_le_bytes()[..],
            &length.to_le_bytes(),
            &[0; 2],
            &physical.to_le_bytes(),
        ]
        .concat()
    }

    fn index(logical: u32, block: u32) -> Vec<u8> {
        [&logical.to_le_bytes()[..], &block.to_le_bytes(), &[0; 4]].concat()
    }

    /// Returns the extents of a regular file with the `i_block` `root`. `blocks` are numbers and
    /// contents of blocks on the device.
    fn mapped(
        flags: [u8; 4],
        root: &[u8],
        blocks: &[(usize, Vec<u8>)],
        most: usize,
    ) -> Result<Vec<(u64, u64, u32)>, Error> {
        let mut image = vec![0; 4096 * 1024];
        for (block, bytes) in blocks {
            set(&mut image, block * 1024, bytes);
        }
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 0x20, &flags);
        set(&mut bytes, 0x28, root);
        let superblock = superblock();
        let extents = map(&superblock, &image[..], &inode(&superblock, &bytes), most)?;
        let parts = extents
            .iter()
            .map(|extent| (extent.logical, extent.physical, extent.blocks));
        Ok(parts.collect())
    }

    #[test]
    fn neighbouring_extents_are_one_and_unwritten_ones_none() {
        let root = [
            header(4, 0),
            extent(0, 2, 100),
            extent(2, 3, 102),
            extent(5, 0x8004, 105),
            extent(9, 1, 109),
        ];
        let found = mapped(EXTENTS, &root.concat(), &[], 4).unwrap();
        assert_eq!(found, [(0, 100, 5), (9, 109, 1)]);
        assert!(
            mapped(EXTENTS, &root.concat(), &[], 3).is_err(),
            "more than allowed"
        );
    }

    #[test]
    fn trees_are_followed_down() {
        let root = [header(2, 2), index(0, 50), index(10, 51)].concat();
        let blocks = [
            (50, [header(1, 1), index(0, 52)].concat()),
            (51, [header(1, 1), index(10, 53)].concat()),
            (52, [header(1, 0), extent(1, 1, 200)].concat()),
            (53, [header(1, 0), extent(10, 0x8000, 300)].concat()),
        ];
        // The last extent is larger than the file system.
        assert!(mapped(EXTENTS, &root, &blocks, 99).is_err());
        let mut blocks = blocks;
        blocks[3].1 = [header(1, 0), extent(10, 7, 300)].concat();
        let found = mapped(EXTENTS, &root, &blocks, 99).unwrap();
        assert_eq!(found, [(1, 200, 1), (10, 300, 7)]);
    }

    #[test]
    fn trees_that_cannot_be_are_errors() {
        let loops = [(50, [header(1, 1), index(0, 50)].concat())];
        let twice = [(50, [header(1, 0), extent(0, 1, 200)].concat())];
        let empty = [(50, header(0, 0))];
        for (root, blocks) in [
            (vec![0; 12], &loops[..]),
            (header(5, 0), &loops),
            ([header(1, 6), index(0, 50)].concat(), &loops),
            ([header(1, 2), index(0, 50)].concat(), &loops),
            ([header(2, 1), index(0, 50), index(1, 50)].concat(), &twice),
            ([header(2, 1), index(0, 50), index(0, 50)].concat(), &twice),
            ([header(1, 1), index(1, 50)].concat(), &twice),
            ([header(1, 1), index(0, 50)].concat(), &empty),
            ([header(1, 1), index(0, 4096)].concat(), &twice),
            (header(0, 1), &twice),
            ([header(1, 0), extent(0, 0, 200)].concat(), &twice),
            ([header(1, 0), extent(0, 2, 4095)].concat(), &twice),
            ([header(1, 0), extent(0, 1, 1)].concat(), &twice),
            (
                [header(2, 0), extent(0, 2, 200), extent(1, 1, 300)].concat(),
                &twice,
            ),
        ] {
            assert!(mapped(EXTENTS, &root, blocks, 99).is_err(), "{root:?}");
        }
    }

    #[test]
    fn nodes_have_checksums() {
        let mut superblock = superblock();
        superblock.has_checksums = true;
        superblock.seed = 7;
        superblock.is_linux = false;
        let mut node = [header(1, 0), extent(0, 1, 200)].concat();
        let mut bytes = inode_bytes(0o100_644);
        set(&mut bytes, 0x20, &EXTENTS);
        set(&mut bytes, 0x28, &[header(1, 1), index(0, 50)].concat());
        let inode = inode(&superblock, &bytes);
        // The node has room for 4 entries.
        node.resize(60, 0x55);
        let sum = crc32c(crc32c(crc32c(7, &12_u32.to_le_bytes()), &[0; 4]), &node);
        node.extend(sum.to_le_bytes());
        for at in 0..node.len() {
            let mut image = vec![0; 4096 * 1024];
            set(&mut image, 50 * 1024, &node);
            assert!(map(&superblock, &image[..], &inode, 9).is_ok());
            image[50 * 1024 + at] ^= 0x40;
            assert!(map(&superblock, &image[..], &inode, 9).is_err(), "{at}");
        }
    }

    #[test]
    fn indirect_blocks_are_followed_three_deep() {
        let numbers = |numbers: &[u32]| {
            numbers
                .iter()
                .copied()
                .flat_map(u32::to_le_bytes)
                .collect::<Vec<u8>>()
        };
        let mut root = vec![0; 15];
        root[..4].copy_from_slice(&[100, 101, 0, 103]);
        root[12..].copy_from_slice(&[50, 51, 52]);
        let blocks = [
            (50, numbers(&[0, 200, 201])),
            (51, numbers(&[0, 60])),
            (52, numbers(&[61])),
            (60, numbers(&[300])),
            (61, numbers(&[62])),
            (62, numbers(&[0, 0, 400])),
        ];
        let found = mapped([0; 4], &numbers(&root), &blocks, 99).unwrap();
        let (two, three) = (12 + 256 + 256, 12 + 256 + 256 * 256 + 2);
        let expected = [
            (0, 100, 2),
            (3, 103, 1),
            (13, 200, 2),
            (two, 300, 1),
            (three, 400, 1),
        ];
        assert_eq!(found, expected);
        assert!(mapped([0; 4], &numbers(&root), &blocks, 5).is_ok());
        assert!(mapped([0; 4], &numbers(&root), &blocks, 4).is_err());
        // All pointers lead to the same block.
        let all = vec![50; 15];
        let blocks = [(50, numbers(&[50; 256]))];
        assert!(mapped([0; 4], &numbers(&all), &blocks, 9999).is_err());
        // Many blocks of pointers, none of which points to data.
        let mut nothing = vec![0; 15];
        nothing[13] = 51;
        let blocks = [(51, numbers(&[50; 256]))];
        assert!(mapped([0; 4], &numbers(&nothing), &blocks, 86).is_ok());
        assert!(mapped([0; 4], &numbers(&nothing), &blocks, 85).is_err());
        root[1] = 4096;
        assert!(
            mapped([0; 4], &numbers(&root), &blocks, 99).is_err(),
            "outside"
        );
    }
}
