//! What is asked for, as C says it.

use std::ffi::{c_char, c_int};

/// What a walk is asked for. Set everything to zero, then size and roots, then what is wanted: zero is the default of
/// every member.
///
/// Later versions may add members at the end. One that was built with an older header is understood as if they were
/// zero; one that was built with a newer header is refused with -E2BIG if a member that this library does not know is
/// not zero.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkOptions {
    /// sizeof(struct ringwalk_options).
    pub size: usize,
    /// Paths of files and directories to begin with; the last is followed by NULL. Copied.
    pub roots: *const *mut c_char,
    /// NULL, or an open directory for each root, which is then shown under its path; negative where the path is to be
    /// opened. Descriptors are duplicated: they stay the caller's, and their positions are not touched.
    pub root_descriptors: *const c_int,
    /// Metadata wanted with every entry: RINGWALK_FIELD_ bits. With 0 no file is asked for any, unless its directory
    /// does not tell whether it is a directory.
    pub fields: u32,
    /// RINGWALK_FLAG_... bits.
    pub flags: u32,
    /// RINGWALK_FOLLOW_...
    pub follow: u32,
    /// RINGWALK_STAY_...
    pub stay: u32,
    /// RINGWALK_ORDER_...
    pub order: u32,
    /// RINGWALK_PREFETCH_...
    pub prefetch: u32,
    /// Number of threads that read, 65536 at most. 0: as many as processors, at most 16, and more while they wait for a
    /// device.
    pub workers: u32,
    /// Entries above this depth are not delivered; roots have depth 0.
    pub min_depth: u32,
    /// The walk does not go below this depth. 0: no limit; RINGWALK_ROOTS_ONLY: it looks at the roots only.
    pub max_depth: i64,
    /// Bytes read from a directory at a time, from 1024 to 67108864. 0: as the file system rewards it.
    pub buffer_size: usize,
    /// Where data is read from: "auto", "syscall", "module", "ring", "ext4", "xfs" or "btrfs"; NULL is "auto". One that
    /// is named and cannot be used for all roots that are directories is an error of ringwalk_open.
    pub source: *const c_char,
    /// NULL, or where ringwalk_open writes a sentence for people if it fails, ended by NUL and cut to fit.
    pub message: *mut c_char,
    /// Bytes at message.
    pub message_size: usize,
    /// Descriptors that the walk leaves free for the rest of the process, beside those that it has
    /// open; what the callback opens comes out of them. 0: 64, or a quarter of the free ones if
    /// that is less. The walk always uses the few that one worker needs. All walks of the process
    /// count together.
    pub descriptor_reserve: usize,
}
