//! Decodes ext2, ext3 and ext4 file systems: superblock, group descriptors, inodes and directories.
//! It never writes.
//!
//! The functions decode bytes that the caller has read, or read them through [`ReadAt`]. They do
//! not trust the bytes. Each access is checked. Every loop and every allocation has a bound that
//! does not come from the image. Damage is an [`Error`], never a panic.
//!
//! | file | contents |
//! |---|---|
//! | `lib.rs` | the file system as a whole, and this map |
//! | `superblock.rs`, `features.rs` | the superblock, and the features that this reader knows |
//! | `state.rs` | whether the file system was left clean, and recorded errors |
//! | `group.rs` | group descriptors: where the inode tables are, and how much of them is in use |
//! | `inode.rs`, `inode_flags.rs`, `timestamp.rs` | an inode |
//! | `inode_checksum.rs` | the checksum of an inode |
//! | `mapping.rs` | where the blocks of a file are |
//! | `extents.rs`, `indirect.rs` | the two kinds of block maps |
//! | `directory.rs` | entries of a directory: blocks and inline data |
//! | `directory_checksum.rs` | checksums of directory blocks, those of an index included |
//! | `xattr.rs` | extended attributes, in the inode, in a block and in inodes of their own |
//! | `acl.rs` | access control lists |
//! | `checksum.rs` | crc32c and crc16 as ext4 uses them |
//! | `bytes.rs`, `read_at.rs` | numbers in bytes; what an image is read from |
//! | `error.rs` | errors of decoding |
//! | `test_image.rs` | parts of file systems for unit tests |
//!
//! Documentation/filesystems/ext4/ and fs/ext4/ext4.h of Linux define the formats.

mod acl;
mod bytes;
mod checksum;
mod directory;
mod directory_checksum;
mod error;
mod extents;
mod features;
mod group;
mod indirect;
mod inode;
mod inode_checksum;
mod inode_flags;
mod mapping;
mod read_at;
mod state;
mod superblock;
#[cfg(test)]
mod test_image;
mod timestamp;
mod xattr;

use directory::Records;
use inode::InodeFormat;

pub use directory::DirEntry;
pub use error::Error;
pub use group::InodeTable;
pub use inode::Inode;
pub use inode_flags::InodeFlags;
pub use mapping::Extent;
pub use read_at::ReadAt;
pub use state::State;
pub use superblock::Superblock;
pub use timestamp::Timestamp;
pub use xattr::Xattr;

/// The inode of the root directory (`EXT4_ROOT_INO`).
pub const ROOT_INODE: u32 = 2;

/// An ext2, ext3 or ext4 file system. It keeps the geometry in memory: 8 bytes a group.
#[derive(Debug)]
pub struct FileSystem {
    superblock: Superblock,
    format: InodeFormat,
    /// First block of each group's inode table.
    tables: Vec<u64>,
}

impl FileSystem {
    /// Reads the superblock and the group descriptors.
    ///
    /// # Errors
    ///
    /// If the device holds no such file system, has a feature that this reader does not know
    /// ([`Error::Unsupported`] with its name), is damaged, or cannot be read.
    pub fn open(device: &(impl ReadAt + ?Sized)) -> Result<Self, Error> {
        let superblock = Superblock::read(device)?;
        let mut tables = Vec::new();
        group::descriptors(&superblock, device, |_, group| tables.push(group.table))?;
        Ok(Self {
            format: InodeFormat::new(&superblock),
            superblock,
            tables,
        })
    }

    /// Returns the superblock as it was when the file system was opened.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// Returns the part of each group's inode table that is in use, or has been, in ascending order
    /// of inode numbers. The descriptors are read again, since a mounted file system changes them.
    /// Groups without inodes in use are left out.
    ///
    /// # Errors
    ///
    /// If a descriptor is damaged or cannot be read.
    pub fn inode_tables(&self, device: &(impl ReadAt + ?Sized)) -> Result<Vec<InodeTable>, Error> {
        let superblock = &self.superblock;
        let mut tables = Vec::with_capacity(self.tables.len());
        group::descriptors(superblock, device, |group, descriptor| {
            if descriptor.used > 0 {
                tables.push(InodeTable {
                    // The number of inodes in all groups has 32 bits.
                    first: group * superblock.inodes_per_group + 1,
                    count: descriptor.used,
                    offset: superblock.offset_of(descriptor.table),
                });
            }
        })?;
        Ok(tables)
    }

