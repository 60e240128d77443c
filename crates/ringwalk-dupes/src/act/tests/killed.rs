//! Programs that are killed at any moment lose no contents.

use super::support::Place;
use crate::act::{Action, Done, Group, Observer, Reason, act, is_temporary_name};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

const ROOT: &str = "RINGWALK_TEST_KILLED";
const ACTION: &str = "RINGWALK_TEST_ACTION";
const GROUPS: usize = 150;
const OTHERS: [&str; 2] = ["one", "two"];

fn name(group: usize, file: &str) -> String {
    format!("{group}/{file}")
}

/// Says when the first file is done.
struct Talker(bool);

impl Observer for Talker {
    fn done(&mut self, _: Done, _: u64) {
        if !std::mem::replace(&mut self.0, true) {
            println!("begin");
        }
    }

    fn kept(&mut self, what: Done, reason: &Reason) {
        panic!("{what:?}: {reason}");
    }

    fn cancelled(&mut self) -> bool {
        false
    }
}

/// The program that is killed: the test below starts this test again.
#[test]
fn the_program() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let place = Place::at_root(Path::new(&root));
    let groups: Vec<Group> = (0..GROUPS)
        .map(|n| {
            let others = OTHERS.map(|other| name(n, other));
            place.group(&name(n, "keep"), &others.each_ref().map(String::as_str))
        })
        .collect();
    let action = match std::env::var(ACTION).unwrap().as_str() {
        "delete" => Action::Delete,
        "hardlink" => Action::Hardlink,
        _ => Action::Trash,
    };
    let settings = place.settings(action);
    act(
        &place.roots(),
        &groups,
        &settings,
        &place.log(),
        &mut Talker(false),
    )
    .unwrap();
}

fn check(place: &Place, contents: impl Fn(usize) -> Vec<u8>) -> (usize, usize) {
    let (mut gone, mut leftovers) = (0, 0);
    for group in 0..GROUPS {
        let expected = contents(group);
        assert_eq!(place.read(&name(group, "keep")), expected);
        let folder = place.at(&group.to_string());
        let names: Vec<PathBuf> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        let mut here = 0;
        for path in &names {
            // Whatever name it has: nothing is there in part.
            assert_eq!(fs::read(path).unwrap(), expected, "{path:?}");
            let file = path.file_name().unwrap();
            here += usize::from(OTHERS.iter().any(|other| file == *other));
            if is_temporary_name(file.as_encoded_bytes()) {
                leftovers += 1;
            }
        }
        gone += OTHERS.len() - here;
    }
    (gone, leftovers)
}

#[test]
fn killed_programs_lose_no_contents() {
    let this = std::env::current_exe().unwrap();
    let (mut cut, mut leftovers) = (0, 0);
    for round in 0..24 {
        let place = Place::new();
        let contents = |group: usize| format!("{group} ").repeat(3000).into_bytes();
        for group in 0..GROUPS {
            for file in ["keep"].into_iter().chain(OTHERS) {
                place.write(&name(group, file), &contents(group));
            }
        }
        let action = ["delete", "hardlink", "trash"][round % 3];
        let mut child = Command::new(&this)
            .args(["--exact", "act::tests::killed::the_program", "--nocapture"])
            .env(ROOT, &place.root)
            .env(ACTION, action)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = std::io::BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.ends_with("begin\n") {
            assert_ne!(
                std::io::BufRead::read_line(&mut output, &mut line).unwrap(),
                0
            );
        }
        // The moments differ; no test depends on which they are.
        std::thread::sleep(Duration::from_micros(300 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let (gone, left) = check(&place, contents);
        cut += usize::from(action != "hardlink" && gone > 0 && gone < GROUPS * OTHERS.len());
        leftovers += left;
    }
    assert!(cut > 0);
    eprintln!("{cut} cut in the middle, {leftovers} leftovers");
}
