use super::*;
use rustix::fs::{Mode, OFlags, open};
use std::fs;
use std::path::Path;
use std::thread;

struct Silent;

impl Console for Silent {
    fn flush(&mut self) {}
}

/// A command that appends the number of its arguments, and then each, to a file.
const APPEND: &str = r#"{ echo "$#"; printf '%s\n' "$@"; } >> "$0""#;

fn template(log: &Path) -> CommandTemplate {
    let words = ["sh", "-c", APPEND].into_iter().map(Into::into);
    CommandTemplate {
        words: words.chain([log.into()]).collect(),
        in_directory: false,
        many: true,
        ask: false,
    }
}

/// What the commands were given, one list for each.
fn commands(log: &Path) -> Vec<Vec<String>> {
    let text = fs::read_to_string(log).unwrap_or_default();
    let mut lines = text.lines();
    let mut commands = Vec::new();
    while let Some(count) = lines.next() {
        let count = count.parse().unwrap();
        commands.push(lines.by_ref().take(count).map(Into::into).collect());
    }
    commands
}

/// Room for so many files with names of two bytes.
fn room(template: &CommandTemplate, files: usize) -> Limit {
    let words: usize = template.words.iter().map(|word| word.len() + 9).sum();
    Limit {
        all: words + files * 11,
        one: 1000,
    }
}

const GOOD: Ran = Ran {
    succeeded: true,
    messages: Vec::new(),
    find_fails: false,
    ends: false,
};

#[test]
fn a_command_runs_when_the_next_file_does_not_fit() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let template = template(&log);
    let collector = Collector::with_limit(&template, room(&template, 2));
    let push = |name: &str| collector.push(name.as_bytes(), &mut Silent);
    assert_eq!((push("aa"), push("bb")), (None, None));
    assert_eq!(commands(&log).len(), 0);
    assert_eq!(push("cc"), Some(GOOD));
    assert_eq!(commands(&log), [["aa", "bb"]]);
    assert_eq!(collector.finish(&mut Silent), Some(GOOD));
    assert_eq!(commands(&log), [vec!["aa", "bb"], vec!["cc"]]);
    assert_eq!(collector.finish(&mut Silent), None, "nothing is left");
}

#[test]
fn arguments_that_do_not_fit_are_reported_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let template = template(&log);
    let collector = Collector::with_limit(&template, room(&template, 2));
    assert_eq!(collector.push(b"aa", &mut Silent), None);
    let too_long = [b'x'; 14];
    let ran = collector.push(&too_long, &mut Silent).unwrap();
    assert!(ran.succeeded && ran.find_fails && !ran.ends);
    assert!(ran.messages[0].contains("xxxxxxxxxxxxxx"));
    assert_eq!(collector.push(b"bb", &mut Silent), None);
    assert_eq!(collector.finish(&mut Silent), Some(GOOD));
    assert_eq!(commands(&log), [["aa", "bb"]]);
}

#[test]
fn a_limit_that_is_wrong_is_found_out() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let template = template(&log);
    let all = 64 << 20;
    let collector = Collector::with_limit(&template, Limit { all, one: all });
    let names: Vec<String> = (10..80)
        .map(|number| number.to_string().repeat(50_000))
        .collect();
    for name in &names {
        assert_eq!(collector.push(name.as_bytes(), &mut Silent), None);
    }
    // Longer than any one argument may be.
    assert_eq!(collector.push(&vec![b'y'; 200_000], &mut Silent), None);
    let ran = collector.finish(&mut Silent).unwrap();
    assert!(ran.find_fails && ran.messages.len() == 1);
    assert!(ran.messages[0].contains("yyyyyyyyyy"));
    let found = commands(&log);
    assert!(found.len() > 1, "7 MB do not fit into one command");
    assert_eq!(found.concat(), names);
}

#[test]
fn all_workers_together() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let template = template(&log);
    let collector = Collector::with_limit(&template, room(&template, 40));
    let names = |worker: u8| (0..26).map(move |file| [b'a' + worker, b'a' + file]);
    thread::scope(|scope| {
        for worker in 0..8 {
            let collector = &collector;
            scope.spawn(move || {
                for name in names(worker) {
                    assert!(
                        collector
                            .push(&name, &mut Silent)
                            .is_none_or(|ran| ran == GOOD)
                    );
                }
            });
        }
    });
    assert_eq!(collector.finish(&mut Silent), Some(GOOD));
    let found = commands(&log);
    assert_eq!(found.len(), (8 * 26_usize).div_ceil(40));
    let found = found.concat();
    for worker in 0..8 {
        let expected: Vec<_> = names(worker).map(|name| name.to_vec()).collect();
        let first = [b'a' + worker];
        let own: Vec<_> = found
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .filter(|name| name.starts_with(&first))
            .collect();
        assert_eq!(own, expected, "each worker's files stay in order");
    }
    assert_eq!(found.len(), 8 * 26);
}

#[test]
fn directories_have_commands_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let log = dir.path().join("log");
    let mut template = template(&log);
    template.in_directory = true;
    template.words[2] = format!(r#"set "$(basename "$PWD")" "$@"; {APPEND}"#).into();
    let collector = Collector::new(&template);
    let mut batch = collector.batch();
    for name in ["one", "two"] {
        let path = dir.path().join(name);
        fs::create_dir(&path).unwrap();
        let opened = open(&path, OFlags::PATH, Mode::empty()).unwrap();
        for file in [b"x", b"y"] {
            let ran = collector.add(&mut batch, opened.as_fd(), file, &mut Silent);
            assert_eq!(ran, None);
        }
        let ran = collector.flush(&mut batch, opened.as_fd(), &mut Silent);
        assert_eq!(ran, Some(GOOD));
        let ran = collector.flush(&mut batch, opened.as_fd(), &mut Silent);
        assert_eq!(ran, None);
    }
    let start = dir.path().join("one/");
    let start = start.as_os_str().as_bytes();
    assert_eq!(collector.run_at_start(start, &mut Silent), GOOD);
    let parent = dir.path().file_name().unwrap().to_str().unwrap();
    assert_eq!(
        commands(&log),
        [
            vec!["one", "./x", "./y"],
            vec!["two", "./x", "./y"],
            vec![parent, "./one/"]
        ]
    );
}
