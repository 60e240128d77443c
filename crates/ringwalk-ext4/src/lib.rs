//! Decodes ext2, ext3 and ext4 file systems: superblock, group descriptors, inodes and directories. For reading only.
//!
//! Everything here works on bytes that somebody else has read, or reads them through [`ReadAt`]. Bytes are not trusted: each
//! access is checked, every loop and every allocation has a bound that does not come from the image, and what is wrong is an
//! [`Error`], never a panic.
//!
//! | file | what is in it |
//! |---|---|
//! | `lib.rs` | the file system as a whole, and this map |
//! | `superblock.rs`, `features.rs` | the superblock, and which features this reader knows |
//! | `state.rs` | whether it was left clean, and errors that have been noted |
//! | `group.rs` | group descriptors: where inode tables are, and how much of them is in use |
//! | `inode.rs`, `inode_flags.rs`, `timestamp.rs` | one inode |
//! | `inode_checksum.rs` | its checksum |
//! | `mapping.rs` | where the blocks of a file are, by |
//! | `extents.rs`, `indirect.rs` | the one kind of map and the other |
//! | `directory.rs` | entries of a directory: blocks and inline data |
//! | `directory_checksum.rs` | checksums of directory blocks, those of an index included |
//! | `xattr.rs` | extended attributes, in the inode, in a block and in inodes of their own |
//! | `acl.rs` | the values of those that are access control lists |
//! | `checksum.rs` | crc32c and crc16 as ext4 uses them |
//! | `bytes.rs`, `read_at.rs` | numbers in bytes, and where bytes come from |
//!
//! Formats are those of Documentation/filesystems/ext4/ and fs/ext4/ext4.h of Linux.

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

/// An ext2, ext3 or ext4 file system: its geometry, read once. Holds 8 bytes a group.
#[derive(Debug)]
pub struct FileSystem {
    superblock: Superblock,
    format: InodeFormat,
    /// First block of each group's inode table.
    tables: Vec<u64>,
}

impl FileSystem {
    /// Reads superblock and group descriptors.
    ///
    /// # Errors
    ///
    /// If this is no such file system, has a feature that this reader does not know ([`Error::Unsupported`] with its
    /// name), is damaged, or cannot be read.
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

    /// The superblock as it was when the file system was opened.
    pub fn superblock(&self) -> &Superblock {
        &self.superblock
    }

    /// The part of each group's inode table that has been in use, in ascending order of inode numbers; read anew, since a
    /// mounted file system changes it. Groups without inodes in use are left out.
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

    /// Where the bytes of an inode begin on the device; [`Superblock::inode_size`] of them are its own.
    ///
    /// # Errors
    ///
    /// If there is no such inode.
    #[inline]
    pub fn inode_offset(&self, ino: u32) -> Result<u64, Error> {
        let superblock = &self.superblock;
        // Inode 0 is none: it becomes the largest number, which is in no group either.
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

    /// The inode `ino`, whose bytes are `raw`; `None` if it is free or deleted (no links), which is found out before
    /// the checksum is looked at.
    ///
    /// # Errors
    ///
    /// If its checksum is wrong or `raw` is too short.
    #[inline]
    pub fn inode<'r>(&self, ino: u32, raw: &'r [u8]) -> Result<Option<Inode<'r>>, Error> {
        Inode::decode(&self.format, ino, raw)
    }

    /// Whether an inode belongs to the file system itself and has no name: journal, quota, resize, orphan file and the
    /// other reserved ones, and (by its flag) one that holds the value of an extended attribute.
    #[inline]
    pub fn is_hidden(&self, inode: &Inode<'_>) -> bool {
        let superblock = &self.superblock;
        let ino = inode.ino();
        (ino < superblock.first_inode && ino != ROOT_INODE)
            || ino == superblock.project_quota_inode
            || ino == superblock.orphan_inode
            || inode.flags().contains(InodeFlags::EA_INODE)
    }

    /// Where the blocks of a file are, in order of their place in the file; holes and unwritten extents are left out.
    /// Inline data has none.
    ///
    /// # Errors
    ///
    /// If the tree of extents or an indirect block is damaged (checksum, depth, order, overlap, outside of the file system) or
    /// cannot be read, or there are more than `most` extents, counted as they are stored.
    pub fn extents(
        &self,
        device: &(impl ReadAt + ?Sized),
        inode: &Inode<'_>,
        most: usize,
    ) -> Result<Vec<Extent>, Error> {
        mapping::map(&self.superblock, device, inode, most)
    }

    /// Gives the entries of one block of a directory, `.` and `..` included, unused ones not. `logical` is the number of
    /// the block in the directory.
    ///
    /// # Errors
    ///
    /// If the block's checksum is wrong or its records do not fill it exactly. Entries before the damage have been given, except where
    /// there are checksums.
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

    /// How directories' records are to be read.
    fn records(&self) -> Records {
        Records {
            has_types: self.superblock.has_file_types,
            inodes: self.superblock.inodes,
        }
    }

    /// Gives the entries of a directory whose data is in its inode, `..` included (there is no `.`).
    ///
    /// # Errors
    ///
    /// If the records do not fill their room.
    pub fn inline_directory<'r>(
        &self,
        directory: &Inode<'r>,
        entry: impl FnMut(DirEntry<'r>),
    ) -> Result<(), Error> {
        let second = xattr::inline_data(directory)?;
        self.records()
            .each_inline(directory.block_map(), second, entry)
    }

    /// The extended attributes of a file, with the prefix of their namespace (`user.`, `security.`...), in the order in which
    /// they are stored.
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
