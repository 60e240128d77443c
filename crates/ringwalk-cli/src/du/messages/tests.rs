use super::*;
use clap::{Args as _, Command};

fn said(args: &[&str]) -> String {
    let command = super::args::DuArgs::augment_args(Command::new("du"));
    let arguments = [&["du"], args].concat();
    let error = command.try_get_matches_from(&arguments).unwrap_err();
    let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    describe(&error, &arguments)
}

#[test]
fn usage() {
    assert_eq!(said(&["-z"]), "invalid option -- 'z'");
    assert_eq!(said(&["-az"]), "invalid option -- 'z'");
    assert_eq!(said(&["--foo"]), "unrecognized option '--foo'");
    assert_eq!(said(&["--foo=1"]), "unrecognized option '--foo=1'");
    assert_eq!(
        said(&["--ti"]),
        "option '--ti' is ambiguous; possibilities: '--time' '--time-style'"
    );
    assert_eq!(
        said(&["--time-style"]),
        "option '--time-style' requires an argument"
    );
    assert_eq!(said(&["-d"]), "option requires an argument -- 'd'");
    assert_eq!(
        said(&["--max-depth"]),
        "option '--max-depth' requires an argument"
    );
    assert_eq!(
        said(&["--all=1"]),
        "option '--all' doesn't allow an argument"
    );
}

#[test]
fn spellings() {
    let with = |arguments: &[&str]| {
        let arguments: Vec<OsString> = arguments.iter().map(OsString::from).collect();
        spelled("block-size", OsStr::new("x"), &arguments)
    };
    assert_eq!(with(&["du", "-B", "x"]), "-B");
    assert_eq!(with(&["du", "-aBx"]), "-B");
    assert_eq!(with(&["du", "--block-size=x"]), "--block-size");
    assert_eq!(with(&["du", "--bl", "x"]), "--block-size");
}
