//! Flags of inodes.

/// Flags of an inode (`EXT4_*_FL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeFlags(pub u32);

impl InodeFlags {
    /// Compressed (`EXT4_COMPR_FL`).
    pub const COMPRESSED: u32 = 0x4;
    /// Cannot be changed (`EXT4_IMMUTABLE_FL`).
    pub const IMMUTABLE: u32 = 0x10;
    /// Can only be appended to (`EXT4_APPEND_FL`).
    pub const APPEND: u32 = 0x20;
    /// Excluded from dumps (`EXT4_NODUMP_FL`).
    pub const NODUMP: u32 = 0x40;
    /// Contents, or names, are encrypted (`EXT4_ENCRYPT_FL`). For a symbolic link stat(2) returns
    /// the length of the target as it is shown, not this size.
    pub const ENCRYPTED: u32 = 0x800;
    /// A directory with an index (`EXT4_INDEX_FL`).
    pub const INDEX: u32 = 0x1000;
    /// Blocks are mapped by extents (`EXT4_EXTENTS_FL`).
    pub const EXTENTS: u32 = 0x8_0000;
    /// Protected by fs-verity (`EXT4_VERITY_FL`).
    pub const VERITY: u32 = 0x10_0000;
    /// Holds the value of an extended attribute (`EXT4_EA_INODE_FL`).
    pub const EA_INODE: u32 = 0x20_0000;
    /// Mapped directly (`EXT4_DAX_FL`).
    pub const DAX: u32 = 0x200_0000;
    /// Data is in the inode (`EXT4_INLINE_DATA_FL`).
    pub const INLINE_DATA: u32 = 0x1000_0000;

    /// Returns whether all of `flags` are set.
    #[inline]
    pub fn contains(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
}
