//! File systems whose tables lack what their driver has in memory.
//!
//! Once the journal is aborted nothing is written any more. Sizes and blocks of delayed allocation
//! never reach the inode tables, however long one waits, while system calls tell them from memory.
//! The same goes for one that was shut down. An error after which the driver goes on
//! (`errors=continue`) may have cost the write-back of a file, too.
//!
//! **When this is looked at:** once, when a file system is opened. An error that comes later
//! changes nothing: files that are not asked by system calls had been written back by then, as they
//! were changed longer ago than write-back takes.

use crate::mounts::Mount;
use ringwalk_ext4::State;

/// Why the tables of a file system cannot be relied on, by the options of its mount and its
/// superblock.
pub(super) fn trouble(mount: &Mount, state: State) -> Option<&'static str> {
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
    // One that may be written to needs recovery, or is not clean, as long as it is mounted.
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
    use crate::mounts;

    const CLEAN: State = State {
        is_clean: true,
        has_errors: false,
        needs_recovery: false,
    };

    fn trouble_of(options: &str, state: State) -> Option<&'static str> {
        let line = format!("30 27 8:1 / /mnt rw - ext4 /dev/sda1 {options}\n");
        let mounts = mounts::parse(line.as_bytes()).unwrap();
        trouble(&mounts[0], state)
    }

    #[test]
    fn what_is_in_order_is_read() {
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
            assert_eq!(trouble_of(options, state), None, "{options} {state:?}");
        }
    }

    #[test]
    fn what_may_lag_behind_for_ever_is_not() {
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
            let trouble = trouble_of(options, state).unwrap_or_default();
            assert!(trouble.contains(word), "{options}: {trouble}");
        }
    }
}
