//! Sharing blocks, on btrfs and XFS.

use super::support::{CONTENTS, Place, contents, mounted};
use crate::act::{Action, Reason, plan};
use std::fs;
use std::os::unix::fs::MetadataExt as _;

fn shares(place: &Place) {
    for name in ["keep", "one", "deep/two", "other"] {
        place.write(name, &contents());
    }
    // More than one piece of 16 MiB.
    let large = contents().repeat(20);
    place.write("large", &large);
    place.write("larger", &large);
    let group = place.group("keep", &["one", "deep/two", "other"]);
    let before = super::support::version(&place.at("one"));
    let planned = plan(
        &place.roots(),
        std::slice::from_ref(&group),
        Action::Dedupe,
        |_, _| {},
    );
    assert_eq!((planned.files, planned.unknown), (3, 0));
    assert!(planned.bytes >= 3 * CONTENTS as u64 / 4 * 4);
    let results = place.act(&group, Action::Dedupe);
    assert_eq!(results.reasons(), []);
    assert_eq!(results.outcome.freed, planned.bytes);
    assert_eq!(place.read("deep/two"), contents());
    // Names, inodes and times stay.
    let after = super::support::version(&place.at("one"));
    assert_eq!((after.ino, after.mtime), (before.ino, before.mtime));
    // Nothing is left to do.
    let group = place.group("keep", &["one", "deep/two", "other"]);
    let planned = plan(
        &place.roots(),
        std::slice::from_ref(&group),
        Action::Dedupe,
        |_, _| {},
    );
    assert_eq!((planned.files, planned.bytes), (0, 0));
    let shared = || Reason::AlreadyShared;
    let reasons = place.act(&group, Action::Dedupe).reasons();
    assert_eq!(reasons, [shared(), shared(), shared()]);
    // Deletion does not free shared blocks either.
    let planned = plan(
        &place.roots(),
        std::slice::from_ref(&group),
        Action::Delete,
        |_, _| {},
    );
    assert_eq!((planned.files, planned.bytes), (3, 0));
    let results = place.act(&place.group("keep", &["other"]), Action::Delete);
    assert_eq!((results.outcome.done, results.outcome.freed), (1, 0));
    // Large files.
    let group = place.group("large", &["larger"]);
    let results = place.act(&group, Action::Dedupe);
    assert_eq!(results.reasons(), []);
    assert!(results.outcome.freed >= large.len() as u64);
    assert_eq!(place.read("larger"), large);
}

fn differs(place: &Place) {
    let mut edited = contents();
    edited[1_050_000] ^= 1;
    place.write("first", &contents());
    place.write("edited", &edited);
    place.write("shorter", &edited[..1000]);
    place.write("empty", b"");
    fs::hard_link(place.at("first"), place.at("link")).unwrap();
    let group = place.group("first", &["edited", "shorter", "link"]);
    let reasons = place.act(&group, Action::Dedupe).reasons();
    assert_eq!(reasons, [Reason::Differs, Reason::Differs, Reason::Same]);
    assert_eq!(place.read("edited"), edited);
    place.write("nothing", b"");
    let group = place.group("empty", &["nothing"]);
    let reasons = place.act(&group, Action::Dedupe).reasons();
    assert_eq!(reasons, [Reason::AlreadyShared]);
}

#[test]
fn blocks_are_shared_on_btrfs() {
    if let Some(mounted) = mounted(&["mkfs.btrfs", "-q"]) {
        let place = Place::at_root(&mounted.point());
        shares(&place);
        differs(&place);
        mounted.remount_read_only();
        let group = place.group("keep", &["edited"]);
        for action in [Action::Delete, Action::Hardlink, Action::Dedupe] {
            let reason = place.act(&group, action).reasons().pop().unwrap();
            let is_right = matches!(reason, Reason::ReadOnly | Reason::Differs);
            assert!(is_right, "{action:?}: {reason:?}");
        }
    }
}

#[test]
fn blocks_are_shared_on_xfs() {
    if let Some(mounted) = mounted(&["mkfs.xfs", "-q", "-m", "reflink=1"]) {
        let place = Place::at_root(&mounted.point());
        shares(&place);
        differs(&place);
        place.write("a", &contents());
        place.write("b", &contents());
        let group = place.group("a", &["b"]);
        mounted.remount_read_only();
        for action in [Action::Delete, Action::Hardlink, Action::Dedupe] {
            let reasons = place.act(&group, action).reasons();
            assert_eq!(reasons, [Reason::ReadOnly], "{action:?}");
        }
    }
}

/// A file without checksums shares nothing with one that has them. Others there can share.
#[test]
fn one_file_that_cannot_share_is_not_its_file_system() {
    let Some(mounted) = mounted(&["mkfs.btrfs", "-q"]) else {
        return;
    };
    let place = Place::at_root(&mounted.point());
    place.write("keep", &contents());
    fs::File::create(place.at("plain")).unwrap();
    let changed = std::process::Command::new("chattr")
        .arg("+C")
        .arg(place.at("plain"))
        .status();
    assert!(changed.unwrap().success());
    place.write("plain", &contents());
    place.write("one", &contents());
    let group = place.group("keep", &["plain", "one"]);
    let reasons = place.act(&group, Action::Dedupe).reasons();
    assert_eq!(reasons, [Reason::CannotShare]);
}

#[test]
fn file_systems_that_share_nothing_say_so() {
    let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let place = Place::at_root(folder.path());
    place.write("keep", &contents());
    place.write("one", &contents());
    let group = place.group("keep", &["one"]);
    let planned = plan(
        &place.roots(),
        std::slice::from_ref(&group),
        Action::Dedupe,
        |_, _| {},
    );
    assert_eq!((planned.files, planned.bytes), (0, 0));
    let reasons = place.act(&group, Action::Dedupe).reasons();
    assert_eq!(reasons, [Reason::NoSharing]);
    assert_ne!(
        place.at("one").metadata().unwrap().ino(),
        place.at("keep").metadata().unwrap().ino()
    );
}
