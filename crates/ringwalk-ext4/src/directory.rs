//! Entries of directories.

/// An entry of a directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DirEntry<'b> {
    /// The inode.
    pub ino: u32,
    /// The type (`EXT4_FT_*`: 1 regular, 2 directory, 3 character device, 4 block device, 5 FIFO, 6 socket, 7 symbolic
    /// link); 0 if the directory does not tell.
    pub file_type: u8,
    /// The name: 1 to 255 bytes, none of them `/` or NUL.
    pub name: &'b [u8],
}
