//! Messages about usage, in GNU du's words.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::args;
use crate::console;

/// Writes the line that follows a message about wrong usage.
pub(crate) fn point_to_help() {
    let called = std::env::args_os().next().unwrap_or_default();
    let name = match called.as_bytes().rsplit(|byte| *byte == b'/').next() {
        Some(b"du") => "du",
        _ => "ringwalk du",
    };
    console::note(format_args!("Try '{name} --help' for more information."));
}

/// Reports an error of the command line parser in GNU du's words.
pub fn usage_error(error: &clap::Error) {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    console::set_program("du");
    console::error(describe(error, &arguments));
    point_to_help();
}

/// Returns the option with that long name and value as the user spelled it: `-B`, or
/// `--block-size` in full.
pub(crate) fn spelling(long: &str, value: &OsStr) -> String {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    spelled(long, value, &arguments)
}

fn spelled(long: &str, value: &OsStr, arguments: &[OsString]) -> String {
    let names_it = |text: &[u8]| text.len() > 2 && format!("--{long}").as_bytes().starts_with(text);
    let joined = arguments.iter().any(|argument| {
        let argument = argument.as_bytes();
        let equals = argument.iter().position(|byte| *byte == b'=');
        equals
            .is_some_and(|at| names_it(&argument[..at]) && argument[at + 1..] == *value.as_bytes())
    });
    let separate = arguments
        .windows(2)
        .any(|pair| names_it(pair[0].as_bytes()) && pair[1] == value);
    match args::letter_of(long) {
        Some(letter) if !joined && !separate => format!("-{letter}"),
        _ => format!("--{long}"),
    }
}

fn describe(error: &clap::Error, arguments: &[OsString]) -> String {
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(text)) => text.clone(),
        Some(ContextValue::Strings(texts)) => texts.join(" "),
        _ => String::new(),
    };
    let argument = context(ContextKind::InvalidArg);
    match error.kind() {
        ErrorKind::UnknownArgument => unknown(&argument, arguments),
        ErrorKind::TooManyValues => {
            let name = long_name(&argument);
            format!("option '--{name}' doesn't allow an argument")
        }
        ErrorKind::InvalidValue | ErrorKind::WrongNumberOfValues | ErrorKind::TooFewValues
            if context(ContextKind::InvalidValue).is_empty() =>
        {
            lacking(long_name(&argument), arguments)
        }
        // The first line of any other message names the error.
        _ => {
            let text = error.to_string();
            let line = text.lines().next().unwrap_or_default();
            line.strip_prefix("error: ").unwrap_or(line).to_owned()
        }
    }
}

/// Returns the long name of an option from the text that the parser shows (`--max-depth <N>`).
fn long_name(shown: &str) -> &str {
    let name = shown.rsplit("--").next().unwrap_or(shown);
    name.split([' ', '=', '[', '<']).next().unwrap_or(name)
}

fn unknown(argument: &str, arguments: &[OsString]) -> String {
    let Some(long) = argument.strip_prefix("--") else {
        let letter = argument.trim_start_matches('-');
        return format!("invalid option -- '{letter}'");
    };
    let long = long.split('=').next().unwrap_or(long);
    // GNU shows the value, which the parser may leave out.
    let with_value = format!("--{long}=");
    let given = arguments
        .iter()
        .find(|given| given.as_bytes().starts_with(with_value.as_bytes()))
        .map_or_else(
            || format!("--{long}"),
            |given| given.to_string_lossy().into_owned(),
        );
    let possible: Vec<String> = args::long_names()
        .filter(|name| name.starts_with(long))
        .map(|name| format!("'--{name}'"))
        .collect();
    if possible.len() > 1 {
        let possible = possible.join(" ");
        return format!("option '{given}' is ambiguous; possibilities: {possible}");
    }
    format!("unrecognized option '{given}'")
}

/// Returns the message about an option at the end of the command line without its value.
fn lacking(long: &str, arguments: &[OsString]) -> String {
    let last = arguments.last().map_or(&b""[..], |last| last.as_bytes());
    match args::letter_of(long) {
        Some(letter) if !last.starts_with(b"--") => {
            format!("option requires an argument -- '{letter}'")
        }
        _ => format!("option '--{long}' requires an argument"),
    }
}

#[cfg(test)]
mod tests {
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
}
