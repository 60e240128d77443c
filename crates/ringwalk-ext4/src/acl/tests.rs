//! Unit tests of `acl.rs`.

use super::*;

#[test]
fn short_entries_get_no_id() {
    let stored = [
        1, 0, 0, 0, 1, 0, 6, 0, 2, 0, 7, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0,
    ];
    let given = [
        2, 0, 0, 0, 1, 0, 6, 0, 255, 255, 255, 255, 2, 0, 7, 0, 0xE8, 3, 0, 0, 4, 0, 4, 0, 255,
        255, 255, 255,
    ];
    assert_eq!(as_xattr(&stored).unwrap(), given);
}

#[test]
fn what_is_none_is_an_error() {
    for stored in [
        &[][..],
        &[2, 0, 0, 0],
        &[1, 0, 0, 0, 1, 0],
        &[1, 0, 0, 0, 2, 0, 7, 0],
        &[1, 0, 0, 0, 3, 0, 7, 0, 0, 0, 0, 0],
    ] {
        assert!(as_xattr(stored).is_err(), "{stored:?}");
    }
}
