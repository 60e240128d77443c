//! Formats and `-ls` against GNU find on real files: each directive with flags and widths, each
//! type of file, in several time zones; colours against bfs.
//!
//! The zone and such variables are read once in a process. So for each of them this program runs
//! one of its own tests again; that test does nothing without the variable below.

#[path = "format_support/mod.rs"]
mod support;

use ringwalk_find::format::{Colors, Format, directives, write_ls};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Command;
use support::{File, Tree, gnu_find};

/// Set for the run of a test in an environment of its own.
const AGAIN: &str = "RINGWALK_FORMAT_TEST_TREE";

/// Flags, widths and precisions.
const SHAPES: &[&str] = &[
    "",
    "5",
    "-5",
    "05",
    "-05",
    "+",
    " ",
    "#",
    "0",
    "-",
    "20",
    "-20",
    "020",
    ".",
    ".0",
    ".1",
    ".2",
    ".3",
    ".12",
    "8.3",
    "-8.3",
    "08.3",
    "+8",
    "+08",
    " 8",
    "#8",
    "#08",
    "+-8.2",
    "-+ #020.4",
    "#.5",
    "+.3",
    "60",
    "60.10",
    "5.",
];

/// Directives of two letters, and the percent sign. `%B` is left out: GNU find has no answers for
/// it.
const OTHERS: &[&str] = &["A@", "C+", "TY", "T@", "TS", "Tc", "%"];

/// Returns the directives after their percent sign. `%Z` is left out: it needs a
/// label.
fn letters() -> Vec<String> {
    let of_one = directives().filter(|directive| directive.len() == 2 && directive != "%Z");
    let others = OTHERS.iter().map(|letters| (*letters).to_owned());
    of_one
        .map(|directive| directive[1..].to_owned())
        .chain(others)
        .collect()
}

/// Returns a text with all directives, for each shape.
fn formats() -> Vec<String> {
    let mut formats: Vec<String> = SHAPES
        .iter()
        .map(|shape| {
            let all = letters()
                .into_iter()
                .map(|letter| format!("%{shape}{letter}|"));
            all.collect::<String>() + "\\n"
        })
        .collect();
    let letters = (b'!'..=b'~').map(|letter| format!("%T{}|", char::from(letter)));
    formats.push(letters.collect::<String>() + "\\n");
    formats.push("\\a\\b\\f\\n\\r\\t\\v\\\\\\0\\101\\q%q%-5.-3p\\018%%%5%\\0".to_owned());
    formats.push("%p\\c%s".to_owned());
    formats
}

fn ours(format: &str, file: &File) -> Vec<u8> {
    let format = Format::parse(format.as_bytes(), &mut Vec::new()).unwrap();
    let mut out = Vec::new();
    format.write(file, &mut out);
    out
}

#[track_caller]
fn assert_same(ours: &[u8], gnu: &[u8], what: &str) {
    let shown = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert_eq!(shown(ours), shown(gnu), "{what}");
}

#[test]
fn as_gnu_find_in_this_environment() {
    let Some(place) = std::env::var_os(AGAIN) else {
        return;
    };
    let place = Path::new(&place);
    let mut names: Vec<_> = std::fs::read_dir(place)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    names.sort();
    let formats = formats();
    for path in &names {
        let file = File::new(path);
        for format in &formats {
            let gnu = gnu_find(path, &["-maxdepth", "0", "-printf", format]);
            assert_same(&ours(format, &file), &gnu, format);
        }
    }
    // One run for all, because of the widths that grow: devices first, then wide values.
    let mut arguments: Vec<_> = names.iter().map(|path| path.as_os_str()).collect();
    arguments.extend(["-maxdepth", "0", "-ls"].map(std::ffi::OsStr::new));
    let gnu = Command::new("find")
        .args(arguments)
        .output()
        .unwrap()
        .stdout;
    let mut ours = Vec::new();
    for path in &names {
        write_ls(&File::new(path), &mut ours);
    }
    assert_same(&ours, &gnu, "-ls");
}

/// Runs one of the tests here in an environment, for a tree.
fn again(test: &str, environment: &[(&str, &str)]) {
    let Some(tree) = Tree::new() else { return };
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env_remove("POSIXLY_CORRECT")
        .env_remove("LS_COLORS")
        .env(AGAIN, tree.path())
        .env("LC_ALL", "C")
        .envs(environment.iter().copied())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{environment:?}: {said}");
    assert!(said.contains("1 passed"), "{said}");
}

