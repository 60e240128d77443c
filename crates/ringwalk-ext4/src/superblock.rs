//! The superblock.

/// What the superblock says, as far as reading needs it.
#[derive(Clone, Debug)]
pub struct Superblock {
    /// Bytes of a block, 1024 to 65536.
    pub block_size: u32,
    /// Bytes of an inode, 128 to the block size.
    pub inode_size: u16,
    /// Inodes in all.
    pub inodes: u32,
    /// Inodes of each group.
    pub inodes_per_group: u32,
    /// Inodes not in use. Lags behind on a mounted file system; statfs(2) has the true number.
    pub free_inodes: u32,
    /// Metadata has checksums (`metadata_csum`).
    pub has_checksums: bool,
    /// Directories hold the types of their entries (`filetype`).
    pub has_file_types: bool,
    /// The UUID.
    pub uuid: [u8; 16],
}
