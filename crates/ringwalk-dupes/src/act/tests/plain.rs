//! Each action does what it says.

use super::support::{CONTENTS, Place, contents};
use crate::act::{Action, File, Group, Reason, Roots, is_temporary_name, plan};
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};

const CHANGING: [Action; 3] = [Action::Delete, Action::Hardlink, Action::Trash];

fn blocks(place: &Place, name: &str) -> u64 {
    place.at(name).metadata().unwrap().blocks() * 512
}

#[test]
fn delete_removes_the_others() {
    let place = Place::with(&["keep", "one", "deep/below/two"]);
    let group = place.group("keep", &["one", "deep/below/two"]);
    let freed = blocks(&place, "one") + blocks(&place, "deep/below/two");
    let before = super::support::version(&place.at("keep"));
    let planned = plan(
        &place.roots(),
        std::slice::from_ref(&group),
        Action::Delete,
        |_, _| {},
    );
    assert_eq!((planned.files, planned.names, planned.bytes), (2, 2, freed));
    let results = place.act(&group, Action::Delete);
    assert_eq!((results.outcome.done, results.outcome.freed), (2, freed));
    assert!(!place.at("one").exists() && !place.at("deep/below/two").exists());
    assert_eq!(place.read("keep"), contents());
    assert_eq!(super::support::version(&place.at("keep")), before);
    let log = place.log_text();
    assert_eq!(
        log.matches(r#""event":"begin","action":"delete""#).count(),
        2
    );
    assert_eq!(log.matches(r#""event":"deleted""#).count(), 2);
    let keep = format!(r#""same_as":"{}""#, place.at("keep").display());
    assert_eq!(log.matches(&keep).count(), 4, "{log}");
    place.check_no_leftovers();
}

#[test]
fn hardlink_makes_names_of_one_file() {
    let place = Place::with(&["keep", "one", "deep/two"]);
    let group = place.group("keep", &["one", "deep/two"]);
    let freed = blocks(&place, "one") + blocks(&place, "deep/two");
    let results = place.act(&group, Action::Hardlink);
    assert_eq!(results.reasons(), []);
    assert_eq!((results.outcome.done, results.outcome.freed), (2, freed));
    let inode = |name: &str| place.at(name).metadata().unwrap().ino();
    assert_eq!(inode("one"), inode("keep"));
    assert_eq!(inode("deep/two"), inode("keep"));
    assert_eq!(place.at("keep").metadata().unwrap().nlink(), 3);
    assert_eq!(place.read("deep/two"), contents());
    place.check_no_leftovers();
}

#[test]
fn trash_moves_the_others() {
    let place = Place::with(&["keep", "one"]);
    let group = place.group("keep", &["one"]);
    let results = place.act(&group, Action::Trash);
    assert_eq!(results.reasons(), []);
    assert_eq!((results.outcome.done, results.outcome.freed), (1, 0));
    assert_eq!(
        fs::read(place.trash().join("files/one")).unwrap(),
        contents()
    );
    assert!(place.trash().join("info/one.trashinfo").exists());
    assert!(!place.at("one").exists() && place.at("keep").exists());
}

#[test]
fn a_file_with_names_elsewhere_frees_nothing() {
    let place = Place::with(&["keep", "one"]);
    fs::hard_link(place.at("one"), place.at("second")).unwrap();
    fs::hard_link(place.at("one"), place.outside("third")).unwrap();
    let group = Group {
        keep: place.file(&["keep"]),
        others: vec![place.file(&["one", "second"])],
    };
    for action in CHANGING {
        let planned = plan(
            &place.roots(),
            std::slice::from_ref(&group),
            action,
            |_, _| {},
        );
        assert_eq!((planned.files, planned.names, planned.bytes), (1, 2, 0));
    }
    let results = place.act(&group, Action::Delete);
    assert_eq!(results.reasons(), []);
    assert_eq!((results.outcome.done, results.outcome.freed), (2, 0));
    assert!(!place.at("one").exists() && !place.at("second").exists());
    assert_eq!(fs::read(place.outside("third")).unwrap(), contents());
}

#[test]
fn all_names_of_a_file_free_it_once() {
    for action in [Action::Delete, Action::Hardlink] {
        let place = Place::with(&["keep", "one"]);
        fs::hard_link(place.at("one"), place.at("second")).unwrap();
        let freed = blocks(&place, "one");
        let group = Group {
            keep: place.file(&["keep"]),
            others: vec![place.file(&["one", "second"])],
        };
        let results = place.act(&group, action);
        assert_eq!(results.reasons(), []);
        let each: Vec<u64> = results.done.iter().map(|(_, freed)| *freed).collect();
        assert_eq!(each, [0, freed], "{action:?}");
    }
}

#[test]
fn a_hard_link_to_the_file_to_keep_stays() {
    for action in CHANGING {
        let place = Place::with(&["keep"]);
        fs::hard_link(place.at("keep"), place.at("one")).unwrap();
        let group = place.group("keep", &["one"]);
        assert_eq!(place.act(&group, action).reasons(), [Reason::Same]);
        assert_eq!(place.at("keep").metadata().unwrap().nlink(), 2);
    }
}

#[test]
fn a_hard_link_changes_no_permissions_owner_or_attributes() {
    let place = Place::with(&["keep", "one", "two", "three"]);
    fs::set_permissions(place.at("one"), fs::Permissions::from_mode(0o600)).unwrap();
    let flags = rustix::fs::XattrFlags::empty();
    let has_attributes =
        rustix::fs::setxattr(place.at("two"), "user.colour", b"red", flags).is_ok();
    let is_root = rustix::process::geteuid().is_root();
    if is_root {
        std::os::unix::fs::chown(place.at("three"), Some(65534), None).unwrap();
    }
    let group = place.group("keep", &["one", "two", "three"]);
    let results = place.act(&group, Action::Hardlink);
    let mut expected = vec![Reason::OtherPermissions];
    expected.extend(has_attributes.then_some(Reason::OtherAttributes));
    expected.extend(is_root.then_some(Reason::OtherOwner));
    assert_eq!(results.reasons(), expected);
    place.check_no_leftovers();
}

#[test]
fn a_hard_link_does_not_reach_another_file_system() {
    let Ok(elsewhere) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let place = Place::with(&["keep"]);
    fs::write(elsewhere.path().join("one"), contents()).unwrap();
    let other = Place::at_root(elsewhere.path());
    if super::support::version(&place.at("keep")).dev
        == super::support::version(&other.at("one")).dev
    {
        return;
    }
    let mut file = other.file(&["one"]);
    file.name.root = 1;
    let group = Group {
        keep: place.file(&["keep"]),
        others: vec![file],
    };
    let roots = Roots::open([&place.root, &other.root]);
    let mut results = super::support::Results::default();
    let groups = std::slice::from_ref(&group);
    let settings = place.settings(Action::Hardlink);
    crate::act::act(&roots, groups, &settings, &place.log(), &mut results).unwrap();
    assert_eq!(results.reasons(), [Reason::OtherFileSystem]);
    // Deletion does.
    let settings = place.settings(Action::Delete);
    crate::act::act(&roots, groups, &settings, &place.log(), &mut results).unwrap();
    assert!(!other.at("one").exists());
}

#[test]
fn a_root_may_be_a_file() {
    let place = Place::with(&["keep", "one"]);
    let roots = Roots::open([place.at("keep"), place.at("one")]);
    let file = |name: &str, root| {
        let mut file = place.file(&[name]);
        file.name = crate::act::Name {
            root,
            path: Vec::new(),
        };
        file
    };
    let group = Group {
        keep: file("keep", 0),
        others: vec![file("one", 1)],
    };
    let mut results = super::support::Results::default();
    let settings = place.settings(Action::Delete);
    crate::act::act(&roots, &[group], &settings, &place.log(), &mut results).unwrap();
    assert_eq!(results.reasons(), []);
    assert!(!place.at("one").exists() && place.at("keep").exists());
}

#[test]
fn paths_do_not_leave_the_root() {
    let place = Place::with(&["keep", "one", "deep/x"]);
    fs::write(place.outside("one"), contents()).unwrap();
    symlink(place.outside(""), place.at("link")).unwrap();
    let outside = File {
        version: super::support::version(&place.outside("one")),
        ..place.file(&["one"])
    };
    let mut group = place.group("keep", &[]);
    for path in [
        "../outside/one",
        "deep/../../outside/one",
        "link/one",
        "/etc",
        "a//b",
    ] {
        let mut file = outside.clone();
        file.name.path = path.as_bytes().to_vec();
        group.others.push(file);
    }
    let reasons = place.act(&group, Action::Delete).reasons();
    let expected = [
        Reason::Name,
        Reason::Name,
        Reason::PathChanged,
        Reason::Name,
        Reason::PathChanged,
    ];
    assert_eq!(reasons, expected);
    assert_eq!(fs::read(place.outside("one")).unwrap(), contents());
}

#[test]
fn references_and_snapshots_are_not_changed() {
    let place = Place::with(&["a", "b", "c", "d"]);
    let copy = |name: &str, is_reference, snapshot| crate::Copy {
        names: vec![crate::Name::new(
            place.root.as_os_str().as_encoded_bytes(),
            name.as_bytes(),
        )],
        links: Some(1),
        version: super::support::version(&place.at(name)),
        shares_with: None,
        is_reference,
        is_trash: false,
        snapshot,
    };
    let mut found = crate::Group {
        size: CONTENTS as u64,
        hash: None,
        copies: vec![
            copy("a", true, Some(0)),
            copy("b", true, None),
            copy("c", true, None),
            copy("d", false, None),
        ],
        freeable: 0,
    };
    let roots = place.roots();
    assert_eq!(
        Group::of(&found, &roots, Action::Delete),
        Some(place.group("b", &["d"]))
    );
    // The last live copy.
    found.copies.drain(1..3);
    assert_eq!(Group::of(&found, &roots, Action::Delete), None);
}

#[test]
fn the_observer_ends_the_work() {
    struct Once(u32);
    impl crate::act::Observer for Once {
        fn done(&mut self, _: crate::act::Done, _: u64) {}
        fn kept(&mut self, _: crate::act::Done, _: &Reason) {}
        fn cancelled(&mut self) -> bool {
            self.0 += 1;
            self.0 > 1
        }
    }
    let place = Place::with(&["keep", "one", "two"]);
    let group = place.group("keep", &["one", "two"]);
    let settings = place.settings(Action::Delete);
    let groups = std::slice::from_ref(&group);
    let log = place.log();
    let outcome = crate::act::act(&place.roots(), groups, &settings, &log, &mut Once(0));
    let outcome = outcome.unwrap();
    assert!(outcome.is_cancelled && outcome.done == 1);
    assert!(!place.at("one").exists() && place.at("two").exists());
}

#[test]
fn nothing_is_changed_without_a_log() {
    let place = Place::with(&["keep", "one"]);
    let group = place.group("keep", &["one"]);
    let Some(disk) = super::support::mounted(&["mkfs.ext4", "-q", "-m", "0"]) else {
        return;
    };
    let log = ringwalk_delete::Log::open(&disk.point().join("log")).unwrap();
    let fill = fs::File::create(disk.point().join("fill")).unwrap();
    let mut step = 64 << 20;
    while step >= 1024 {
        let flags = rustix::fs::FallocateFlags::KEEP_SIZE;
        let at = fill.metadata().unwrap().blocks() * 512;
        if rustix::fs::fallocate(&fill, flags, at, step).is_err() {
            step /= 2;
        }
    }
    let mut results = super::support::Results::default();
    let settings = place.settings(Action::Delete);
    crate::act::act(&place.roots(), &[group], &settings, &log, &mut results).unwrap_err();
    assert_eq!(place.read("one").len(), CONTENTS / 4 * 4);
}

#[test]
fn temporary_names_are_recognized() {
    assert!(is_temporary_name(b".ringwalk-abcdefgh"));
    for other in [
        &b".ringwalk-abc"[..],
        b".ringwalk-abcdefg.",
        b"ringwalk-abcdefgh",
        b"",
    ] {
        assert!(!is_temporary_name(other));
    }
    let name = crate::act::aside::with_new_name(|_| Ok(())).unwrap();
    assert!(is_temporary_name(&name));
}