    /// Returns the offset of an inode on the device, in bytes. The inode has
    /// [`Superblock::inode_size`] bytes.
    ///
    /// # Errors
    ///
    /// If no such inode exists.
    #[inline]
    pub fn inode_offset(&self, ino: u32) -> Result<u64, Error> {
        let superblock = &self.superblock;
        // Inode 0 does not exist: it becomes the largest number, which is in no group either.
        let index = ino.wrapping_sub(1);
        let group = index / superblock.inodes_per_group;
        let within = index % superblock.inodes_per_group;
        let table = self
            .tables
            .get(group as usize)
            .ok_or(Error::Corrupt("inode number"))?;
        // The whole table is within the file system.
        Ok(superblock.offset_of(*table) + u64::from(within) * u64::from(superblock.inode_size))
    }

    /// Returns the inode `ino`, whose bytes are `raw`. Returns `None` if it is free or deleted (no
    /// links), without checking its checksum.
    ///
    /// # Errors
    ///
    /// If its checksum is wrong or `raw` is too short.
    #[inline]
    pub fn inode<'r>(&self, ino: u32, raw: &'r [u8]) -> Result<Option<Inode<'r>>, Error> {
        Inode::decode(&self.format, ino, raw)
    }

    /// Returns whether an inode belongs to the file system itself and has no name: the journal,
    /// quotas, the resize inode, the orphan file and the other reserved ones. An inode that holds
    /// the value of an extended attribute counts, too, which a flag says.
    #[inline]
    pub fn is_hidden(&self, inode: &Inode<'_>) -> bool {
        let superblock = &self.superblock;
        let ino = inode.ino();
        (ino < superblock.first_inode && ino != ROOT_INODE)
            || ino == superblock.project_quota_inode
            || ino == superblock.orphan_inode
            || inode.flags().contains(InodeFlags::EA_INODE)
    }

    /// Returns where the blocks of a file are, in the order of the file. Holes and unwritten
    /// extents are left out. Inline data has no blocks.
    ///
    /// # Errors
    ///
    /// If the extent tree or an indirect block is damaged (checksum, depth, order, overlap, outside
    /// of the file system) or cannot be read, or if there are more than `most` extents, counted as
    /// they are stored.
    pub fn extents(
        &self,
        device: &(impl ReadAt + ?Sized),
        inode: &Inode<'_>,
        most: usize,
    ) -> Result<Vec<Extent>, Error> {
        mapping::map(&self.superblock, device, inode, most)
    }

    /// Calls the visitor for the entries of one block of a directory, with `.` and `..`, without
    /// unused entries. `logical` is the number of the block in the directory.
    ///
    /// # Errors
    ///
    /// If the block's checksum is wrong, or its records do not fill it exactly. The visitor has
    /// been called for the entries before the damage, except where blocks have checksums.
    #[inline]
    pub fn directory_block<'b>(
        &self,
        directory: &Inode<'_>,
        logical: u64,
        block: &'b [u8],
        entry: impl FnMut(DirEntry<'b>),
    ) -> Result<(), Error> {
        let superblock = &self.superblock;
        if block.len() != superblock.block_size as usize {
            return Err(Error::Corrupt("size of a directory's block"));
        }
        if superblock.has_checksums {
            let seed = directory.seed(superblock.seed);
            let has_index = directory.flags().contains(InodeFlags::INDEX);
            directory_checksum::check(block, seed, has_index, logical)?;
        }
        self.records().each(block, entry)
    }

    /// Returns how records of directories are stored.
    fn records(&self) -> Records {
        Records {
            has_types: self.superblock.has_file_types,
            inodes: self.superblock.inodes,
        }
    }

    /// Calls the visitor for the entries of a directory whose data is in its inode, with `..` (such
    /// a directory has no `.`).
    ///
    /// # Errors
    ///
    /// If the records do not fill their space exactly.
    pub fn inline_directory<'r>(
        &self,
        directory: &Inode<'r>,
        entry: impl FnMut(DirEntry<'r>),
    ) -> Result<(), Error> {
        let second = xattr::inline_data(directory)?;
        self.records()
            .each_inline(directory.block_map(), second, entry)
    }

    /// Returns the extended attributes of a file, with the prefix of their namespace (`user.`,
    /// `security.`...), in the order in which they are stored.
    ///
    /// # Errors
    ///
    /// If they are damaged or cannot be read.
    pub fn xattrs(
        &self,
        device: &(impl ReadAt + ?Sized),
        inode: &Inode<'_>,
    ) -> Result<Vec<Xattr>, Error> {
        xattr::read(self, device, inode)
    }
}
