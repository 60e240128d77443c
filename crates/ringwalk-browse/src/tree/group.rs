//! Totals of the files below a directory by a key.

/// A key of groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GroupKey {
    /// The extension of the name.
    Extension,
    /// The owner.
    Owner,
    /// The time since the last change.
    Age,
}

/// The total of one group. Each inode counts once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The value of the key, as text: `.txt`, a name of an owner, `1-3 months`. It may contain any
    /// bytes.
    pub label: Vec<u8>,
    /// The number of entries.
    pub entries: u64,
    /// Their apparent size in bytes.
    pub size: u64,
    /// Their allocated size in bytes.
    pub alloc: u64,
}

pub use ringwalk_answers::report::AgeClass;
