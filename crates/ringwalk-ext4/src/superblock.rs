//! The superblock.

use crate::bytes::{Fixed, join32};
use crate::checksum::crc32c;
use crate::error::TRIES;
use crate::features::{Features, compat, incompat, ro_compat};
use crate::state::State;
use crate::{Error, ReadAt};

/// Offset on the device in bytes, for any block size.
const OFFSET: u64 = 1024;
/// Size in bytes.
const SIZE: usize = 1024;
/// `EXT4_SUPER_MAGIC`.
const MAGIC: u16 = 0xEF53;
/// The first inode that is not reserved, if the superblock does not store it
/// (`EXT4_GOOD_OLD_FIRST_INO`).
const FIRST_INODE: u32 = 11;
/// Bytes of the smallest inode (`EXT4_GOOD_OLD_INODE_SIZE`).
pub(crate) const OLD_INODE_SIZE: u16 = 128;
/// Block numbers in extents have 48 bits.
const MOST_BLOCKS: u64 = 1 << 48;

/// The fields of the superblock that a reader needs.
#[derive(Clone, Debug)]
pub struct Superblock {
    /// Bytes of a block, 1024 to 65536.
    pub block_size: u32,
    /// Bytes of an inode, 128 to the block size.
    pub inode_size: u16,
    /// Number of inodes.
    pub inodes: u32,
    /// Number of inodes in each group.
    pub inodes_per_group: u32,
    /// Number of free inodes. It is out of date on a mounted file system; statfs(2) has the true
    /// number.
    pub free_inodes: u32,
    /// True if metadata has checksums (`metadata_csum`).
    pub has_checksums: bool,
    /// True if directories hold the types of their entries (`filetype`).
    pub has_file_types: bool,
    /// The UUID.
    pub uuid: [u8; 16],
    /// Bits of `s_feature_ro_compat` that this reader does not know. By ext4's rule they do not
    /// prevent reading, so the file system is opened. Yet one of them may change what stat(2)
    /// returns, as `huge_file` once did with the unit of blocks. A caller that must give the
    /// kernel's answer declines a file system with any of them.
    pub unknown_features: u32,
    /// The recorded state.
    pub state: State,
    pub(crate) features: Features,
    /// Number of blocks.
    pub(crate) blocks: u64,
    /// The first block of the first group.
    pub(crate) first_data_block: u32,
    pub(crate) blocks_per_group: u32,
    pub(crate) groups: u32,
    /// Bytes of a group descriptor.
    pub(crate) descriptor_size: u16,
    /// The first block of descriptors that is in its own group (`meta_bg`).
    pub(crate) first_meta_group: u32,
    /// The groups with copies of the superblock (`sparse_super2`).
    pub(crate) backup_groups: [u32; 2],
    /// The seed of all checksums of metadata.
    pub(crate) seed: u32,
    /// True if the fields of Linux are valid. Inodes have checksums only then.
    pub(crate) is_linux: bool,
    pub(crate) first_inode: u32,
    /// Inodes without a name beyond the reserved ones: of project quotas, and of the orphan file. 0
    /// if there is none.
    pub(crate) project_quota_inode: u32,
    pub(crate) orphan_inode: u32,
}

