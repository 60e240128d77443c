//! One inode.

/// A point in time: seconds since the epoch and nanoseconds after that second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp {
    /// Seconds since 1970-01-01 00:00 UTC.
    pub secs: i64,
    /// 0 to 999 999 999.
    pub nanos: u32,
}

/// Flags of an inode (`EXT4_*_FL`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InodeFlags(pub u32);

impl InodeFlags {
    /// Compressed (`EXT4_COMPR_FL`).
    pub const COMPRESSED: u32 = 0x4;
    /// Cannot be changed (`EXT4_IMMUTABLE_FL`).
    pub const IMMUTABLE: u32 = 0x10;
    /// Can only be added to (`EXT4_APPEND_FL`).
    pub const APPEND: u32 = 0x20;
    /// Not to be dumped (`EXT4_NODUMP_FL`).
    pub const NODUMP: u32 = 0x40;
    /// Contents, or names, are encrypted (`EXT4_ENCRYPT_FL`).
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

    /// Whether all of `flags` are set.
    pub fn contains(self, flags: u32) -> bool {
        self.0 & flags == flags
    }
}

/// An inode that is in use; its fields are decoded when asked for.
#[derive(Clone, Copy, Debug)]
pub struct Inode<'r> {
    ino: u32,
    raw: &'r [u8],
}

macro_rules! accessors {
    ($($(#[$doc:meta])* $name:ident -> $type:ty;)*) => {$(
        $(#[$doc])*
        pub fn $name(&self) -> $type {
            let _ = self.raw;
            todo!()
        }
    )*};
}

impl Inode<'_> {
    /// The number.
    pub fn ino(&self) -> u32 {
        self.ino
    }

    accessors! {
        /// Type and permission bits, as in `st_mode`.
        mode -> u32;
        /// Owner.
        uid -> u32;
        /// Group.
        gid -> u32;
        /// Number of links; 1 for a directory that has had more than 65000.
        links -> u32;
        /// Apparent size in bytes.
        size -> u64;
        /// Allocated size in units of 512 bytes, as statx(2) tells it: a regular file with inline data has at least one.
        blocks -> u64;
        /// Time of last access.
        atime -> Timestamp;
        /// Time of last change of the contents.
        mtime -> Timestamp;
        /// Time of last change of the inode.
        ctime -> Timestamp;
        /// Time of birth, where inodes are large enough to hold it.
        btime -> Option<Timestamp>;
        /// The flags.
        flags -> InodeFlags;
        /// Number of the inode's use, which a file handle holds too (`i_generation`).
        generation -> u32;
        /// Major and minor number of a device file.
        device -> (u32, u32);
        /// Project, where the file system has the feature.
        project -> Option<u32>;
    }
}
