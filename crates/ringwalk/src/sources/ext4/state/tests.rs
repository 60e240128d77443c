//! Unit tests of `state.rs`.

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
