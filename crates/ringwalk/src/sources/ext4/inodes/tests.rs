//! Unit tests of `inodes.rs`.

use super::*;

#[test]
fn neighbours_are_read_together_and_the_far_are_not() {
    let places = [(0, 3), (256, 1), (1024, 0), (9000, 2), (9256, 4)];
    assert_eq!(run_length(&places, 256), 3);
    assert_eq!(run_length(&places[3..], 256), 2);
    assert_eq!(run_length(&[], 256), 0);
    // Two names of one file.
    assert_eq!(run_length(&[(512, 0), (512, 1)], 256), 2);
}

#[test]
fn a_run_has_an_end() {
    let places: Vec<_> = (0..1000).map(|at| (u64::from(at) * 256, at)).collect();
    assert_eq!(run_length(&places, 256), 256, "64 KiB");
}
