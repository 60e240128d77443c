//! What is asked for, as C says it.

use super::RingwalkLeftover;
use std::ffi::{c_char, c_int};

/// Options of a walk. Set the whole struct to zero; then set size, roots, and the options that
/// differ from their defaults. Zero is the default of every member.
///
/// Later versions may add members at the end. The library treats members that an older program
/// lacks as zero. If a program was built with a newer header and sets a member that this library
/// does not know, ringwalk_open returns -E2BIG.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct RingwalkOptions {
    /// sizeof(struct ringwalk_options).
    pub size: usize,
    /// Paths of the files and directories where the walk begins. NULL ends the list. The library
    /// copies the paths.
    pub roots: *const *mut c_char,
    /// NULL, or a list with an open directory for each root; the walk shows it under the root's
    /// path. A negative number means that the walk opens the path. The library duplicates the
    /// descriptors: the caller keeps them, and their positions do not change.
    pub root_descriptors: *const c_int,
    /// Metadata that the walk gets for every entry: RINGWALK_FIELD_ bits. With 0, the walk gets no
    /// metadata, except where a directory does not say which entries are directories.
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
    /// Number of threads that read, at most 65536. 0: one for each processor, at most 16, and more
    /// while they wait for a device.
    pub workers: u32,
    /// The walk delivers no entries above this depth; roots have depth 0.
    pub min_depth: u32,
    /// The walk does not go below this depth. 0: no limit. RINGWALK_ROOTS_ONLY: the walk visits
    /// only the roots.
    pub max_depth: i64,
    /// Bytes that the walk reads from a directory at a time, from 1024 to 67108864. 0: a size that
    /// suits the file system.
    pub buffer_size: usize,
    /// Where data is read from: "auto", "syscall", "module", "ring", "ext4", "xfs" or "btrfs"; NULL
    /// is "auto". One that is named and cannot be used for all roots that are directories is an
    /// error of ringwalk_open.
    pub source: *const c_char,
    /// NULL, or a buffer for an error message. If ringwalk_open fails, it writes a sentence that
    /// ends with NUL and is cut to fit.
    pub message: *mut c_char,
    /// Size of the buffer at message, in bytes.
    pub message_size: usize,
    /// Number of descriptors that the walk leaves free for the rest of the process. Files that the
    /// callback opens are part of this reserve. 0: 64, or a quarter of the free descriptors if that
    /// is less. The walk always uses the few descriptors that one worker needs. All walks of a
    /// process count together.
    pub descriptor_reserve: usize,
    /// Time after which the walk begins nothing more, in nanoseconds since its beginning.
    /// Everything that it has not read then is left over: ringwalk_leftovers lists it. The walk
    /// finishes the work that it has begun, and every walk reads something. 0: no limit. A walk
    /// with a limit, or with resume, does not follow all links (RINGWALK_FOLLOW_ALWAYS).
    pub budget_time: u64,
    /// Number of entries after which the walk begins nothing more. 0: no limit.
    pub budget_entries: u64,
    /// NULL, or what an earlier walk of the same roots has left over. The walk reads these
    /// directories and all below them, and nothing else; it does not deliver the roots again. A
    /// directory that was replaced meanwhile has vanished. If a root is gone or was replaced, that
    /// is an error for each leftover of this root, and these are left over again. The library
    /// copies the list.
    pub resume: *const RingwalkLeftover,
    /// Number of leftovers at resume. With 0, and a list that is not NULL, the walk reads nothing.
    pub resume_count: usize,
    /// Number of requests for metadata that wait for a server at a time, at most. 0: no limit.
    pub in_flight: usize,
    /// Number of entries that the walk reads in a second at most, on average. 0: no limit.
    pub entries_per_second: u64,
}
