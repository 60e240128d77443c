//! File systems whose tables lack changes that their driver has in memory.
//!
//! After the journal is aborted, the driver writes nothing any more. Sizes and blocks of delayed
//! allocation then never reach the inode tables, while system calls return them from memory. The
//! same holds after a shutdown. After an error that the driver ignores (`errors=continue`), the
//! write-back of a file may be lost, too.
//!
//! **Time of the check:** once, when a file system is opened. A later error changes no answer: the
//! tables are used only for files that were changed longer ago than write-back takes, and so were
//! written back before.

use crate::system::mounts::Mount;
use ringwalk_ext4::State;

/// Returns why the tables of a file system may be wrong, judged by its mount options and its
/// superblock.
pub(super) fn doubt(mount: &Mount, state: State) -> Option<&'static str> {
    if mount.has_option("shutdown") {
        return Some("it has been shut down");
    }
    if mount.has_option("emergency_ro") {
        return Some("an error has made it read-only");
    }
    if state.has_errors {
        return Some(
            "its superblock has a record of errors, and not all of it may have been written back",
        );
    }
    // A file system that is mounted for writing needs recovery, or is not clean, during the whole
    // mount.
    if !mount.is_read_only() {
        return None;
    }
    if state.needs_recovery {
        return Some("it is read-only, and its journal has not been recovered");
    }
    if !state.is_clean {
        return Some("it is read-only, and was not left clean");
    }
    None
}

#[cfg(test)]
mod tests;
