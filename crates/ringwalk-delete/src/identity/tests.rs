use super::{BirthMark, Found, Identity};
use ringwalk::{Fields, Metadata};
use rustix::fd::AsFd;
use std::collections::HashSet;
use std::mem::size_of;

#[test]
fn times_that_are_close_have_different_fingerprints() {
    let times = (0..100).flat_map(|seconds| (0..100).map(move |nano| (seconds, nano)));
    let marks: HashSet<_> = times
        .map(|(seconds, nano)| BirthMark::new(seconds, nano))
        .collect();
    // Of 10^4 random numbers of 32 bits, 0.01 pairs are the same.
    assert_eq!(marks.len(), 10_000);
    let late = (0..1000).map(|nano| BirthMark::new(1_700_000_000, 999_999_999 - nano));
    assert_eq!(late.collect::<HashSet<_>>().len(), 1000);
}

#[test]
fn a_fingerprint_is_a_number_that_is_not_zero() {
    assert_eq!(size_of::<Option<BirthMark>>(), 4);
    assert_eq!(BirthMark::from_bits(0), None);
    // The time whose hash is zero.
    assert_ne!(BirthMark::new(0, 0).to_bits(), 0);
    for mark in [
        BirthMark::new(0, 0),
        BirthMark::new(-1, 5),
        BirthMark::new(i64::MAX, 7),
    ] {
        assert_eq!(BirthMark::from_bits(mark.to_bits()), Some(mark));
    }
}

#[test]
fn a_walk_and_the_deletion_see_the_same_identity() {
    let directory = tempfile::tempdir().unwrap();
    let fields = Fields::BTIME | Fields::INO;
    let metadata = Metadata::of_path(None, directory.path(), false, fields).unwrap();
    let file = std::fs::File::open(directory.path()).unwrap();
    let found = Found::of(file.as_fd()).unwrap();
    assert_eq!(Identity::of(&metadata), found.identity);
    assert!(found.is_directory && !found.is_mount_point);
}

#[test]
fn a_time_of_birth_that_was_not_asked_for_is_none() {
    let metadata = Metadata::default();
    assert_eq!(Identity::of(&metadata).birth, None);
}
