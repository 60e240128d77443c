//! Compares messages and statuses for wrong or odd command lines with GNU find.
//!
//! Each line of `command_lines.txt` is a command line, with words separated by blanks, some within
//! single quotes. A process has one locale, so the parser answers in a separate process for each:
//! this same program, selected by a variable of its environment.
//!
//! The installed GNU find may be of findutils 4.9 or 4.11. `pinned_answers.txt` has the answers of
//! 4.11 that differ from 4.9: a line with the status and the command line, then the lines on
//! standard error, each after a tab.

use ringwalk_find::parse::{Refusal, parse};
use std::collections::HashMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

const LINES: &str = include_str!("command_lines.txt");

const PINNED: &str = include_str!("pinned_answers.txt");

/// Set for the process that answers: the file that it writes to.
const ANSWERS: &str = "RINGWALK_TEST_ANSWERS";

/// The command lines with different answers, and the reasons.
const DIFFERENT: &[(&str, &str)] = &[
    (
        "-D tree,foo t -name a",
        "GNU find names the first of the list as unrecognised, and traces the tree",
    ),
    (
        "-D help,foo",
        "GNU find names the first of the list as unrecognised",
    ),
    (
        "-D foo,help",
        "the list of what there is comes without a warning about what there is not",
    ),
    (
        "t -newerBB t",
        "GNU find as Debian builds it knows no time of birth",
    ),
    ("t -newerBm t -name a", "as above"),
    ("-HL t -name a", "GNU find takes no options in one word"),
];

fn words(line: &str) -> Vec<OsString> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quoted = false;
    for letter in line.chars() {
        match letter {
            '\'' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            ' ' if !quoted => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    words.into_iter().map(OsString::from).collect()
}

/// The status and the text on standard error.
type Answer = (i32, String);

fn ours(line: &str) -> Answer {
    let (status, messages) = match parse(words(line)) {
        Ok(command) => (0, command.warnings),
        Err(Refusal::Wrong(messages)) => (1, messages),
        Err(Refusal::Help(_) | Refusal::Version) => (0, Vec::new()),
    };
    // GNU find does not suggest a word.
    let said = messages.iter().filter(|message| {
        !message.starts_with("did you mean") && !message.ends_with("before the starting points")
    });
    let lines: Vec<_> = said.map(|message| format!("find: {message}\n")).collect();
    (status, lines.concat())
}

fn gnu(line: &str, tree: &Path, locale: &str) -> Answer {
    let output = Command::new("find")
        .args(words(line))
        .current_dir(tree)
        .env_remove("POSIXLY_CORRECT")
        .env("LC_ALL", locale)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (output.status.code().unwrap(), said)
}

/// Returns true if the installed GNU find is 4.11, and false if it is 4.9. None for other versions.
fn is_gnu_find_pinned() -> Option<bool> {
    let version = Command::new("find").arg("--version").output();
    let version = version.map_or(String::new(), |output| {
        String::from_utf8_lossy(&output.stdout).into_owned()
    });
    if version.starts_with("find (GNU findutils) 4.11.") {
        return Some(true);
    }
    if version.starts_with("find (GNU findutils) 4.9.") {
        return Some(false);
    }
    println!("skipped: GNU find is neither 4.9 nor 4.11");
    None
}

/// Returns the answers of 4.11 that are pinned, as they are in this locale.
fn pinned(locale: &str) -> HashMap<String, Answer> {
    let mut pinned = HashMap::new();
    let mut line = "";
    for text in PINNED.lines() {
        if let Some(said) = text.strip_prefix('\t') {
            let answer: &mut Answer = pinned.get_mut(line).expect("a command line came before");
            let said = match locale {
                "C" => said.replace(['‘', '’'], "'").replace('é', r"\303\251"),
                _ => said.to_owned(),
            };
            answer.1.extend(["find: ", &said, "\n"]);
        } else {
            let (status, rest) = text.split_once(' ').expect("a status and a command line");
            line = rest;
            pinned.insert(line.to_owned(), (status.parse().unwrap(), String::new()));
        }
    }
    pinned
}

fn make_tree(tree: &Path) {
    fs::create_dir_all(tree.join("t/d")).unwrap();
    for file in ["t/a", "t/b", "c1", "c2", "c3"] {
        fs::write(tree.join(file), "").unwrap();
    }
    symlink("a", tree.join("t/l")).unwrap();
    symlink("nowhere", tree.join("broken")).unwrap();
}

/// Returns the parser's answers to all lines in this locale.
fn answers(tree: &Path, locale: &str) -> Vec<Answer> {
    let file = tree.with_extension(locale);
    let status = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "answer", "--ignored"])
        .current_dir(tree)
        .env_remove("POSIXLY_CORRECT")
        .env("LC_ALL", locale)
        .env(ANSWERS, &file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .status()
        .unwrap();
    assert!(status.success());
    let text = fs::read_to_string(file).unwrap();
    let answers = text.split_terminator('\0').map(|answer| {
        let (status, said) = answer.split_once(' ').unwrap();
        (status.parse().unwrap(), said.to_owned())
    });
    answers.collect()
}

#[test]
#[ignore = "answers for the other tests, in a process of its own"]
fn answer() {
    let file = std::env::var_os(ANSWERS).expect("started by another test");
    let answers = LINES.lines().map(|line| {
        let (status, said) = ours(line);
        format!("{status} {said}\0")
    });
    fs::write(file, answers.collect::<String>()).unwrap();
}

fn compare(locale: &str) {
    let Some(is_pinned) = is_gnu_find_pinned() else {
        return;
    };
    let pinned = pinned(locale);
    let directory = tempfile::tempdir().unwrap();
    let tree = directory.path().join("tree");
    make_tree(&tree);
    let answers = answers(&tree, locale);
    assert_eq!(answers.len(), LINES.lines().count());
    let mut wrong = Vec::new();
    for (line, ours) in LINES.lines().zip(answers) {
        let gnus = match pinned.get(line) {
            Some(answer) if !is_pinned => answer.clone(),
            answer => {
                let gnus = gnu(line, &tree, locale);
                if let Some(pinned) = answer.filter(|answer| **answer != gnus) {
                    wrong.push(format!("find {line}\n  GNU {gnus:?}\n  pinned {pinned:?}"));
                }
                gnus
            }
        };
        let differs = DIFFERENT.iter().any(|(different, _)| line == *different);
        if (ours != gnus) != differs {
            wrong.push(format!("find {line}\n  GNU  {gnus:?}\n  ours {ours:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn in_utf8() {
    compare("C.UTF-8");
}

#[test]
fn in_the_c_locale() {
    compare("C");
}

#[test]
fn lines_are_cut_into_words() {
    assert_eq!(words("a 'b c' '' d''"), ["a", "b c", "", "d"]);
}

#[test]
fn every_difference_is_looked_at() {
    let pinned = pinned("C.UTF-8");
    let different = DIFFERENT.iter().map(|(different, _)| *different);
    for different in different.chain(pinned.keys().map(String::as_str)) {
        assert!(LINES.lines().any(|line| line == different), "{different}");
    }
}
