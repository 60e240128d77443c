//! Files, names and directories that changed since the search, or are open.

use super::support::{Place, contents};
use crate::act::{Action, Reason};
use std::fs::{self, OpenOptions};
use std::os::unix::fs::symlink;

const ALL: [Action; 4] = [
    Action::Delete,
    Action::Hardlink,
    Action::Trash,
    Action::Dedupe,
];
const CHANGING: [Action; 3] = [Action::Delete, Action::Hardlink, Action::Trash];

/// Changes something between the search and each action, and returns why the file was kept.
fn after(actions: &[Action], change: impl Fn(&Place), check: impl Fn(&Place, &[Reason])) {
    for action in actions {
        let place = Place::with(&["keep", "deep/one", "two"]);
        let group = place.group("keep", &["deep/one", "two"]);
        change(&place);
        let results = place.act(&group, *action);
        check(&place, &results.reasons());
        place.check_no_leftovers();
    }
}

#[test]
fn an_edited_file_is_kept() {
    let mut edited = contents();
    edited[500_000] ^= 1;
    after(
        &CHANGING,
        |place| place.write("deep/one", &edited),
        |place, reasons| {
            assert_eq!(reasons, [Reason::Changed]);
            assert_eq!(place.read("deep/one"), edited);
        },
    );
}

#[test]
fn an_edit_that_hides_its_time_is_seen_in_the_contents() {
    let mut edited = contents();
    edited[1_050_000] ^= 1;
    for action in CHANGING {
        let place = Place::with(&["keep", "one"]);
        // As if the search had read other contents in this version.
        place.write("one", &edited);
        let group = place.group("keep", &["one"]);
        assert_eq!(place.act(&group, action).reasons(), [Reason::Differs]);
        assert_eq!(place.read("one"), edited);
        place.check_no_leftovers();
    }
}

#[test]
fn nothing_happens_after_the_file_to_keep_was_edited() {
    after(
        &ALL,
        |place| place.write("keep", b"edited"),
        |place, reasons| {
            let keep = || Reason::Keep(Box::new(Reason::Changed));
            assert_eq!(reasons, [keep(), keep()]);
            assert_eq!(place.read("deep/one"), contents());
            assert_eq!(place.read("two"), contents());
        },
    );
}

#[test]
fn nothing_happens_after_the_file_to_keep_was_removed_or_replaced() {
    after(
        &ALL,
        |place| fs::remove_file(place.at("keep")).unwrap(),
        |place, reasons| {
            let keep = || Reason::Keep(Box::new(Reason::Missing));
            assert_eq!(reasons, [keep(), keep()]);
            assert_eq!(place.read("two"), contents());
        },
    );
    after(
        &ALL,
        |place| {
            place.write("new", &contents());
            fs::rename(place.at("new"), place.at("keep")).unwrap();
        },
        |place, reasons| {
            let keep = || Reason::Keep(Box::new(Reason::Replaced));
            assert_eq!(reasons, [keep(), keep()]);
            assert_eq!(place.read("two"), contents());
        },
    );
}

#[test]
fn links_and_directories_in_place_of_a_file_are_kept() {
    after(
        &CHANGING,
        |place| {
            fs::rename(place.at("deep/one"), place.outside("one")).unwrap();
            symlink(place.outside("one"), place.at("deep/one")).unwrap();
        },
        |place, reasons| {
            assert_eq!(reasons, [Reason::Replaced]);
            assert_eq!(fs::read(place.outside("one")).unwrap(), contents());
            assert!(place.at("deep/one").is_symlink());
        },
    );
    after(
        &CHANGING,
        |place| {
            fs::remove_file(place.at("deep/one")).unwrap();
            place.write("deep/one/file", b"");
        },
        |place, reasons| {
            assert_eq!(reasons, [Reason::Replaced]);
            assert!(place.at("deep/one/file").exists());
        },
    );
}

#[test]
fn a_directory_swapped_for_a_link_leads_nowhere() {
    after(
        &CHANGING,
        |place| {
            fs::rename(place.at("deep"), place.outside("deep")).unwrap();
            symlink(place.outside("deep"), place.at("deep")).unwrap();
        },
        |place, reasons| {
            assert_eq!(reasons, [Reason::PathChanged]);
            assert_eq!(fs::read(place.outside("deep/one")).unwrap(), contents());
        },
    );
    after(
        &CHANGING,
        |place| {
            fs::rename(place.at("deep"), place.at("moved")).unwrap();
            place.write("deep/one", &contents());
        },
        |place, reasons| {
            assert_eq!(reasons, [Reason::Replaced]);
            assert_eq!(place.read("deep/one"), contents());
            assert_eq!(place.read("moved/one"), contents());
        },
    );
}

#[test]
fn a_file_that_is_open_for_writing_is_kept() {
    for action in CHANGING {
        let place = Place::with(&["keep", "one", "two"]);
        let group = place.group("keep", &["one", "two"]);
        let writer = OpenOptions::new().append(true).open(place.at("one"));
        let results = place.act(&group, action);
        assert_eq!(results.reasons(), [Reason::OpenForWriting]);
        assert_eq!(results.outcome.done, 1);
        drop(writer);
        // The file to keep, too.
        let place = Place::with(&["keep", "one", "two"]);
        let group = place.group("keep", &["one", "two"]);
        let writer = OpenOptions::new().append(true).open(place.at("keep"));
        let keep = || Reason::Keep(Box::new(Reason::OpenForWriting));
        assert_eq!(place.act(&group, action).reasons(), [keep(), keep()]);
        drop(writer);
    }
}

#[test]
fn a_writer_in_another_process_is_noticed() {
    let place = Place::with(&["keep", "one"]);
    let group = place.group("keep", &["one"]);
    // The shell keeps descriptor 3 open for writing.
    let mut shell = std::process::Command::new("sh")
        .args(["-c", r#"exec 3>>"$1"; echo; read _"#, "sh"])
        .arg(place.at("one"))
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0];
    std::io::Read::read_exact(shell.stdout.as_mut().unwrap(), &mut line).unwrap();
    let reasons = place.act(&group, Action::Delete).reasons();
    assert_eq!(reasons, [Reason::OpenForWriting]);
    drop(shell.stdin.take());
    shell.wait().unwrap();
    assert_eq!(place.act(&group, Action::Delete).reasons(), []);
}
