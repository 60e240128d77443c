//! Group descriptors.

/// The part of one group's inode table that is or has been in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeTable {
    /// The first inode.
    pub first: u32,
    /// How many inodes, from the first on, may be in use.
    pub count: u32,
    /// Where it begins on the device, in bytes.
    pub offset: u64,
}