const AS_GNU_FIND: &str = "as_gnu_find_in_this_environment";

#[test]
fn utc() {
    again(AS_GNU_FIND, &[("TZ", "UTC0")]);
}

#[test]
fn summer_time() {
    again(
        AS_GNU_FIND,
        &[("TZ", "EST5EDT,M3.2.0,M11.1.0"), ("LC_ALL", "C.UTF-8")],
    );
}

#[test]
fn half_hours_and_posix() {
    again(
        AS_GNU_FIND,
        &[("TZ", "<+0545>-5:45"), ("POSIXLY_CORRECT", "1")],
    );
}

#[test]
fn no_zone() {
    again(AS_GNU_FIND, &[("TZ", "")]);
}

/// Returns GNU find's message about a format, without its name, its status, and its output.
fn gnu_opinion(format: &[u8]) -> (String, bool, Vec<u8>) {
    let output = Command::new("find")
        .args(["/dev/null", "-maxdepth", "0", "-printf"])
        .arg(std::ffi::OsStr::from_bytes(format))
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr).replace("find: ", "");
    (text, output.status.success(), output.stdout)
}

#[test]
fn every_byte_as_a_directive_and_as_an_escape() {
    if Tree::new().is_none() {
        return;
    }
    let null = File::new(Path::new("/dev/null"));
    for before in ["%", "%5", "%-", "%.", "\\", "%5.2", "%Tx%0"] {
        for byte in 1..=u8::MAX {
            // These are extensions, or need features that not every system has.
            if matches!(byte, b'B' | b'Z') && before != "\\" {
                continue;
            }
            let format = [b"<", before.as_bytes(), &[byte, b'>']].concat();
            let (expected, fine, written) = gnu_opinion(&format);
            let mut lines = Vec::new();
            let parsed = Format::parse(&format, &mut lines);
            assert_eq!(parsed.is_ok(), fine, "{format:?}");
            lines.extend(parsed.as_ref().err().cloned());
            for line in &mut lines {
                line.push('\n');
            }
            assert_eq!(lines.concat(), expected, "{format:?}");
            if let Ok(parsed) = parsed {
                let mut out = Vec::new();
                parsed.write(&null, &mut out);
                assert_eq!(out, written, "{format:?}");
            }
        }
    }
}

#[test]
fn as_bfs_in_this_environment() {
    let Some(place) = std::env::var_os(AGAIN) else {
        return;
    };
    let colors = Colors::from_environment();
    for entry in std::fs::read_dir(place).unwrap() {
        let path = entry.unwrap().path();
        let bytes = path.as_os_str().as_bytes();
        // Later ones quote text that is not plain.
        if !bytes.iter().all(u8::is_ascii_graphic) || bytes.contains(&b'"') {
            continue;
        }
        let mut bfs = Command::new("bfs");
        bfs.arg(&path).args(["-maxdepth", "0", "-color"]);
        let output = bfs.output().unwrap();
        let mut ours = Vec::new();
        colors.write_path(&File::new(&path), &mut ours);
        ours.push(b'\n');
        assert_same(&ours, &output.stdout, &path.to_string_lossy());
    }
}

#[test]
fn colours() {
    if Command::new("bfs").arg("--version").output().is_err() {
        println!("skipped: no `bfs` to compare with");
        return;
    }
    for ls_colors in [
        "",
        "no=01:fi=02:di=03:ln=04:pi=5:so=6:bd=7:cd=8:ex=9",
        "di=01;34:ln=target:*.c=31:or=05:mi=06:ex=33",
        "ln=target:*to-file=3:no=5:mi=00",
        "rs=9:lc=<:rc=>:di=1",
        "rs=9:lc=<:rc=>:ec=!:di=1:fi=2",
        "su=0:sg=00:st=0:tw=:ow=0:ex=000:mh=4",
        "su=1:sg=2:ex=3:mh=5:st=6:tw=7:ow=8",
        "*E=1:*one=2:*e=3:*=4",
        "di=\\e[1m:fi=\\0333^[x\\x41_\\?:so=\\_^?",
        "di=1:zz=4:fi=5:bogus:ln=7",
        "or=5:ln=1",
        "bd=0:no=3:di=0;0",
    ] {
        again("as_bfs_in_this_environment", &[("LS_COLORS", ls_colors)]);
    }
}