impl Superblock {
    /// Reads and checks the superblock. Reads it again while its checksum is wrong, since the
    /// kernel may be writing to it.
    pub(crate) fn read(device: &(impl ReadAt + ?Sized)) -> Result<Self, Error> {
        let mut bytes = [0; SIZE];
        let mut tries = 0;
        loop {
            device.read_exact_at(&mut bytes, OFFSET)?;
            tries += 1;
            match Self::decode(&bytes) {
                Err(Error::Checksum(_)) if tries < TRIES => {}
                result => return result,
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8; SIZE]) -> Result<Self, Error> {
        let raw = Fixed(bytes);
        if raw.u16::<0x38>() != MAGIC {
            return Err(Error::NotExt4);
        }
        let is_dynamic = raw.u32::<0x4C>() != 0;
        let features = Features {
            compat: raw.u32::<0x5C>(),
            incompat: raw.u32::<0x60>(),
            ro_compat: raw.u32::<0x64>(),
        };
        features.check()?;
        let has_checksums = features.has_ro_compat(ro_compat::METADATA_CSUM);
        if has_checksums {
            check_checksum(raw)?;
        }
        let mut uuid = [0; 16];
        uuid.copy_from_slice(&bytes[0x68..0x78]);
        let is_64bit = features.has_incompat(incompat::BIT64);
        let superblock = Self {
            block_size: power(10, raw.u32::<0x18>(), 16).ok_or(Error::Corrupt("block size"))?,
            inode_size: if is_dynamic {
                raw.u16::<0x58>()
            } else {
                OLD_INODE_SIZE
            },
            inodes: raw.u32::<0x0>(),
            inodes_per_group: raw.u32::<0x28>(),
            free_inodes: raw.u32::<0x10>(),
            has_checksums,
            has_file_types: features.has_incompat(incompat::FILETYPE),
            uuid,
            unknown_features: features.unknown_ro_compat(),
            state: State::decode(raw, is_dynamic, features.has_incompat(incompat::RECOVER)),
            features,
            blocks: join32(
                raw.u32::<0x4>(),
                if is_64bit { raw.u32::<0x150>() } else { 0 },
            ),
            first_data_block: raw.u32::<0x14>(),
            blocks_per_group: raw.u32::<0x20>(),
            groups: 0,
            descriptor_size: if is_64bit { raw.u16::<0xFE>() } else { 32 },
            first_meta_group: raw.u32::<0x104>(),
            backup_groups: [raw.u32::<0x24C>(), raw.u32::<0x250>()],
            seed: if features.has_incompat(incompat::CSUM_SEED) {
                raw.u32::<0x270>()
            } else {
                crc32c(!0, &uuid)
            },
            is_linux: raw.u32::<0x48>() == 0,
            first_inode: if is_dynamic {
                raw.u32::<0x54>()
            } else {
                FIRST_INODE
            },
            project_quota_inode: if features.has_ro_compat(ro_compat::PROJECT) {
                raw.u32::<0x26C>()
            } else {
                0
            },
            orphan_inode: if features.has_compat(compat::ORPHAN_FILE) {
                raw.u32::<0x280>()
            } else {
                0
            },
        };
        superblock.check(raw)
    }

    /// Checks the numbers as the kernel does when it mounts. Returns the superblock with the number
    /// of groups.
    fn check(mut self, raw: Fixed<'_, SIZE>) -> Result<Self, Error> {
        let sizes_fit = self.inode_size.is_power_of_two()
            && self.inode_size >= OLD_INODE_SIZE
            && u32::from(self.inode_size) <= self.block_size;
        if !sizes_fit {
            return Err(Error::Corrupt("inode size"));
        }
        let least = if self.features.has_incompat(incompat::BIT64) {
            64
        } else {
            32
        };
        let fits = (least..=1024).contains(&self.descriptor_size);
        if !fits || !self.descriptor_size.is_power_of_two() {
            return Err(Error::Corrupt("size of group descriptors"));
        }
        if self.blocks > MOST_BLOCKS
            || self.blocks > u64::MAX / u64::from(self.block_size)
            || self.blocks <= u64::from(self.first_data_block)
            || u64::from(self.first_data_block) > OFFSET / u64::from(self.block_size)
        {
            return Err(Error::Corrupt("number of blocks"));
        }
        if self.first_inode < FIRST_INODE {
            return Err(Error::Corrupt("first inode"));
        }
        self.check_clusters(raw)?;
        // A bitmap of a group's inodes fills at most a block.
        let bits = self.block_size * 8;
        if self.inodes_per_group == 0 || self.inodes_per_group > bits {
            return Err(Error::Corrupt("inodes of a group"));
        }
        let blocks = self.blocks - u64::from(self.first_data_block);
        let groups = blocks.div_ceil(u64::from(self.blocks_per_group));
        if groups.checked_mul(self.inodes_per_group.into()) != Some(self.inodes.into()) {
            return Err(Error::Corrupt("number of inodes"));
        }
        // Each group has at least one inode, and the number of inodes has 32 bits.
        self.groups = u32::try_from(groups).map_err(|_| Error::Corrupt("number of groups"))?;
        Ok(self)
    }

    /// Checks the sizes of clusters and groups: the bitmap of a group's clusters fills at most a
    /// block.
    fn check_clusters(&self, raw: Fixed<'_, SIZE>) -> Result<(), Error> {
        let bits = self.block_size * 8;
        let clusters = if self.features.has_ro_compat(ro_compat::BIGALLOC) {
            let size = power(10, raw.u32::<0x1C>(), 30).ok_or(Error::Corrupt("cluster size"))?;
            let ratio = size / self.block_size;
            let clusters = raw.u32::<0x24>();
            if ratio == 0 || clusters.checked_mul(ratio) != Some(self.blocks_per_group) {
                return Err(Error::Corrupt("clusters of a group"));
            }
            clusters
        } else {
            self.blocks_per_group
        };
        if clusters == 0 || clusters > bits {
            return Err(Error::Corrupt("blocks of a group"));
        }
        Ok(())
    }

    /// Returns the offset of a block on the device, in bytes.
    #[inline]
    pub(crate) fn offset_of(&self, block: u64) -> u64 {
        block.saturating_mul(u64::from(self.block_size))
    }

    /// Returns whether `count` blocks from `first` on are blocks of the file system after its
    /// superblock.
    #[inline]
    pub(crate) fn has_blocks(&self, first: u64, count: u64) -> bool {
        let end = first.checked_add(count);
        first > u64::from(self.first_data_block) && end.is_some_and(|end| end <= self.blocks)
    }

    /// Reads a block.
    pub(crate) fn read_block(
        &self,
        device: &(impl ReadAt + ?Sized),
        block: u64,
    ) -> Result<Vec<u8>, Error> {
        if !self.has_blocks(block, 1) {
            return Err(Error::Corrupt("block outside of the file system"));
        }
        let mut bytes = vec![0; self.block_size as usize];
        device.read_exact_at(&mut bytes, self.offset_of(block))?;
        Ok(bytes)
    }
}

/// Returns `2^(base + exponent)`, if that is at most `2^most`.
fn power(base: u32, exponent: u32, most: u32) -> Option<u32> {
    let exponent = base.checked_add(exponent)?;
    (exponent <= most).then(|| 1 << exponent)
}

/// Checks that the superblock's checksum is a crc32c, and right.
fn check_checksum(raw: Fixed<'_, SIZE>) -> Result<(), Error> {
    /// `EXT4_CRC32C_CHKSUM`.
    const CRC32C: u8 = 1;
    let kind = raw.u8::<0x175>();
    // Another kind of checksum may be damage or a new feature.
    if crc32c(!0, &raw.0[..0x3FC]) != raw.u32::<0x3FC>() {
        return Err(Error::Checksum("the superblock"));
    }
    if kind != CRC32C {
        return Err(Error::Unsupported(format!("checksum type {kind}")));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_image::{set, superblock_bytes};

    /// Returns the result of decoding the superblock with `value` at `at`.
    fn with(at: usize, value: u32) -> Result<Superblock, Error> {
        let mut bytes = superblock_bytes();
        set(&mut bytes, at, &value.to_le_bytes());
        Superblock::decode(&bytes)
    }

    #[test]
    fn geometry_is_read() {
        let superblock = with(0x10, 77).unwrap();
        assert_eq!((superblock.block_size, superblock.inode_size), (1024, 256));
        assert_eq!((superblock.inodes, superblock.inodes_per_group), (512, 256));
        assert_eq!((superblock.free_inodes, superblock.groups), (77, 2));
        assert!(!superblock.has_checksums && !superblock.has_file_types);
        assert!(superblock.has_blocks(2, 4094) && !superblock.has_blocks(2, 4095));
        assert!(!superblock.has_blocks(1, 1) && !superblock.has_blocks(2, u64::MAX));
    }

    #[test]
    fn the_first_revision_has_fixed_sizes() {
        let mut bytes = superblock_bytes();
        set(&mut bytes, 0x4C, &[0; 16]);
        let superblock = Superblock::decode(&bytes).unwrap();
        assert_eq!((superblock.inode_size, superblock.first_inode), (128, 11));
    }

    #[test]
    fn numbers_that_cannot_be_are_errors() {
        for (at, value) in [
            (0x0, 513),
            (0x0, 0),
            (0x4, 0),
            (0x4, 1),
            (0x4, u32::MAX),
            (0x14, 2),
            (0x14, u32::MAX),
            (0x18, 1),
            (0x18, 7),
            (0x18, u32::MAX),
            (0x20, 0),
            (0x20, 8193),
            (0x28, 0),
            (0x28, 8193),
            (0x54, 10),
            (0x58, 0),
            (0x58, 64),
            (0x58, 192),
            (0x58, 2048),
            // 64bit, with descriptors of size 0.
            (0x60, 0x80),
            // bigalloc, with clusters of size 0.
            (0x64, 0x200),
        ] {
            assert!(
                matches!(with(at, value), Err(Error::Corrupt(_))),
                "{at:#x} {value}"
            );
        }
        assert!(matches!(with(0x38, 0), Err(Error::NotExt4)));
        assert!(matches!(with(0x60, 8), Err(Error::Unsupported(_))));
        assert!(matches!(with(0x64, 0x400), Err(Error::Checksum(_))));
        assert_eq!(
            with(0x64, 0x8000_0400 - 0x400).unwrap().unknown_features,
            1 << 31
        );
    }

    #[test]
    fn a_checksum_that_is_no_crc32c_is_unknown() {
        let mut bytes = superblock_bytes();
        set(&mut bytes, 0x64, &[0, 4]);
        for (kind, is_known) in [(1, true), (2, false)] {
            bytes[0x175] = kind;
            let sum = crc32c(!0, &bytes[..0x3FC]);
            set(&mut bytes, 0x3FC, &sum.to_le_bytes());
            match Superblock::decode(&bytes) {
                Ok(superblock) => assert!(is_known && superblock.has_checksums),
                Err(Error::Unsupported(_)) => assert!(!is_known),
                Err(error) => panic!("{error}"),
            }
        }
        bytes[0] ^= 1;
        assert!(matches!(
            Superblock::decode(&bytes),
            Err(Error::Checksum(_))
        ));
    }
}
