//! One entry of a tree.

/// The number of an entry in its tree. It is never given to another entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u64);

/// The kind of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A directory.
    Directory,
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// A device, a pipe or a socket.
    Special,
    /// The kind is not known.
    #[default]
    Unknown,
}

/// How far a directory has been read. Other files are always `Done`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadState {
    /// It and everything below it was read.
    #[default]
    Done,
    /// It is being read, or something below it is.
    Reading,
    /// Its entries, or the metadata of the entry, could not be read.
    Failed,
    /// It is on another file system and was left out.
    OtherFileSystem,
}

/// One entry of a tree, with the totals of what is below it.
///
/// Sizes are in bytes. Totals include the entry itself. Each inode counts once in the whole tree:
/// for the first of its names in the order of a snapshot's rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Item {
    /// The number of the entry.
    pub id: Id,
    /// The name; for the top the path as the user gave it.
    pub name: Vec<u8>,
    /// The kind of the file.
    pub kind: Kind,
    /// The apparent size; for a directory, the size of everything in it.
    pub size: u64,
    /// The allocated size; for a directory, the size of everything in it.
    pub alloc: u64,
    /// The allocated bytes that deleting this entry would free. `None` if it is not known.
    pub freeable: Option<u64>,
    /// The number of entries: 1 for a file; of a directory with everything in it.
    pub entries: u64,
    /// The last change of the contents, in seconds since 1970; of a directory the latest of
    /// everything in it. `None` if it is not known.
    pub mtime: Option<i64>,
    /// The owner. `None` if it is not known.
    pub uid: Option<u32>,
    /// The number of names of the inode; 1 for a directory.
    pub links: u32,
    /// False for further names of an inode that counts under another name.
    pub charged: bool,
    /// How far the directory has been read.
    pub state: ReadState,
    /// The number of files and directories in it that could not be read.
    pub errors: u64,
}

impl Default for Id {
    fn default() -> Self {
        Self(u64::MAX)
    }
}

impl Item {
    /// Returns the allocated bytes that the entry adds to the directory above it.
    pub fn charged_alloc(&self) -> u64 {
        if self.charged || self.is_directory() {
            self.alloc
        } else {
            0
        }
    }

    /// Returns true for a directory.
    pub fn is_directory(&self) -> bool {
        self.kind == Kind::Directory
    }
}
