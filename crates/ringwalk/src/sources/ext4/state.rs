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
mod tests {
    use super::*;
    use crate::system::mounts;

    const CLEAN: State = State {
        is_clean: true,
        has_errors: false,
        needs_recovery: false,
    };

    fn doubt_of(options: &str, state: State) -> Option<&'static str> {
        let line = format!("30 27 8:1 / /mnt rw - ext4 /dev/sda1 {options}\n");
        let mounts = mounts::parse(line.as_bytes()).unwrap();
        doubt(&mounts[0], state)
    }

    #[test]
    fn sound_file_systems_are_read() {
        let recovering = State {
            needs_recovery: true,
            ..CLEAN
        };
        let without_journal = State {
            is_clean: false,
            ..CLEAN
        };
        for (options, state) in [
            ("rw", recovering),
            ("rw,errors=remount-ro", recovering),
            ("rw", without_journal),
            ("ro", CLEAN),
            ("ro,norecovery", CLEAN),
        ] {
            assert_eq!(doubt_of(options, state), None, "{options} {state:?}");
        }
    }

    #[test]
    fn file_systems_that_lag_behind_for_ever_are_refused() {
        let recovering = State {
            needs_recovery: true,
            ..CLEAN
        };
        let unclean = State {
            is_clean: false,
            ..CLEAN
        };
        let wrong = State {
            has_errors: true,
            ..CLEAN
        };
        for (options, state, word) in [
            ("rw,shutdown", recovering, "shut down"),
            ("rw,errors=remount-ro,emergency_ro", recovering, "error"),
            ("rw", wrong, "record of errors"),
            ("ro", wrong, "record of errors"),
            ("ro,norecovery", recovering, "recovered"),
            ("ro", unclean, "clean"),
        ] {
            let doubt = doubt_of(options, state).unwrap_or_default();
            assert!(doubt.contains(word), "{options}: {doubt}");
        }
    }
}
