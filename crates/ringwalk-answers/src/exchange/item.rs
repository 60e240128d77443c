//! An entry as ncdu's formats describe it, and the trait that receives entries.

use super::error::Refused;

/// Why an entry was not read, in ncdu's words.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Excluded {
    /// A pattern of the user excluded it.
    Pattern,
    /// It is on another file system.
    OtherFileSystem,
    /// It is on a file system that the kernel makes up, such as /proc.
    KernelFileSystem,
    /// It is a firmlink of macOS.
    Firmlink,
}

impl Excluded {
    /// Returns the reason that ncdu's JSON calls `word`. ncdu treats an unknown word as `pattern`.
    pub(crate) fn of_word(word: &[u8]) -> Self {
        match word {
            b"otherfs" | b"othfs" => Self::OtherFileSystem,
            b"kernfs" => Self::KernelFileSystem,
            b"frmlnk" | b"frmlink" => Self::Firmlink,
            _ => Self::Pattern,
        }
    }
}

/// The fields of an entry. None is a field that the file does not have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Fields {
    /// Apparent size in bytes; absent for 0.
    pub asize: Option<u64>,
    /// Disk usage in bytes; absent for 0.
    pub dsize: Option<u64>,
    /// Device number (`st_dev`); absent if it is the same as the directory's.
    pub dev: Option<u64>,
    /// Inode number.
    pub ino: Option<u64>,
    /// Number of names.
    pub nlink: Option<u32>,
    /// True if the file has more than one name.
    pub hlnkc: bool,
    /// True if the entry is neither a regular file nor a directory.
    pub notreg: bool,
    /// True if the entry or, for a directory, its names could not be read.
    pub read_error: bool,
    /// Why the entry was not read.
    pub excluded: Option<Excluded>,
    /// Owner.
    pub uid: Option<u32>,
    /// Group.
    pub gid: Option<u32>,
    /// Type and permission bits (`st_mode`).
    pub mode: Option<u16>,
    /// Time of modification: seconds since 1970, and nanoseconds.
    pub mtime: Option<(i64, u32)>,
}

/// What a file says about itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Name of the program that wrote it.
    pub program: Option<String>,
    /// Version of that program.
    pub version: Option<String>,
    /// When it was written: seconds since 1970.
    pub timestamp: Option<i64>,
}

/// Receives the entries of a tree, a directory before its contents. The first event is the
/// directory at the top, whose name is a path.
pub trait Events {
    /// The error of a failed write.
    type Error;

    /// Takes what the file says about itself, before any entry.
    fn header(&mut self, header: Header);

    /// Begins a directory. The events up to its `end_directory` are its contents.
    ///
    /// # Errors
    ///
    /// If the entry is wrong, or cannot be written.
    fn begin_directory(&mut self, name: &[u8], fields: &Fields)
    -> Result<(), Refused<Self::Error>>;

    /// Takes an entry that is no directory, or of unknown type.
    ///
    /// # Errors
    ///
    /// If the entry is wrong, or cannot be written.
    fn file(&mut self, name: &[u8], fields: &Fields) -> Result<(), Refused<Self::Error>>;

    /// Ends the directory that began last.
    ///
    /// # Errors
    ///
    /// If the entry is wrong, or cannot be written.
    fn end_directory(&mut self) -> Result<(), Refused<Self::Error>>;
}

/// Longest name of an entry, in bytes. File systems have at most 1023; ncdu reads up to 32 KiB.
pub(crate) const NAME_MAX: usize = 32 * 1024;

/// Succeeds if `name` can be the name of an entry, or at the top a path.
pub(crate) fn check_name(name: &[u8], top: bool) -> Result<(), String> {
    if name.is_empty() {
        return Err("the name is empty".into());
    }
    if name.contains(&0) {
        return Err("the name has a NUL byte".into());
    }
    if !top && name.contains(&b'/') {
        return Err("the name has a slash".into());
    }
    if !top && (name == b"." || name == b"..") {
        return Err("an entry cannot have the name '.' or '..'".into());
    }
    Ok(())
}
