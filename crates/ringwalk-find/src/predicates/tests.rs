//! Rounding of sizes, and hidden names.

use super::entry::is_hidden;
use super::metadata::units;

#[test]
fn sizes_are_rounded_up_to_units() {
    for (size, unit, expected) in [
        (0, 512, 0),
        (1, 512, 1),
        (512, 512, 1),
        (513, 512, 2),
        (7, 1, 7),
        (u64::MAX, 1, u64::MAX),
        (u64::MAX, 1 << 30, 1 << 34),
        (10, 3, 4),
    ] {
        assert_eq!(units(size, unit), expected, "{size} in units of {unit}");
    }
}

#[test]
fn dots_alone_do_not_hide() {
    assert!(is_hidden(b".x") && is_hidden(b"..."));
    assert!(!is_hidden(b".") && !is_hidden(b"..") && !is_hidden(b"x."));
}
