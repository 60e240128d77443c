use super::{Found, Identity, Known, Mark};
use crate::Reason;
use ringwalk::identity::IdentityTrust;
use ringwalk::{Metadata, Timestamp};
use rustix::fd::AsFd;
use std::collections::HashSet;
use std::fs::{self, File};
use std::mem::size_of;
use std::path::Path;

fn time(secs: i64, nanos: u32) -> Timestamp {
    Timestamp { secs, nanos }
}

fn metadata(path: &Path) -> Metadata {
    Metadata::of_path(None, path, false, Identity::FIELDS).unwrap()
}

/// Returns the trust of file systems that keep times of birth, and of those that do not.
fn trusts() -> [IdentityTrust; 2] {
    ["ext4", "overlay"].map(IdentityTrust::of_type)
}

#[test]
fn times_that_are_close_have_different_marks() {
    let times = (0..100).flat_map(|seconds| (0..100).map(move |nano| (seconds, nano)));
    let marks: HashSet<_> = times
        .map(|(seconds, nano)| Mark::of_birth(time(seconds, nano)))
        .collect();
    // Of 10^4 random numbers of 30 bits, 0.05 pairs are the same.
    assert_eq!(marks.len(), 10_000);
    let late = (0..1000).map(|nano| Mark::of_birth(time(1_700_000_000, 999_999_999 - nano)));
    assert_eq!(late.collect::<HashSet<_>>().len(), 1000);
}

#[test]
fn a_mark_is_a_number_that_is_not_zero() {
    assert_eq!(size_of::<Option<Mark>>(), 4);
    assert_eq!(Mark::from_bits(0), None);
    // The time whose hash is zero.
    assert_ne!(Mark::of_birth(time(0, 0)).to_bits(), 0);
    for mark in [time(0, 0), time(-1, 5), time(i64::MAX, 7)].map(Mark::of_birth) {
        assert_eq!(Mark::from_bits(mark.to_bits()), Some(mark));
    }
}

#[test]
fn a_walk_and_the_deletion_see_the_same_identity() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, "1").unwrap();
    let file = File::open(&path).unwrap();
    let top = File::open(directory.path()).unwrap();
    for trust in trusts() {
        let shown = Identity::of(&metadata(&path), trust).unwrap();
        let found = Found::of(file.as_fd()).unwrap();
        assert_eq!(found.compare(shown, false), Ok(()));
        assert_eq!(found.compare(shown, true), Err(Reason::Replaced));
        let shown = Identity::of(&metadata(directory.path()), trust).unwrap();
        let found = Found::of(top.as_fd()).unwrap();
        assert_eq!(found.compare(shown, true), Ok(()));
        assert!(found.is_directory && !found.is_mount_point);
    }
}

#[test]
fn without_births_a_file_that_has_changed_may_be_another_one() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, "1").unwrap();
    let shown = trusts().map(|trust| Identity::of(&metadata(&path), trust).unwrap());
    let shown_directory = Identity::of(&metadata(directory.path()), trusts()[1]).unwrap();
    fs::write(&path, "longer").unwrap();
    let found = Found::of(File::open(&path).unwrap().as_fd()).unwrap();
    let answers = shown.map(|shown| found.compare(shown, false));
    assert_eq!(answers, [Ok(()), Err(Reason::Changed)]);
    // Deleting the contents of a directory changes the directory.
    fs::remove_file(&path).unwrap();
    let found = Found::of(File::open(directory.path()).unwrap().as_fd()).unwrap();
    assert_eq!(found.compare(shown_directory, true), Ok(()));
}

#[test]
fn a_second_link_is_still_the_file_after_the_first_was_removed() {
    let directory = tempfile::tempdir().unwrap();
    let [one, two] = ["1", "2"].map(|name| directory.path().join(name));
    fs::write(&one, "1").unwrap();
    fs::hard_link(&one, &two).unwrap();
    let shown = Identity::of(&metadata(&two), trusts()[1]).unwrap();
    fs::remove_file(&one).unwrap();
    let found = Found::of(File::open(&two).unwrap().as_fd()).unwrap();
    assert_eq!(found.compare(shown, false), Ok(()));
}

#[test]
fn a_renamed_file_is_known_by_its_contents_or_its_birth() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, "1").unwrap();
    let found = || Found::of(File::open(&path).unwrap().as_fd()).unwrap();
    let before = found();
    fs::rename(&path, directory.path().join("g")).unwrap();
    fs::rename(directory.path().join("g"), &path).unwrap();
    assert!(before.is_before_rename(&found()));
    let copied_up = |mut found: Found| {
        found.known.birth = Some(time(1, 1));
        found
    };
    assert!(before.is_before_rename(&copied_up(found())));
    fs::write(&path, "longer").unwrap();
    assert!(before.is_before_rename(&found()), "a log that grows");
    assert!(!before.is_before_rename(&copied_up(found())));
}

#[test]
fn what_was_not_asked_for_gives_no_mark_and_no_deletion() {
    assert_eq!(Mark::of(&Metadata::default(), trusts()[0]), None);
    assert_eq!(Identity::of(&Metadata::default(), trusts()[0]), None);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, "1").unwrap();
    let found = Found::of(File::open(&path).unwrap().as_fd()).unwrap();
    let shown = Identity {
        device: found.device,
        inode: found.inode,
        mark: None,
    };
    assert_eq!(found.compare(shown, false), Err(Reason::Changed));
    let mark = Mark::of_birth(time(1, 1));
    assert_eq!(Known::default().has_mark(mark), None);
}

#[test]
fn times_in_whole_seconds_must_be_old_enough() {
    let known = |secs, nanos| Known {
        ctime: Some(time(secs, nanos)),
        ..Known::default()
    };
    assert!(known(100, 0).may_hide_change(102));
    assert!(known(200, 0).may_hide_change(102), "in the future");
    assert!(!known(100, 0).may_hide_change(103));
    assert!(!known(100, 1).may_hide_change(100), "nanoseconds");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("f");
    fs::write(&path, "1").unwrap();
    let mut found = metadata(&path);
    let ctime = found.ctime().unwrap();
    assert!(Mark::of(&found, trusts()[1]).is_some() || ctime.nanos == 0);
    found.set_ctime(time(ctime.secs, 0));
    assert_eq!(Mark::of(&found, trusts()[1]), None);
}
