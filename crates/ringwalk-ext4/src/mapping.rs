//! Where the blocks of a file are.

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
