//! What a walk with a budget leaves over, as C sees it.

use std::ffi::c_char;

/// A directory, or the rest of one, that a walk has not read because its budget was spent. The walk
/// has delivered the entry of the directory itself.
///
/// A program can keep leftovers, in a file for example, and pass them to a later walk (member
/// resume of the options), in this process or another one. Another machine that has mounted the
/// same file system can read them too.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkLeftover {
    /// Index of its root in the options.
    pub root: usize,
    /// Device of the root, in the form of st_dev.
    pub root_device: u64,
    /// Inode number of the root.
    pub root_inode: u64,
    /// Path relative to the root, which ends with NUL. Empty for the root itself.
    pub path: *const c_char,
    /// Device of the directory, in the form of st_dev. Valid only if inode is not 0.
    pub device: u64,
    /// Inode number of the directory; 0 if it is not known.
    pub inode: u64,
    /// Position in the directory from which the rest is read; RINGWALK_UNOPENED if all of it is.
    pub position: i64,
    /// Entries of the directory that were read. A large number means that many can remain.
    pub read: u64,
    /// Depth of the directory, 0 for roots: the number of names in the path.
    pub depth: u32,
    /// Zero. Later versions put new members in this space.
    pub reserved: [u32; 7],
}

/// Programs pass arrays of this struct, so its size never changes.
#[cfg(target_pointer_width = "64")]
const _: () = assert!(size_of::<RingwalkLeftover>() == 96);
