//! Starting a program, waiting for it, and what is said of how that went.

use super::{Console, Ran};
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::{Arguments, Ended, Spawn};
use rustix::io::Errno;
use std::fmt::Write;

/// Runs a program to its end.
///
/// # Errors
///
/// Why it could not be started.
pub(crate) fn launch(spawn: Spawn<'_>, console: &mut dyn Console) -> Result<Ended, Errno> {
    if console.traces() {
        console.trace(&starting(spawn.arguments));
    }
    let child = spawn.start()?;
    let id = child.id();
    // Only where somebody else has waited for all children is there no answer: how it went cannot be known then.
    let ended = child.wait()?;
    if let (Ended::Exited(status), true) = (ended, console.traces()) {
        console.trace(&format!(
            "DebugExec: process (PID={id}) terminated with exit status: {status}"
        ));
    }
    Ok(ended)
}

fn starting(arguments: &Arguments) -> String {
    let mut line = format!("DebugExec: launching process (argc={}):", arguments.len());
    for word in arguments.iter() {
        // Writing to a string cannot fail.
        let _ = write!(line, " {}", quote::value(word.to_bytes()));
    }
    line
}

/// What it means for one file that the command ended so, or could not be started. `path` is the file.
pub(crate) fn of_one(arguments: &Arguments, path: &[u8], how: Result<Ended, Errno>) -> Ran {
    match how {
        Err(Errno::TOOBIG) => too_long("command too long", path, false),
        _ => Ran {
            succeeded: how == Ok(Ended::Exited(0)),
            ..told(arguments, how)
        },
    }
}

/// What it means for many files. That the command fails is told by the status of the whole search.
pub(crate) fn of_many(arguments: &Arguments, how: Result<Ended, Errno>) -> Ran {
    let told = told(arguments, how);
    Ran {
        succeeded: true,
        find_fails: told.find_fails || how != Ok(Ended::Exited(0)),
        ..told
    }
}

/// GNU find ends with these words there; here the file is named and the search goes on.
pub(crate) fn too_long(what: &str, path: &[u8], succeeded: bool) -> Ran {
    Ran {
        succeeded,
        messages: vec![format!("{what}: {}", quote::value(path))],
        find_fails: true,
        ends: false,
    }
}

/// What is said of it in either case.
fn told(arguments: &Arguments, how: Result<Ended, Errno>) -> Ran {
    let mut ran = Ran::default();
    let program = || {
        let word = arguments.get(0).unwrap_or_default();
        quote::value(word.to_bytes())
    };
    match how {
        Ok(Ended::Exited(_)) => {}
        Ok(Ended::Signalled(signal)) => ran
            .messages
            .push(format!("{} terminated by signal {signal}", program())),
        // clone(2): there can be no further process. That is so for every other file too.
        Err(errno @ (Errno::AGAIN | Errno::NOMEM)) => {
            ran.messages
                .push(format!("cannot fork: {}", reason(&errno.into())));
            ran.find_fails = true;
            ran.ends = true;
        }
        Err(errno) => {
            ran.messages
                .push(format!("{}: {}", program(), reason(&errno.into())));
            ran.find_fails = true;
        }
    }
    ran
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments() -> Arguments {
        let mut arguments = Arguments::new();
        arguments.push(b"sh");
        arguments.push(b"-c");
        arguments
    }

    fn ran(succeeded: bool, message: Option<String>, find_fails: bool, ends: bool) -> Ran {
        Ran {
            succeeded,
            messages: message.into_iter().collect(),
            find_fails,
            ends,
        }
    }

    #[test]
    fn for_one_file_only_the_value_tells() {
        let one = |how| of_one(&arguments(), b"file", how);
        let sh = quote::value(b"sh");
        assert_eq!(one(Ok(Ended::Exited(0))), ran(true, None, false, false));
        assert_eq!(one(Ok(Ended::Exited(1))), ran(false, None, false, false));
        let killed = format!("{sh} terminated by signal 9");
        assert_eq!(
            one(Ok(Ended::Signalled(9))),
            ran(false, Some(killed), false, false)
        );
        let missing = format!("{sh}: No such file or directory");
        assert_eq!(
            one(Err(Errno::NOENT)),
            ran(false, Some(missing), true, false)
        );
    }

    #[test]
    fn for_many_files_the_status_tells() {
        let many = |how| of_many(&arguments(), how);
        let sh = quote::value(b"sh");
        assert_eq!(many(Ok(Ended::Exited(0))), ran(true, None, false, false));
        assert_eq!(many(Ok(Ended::Exited(77))), ran(true, None, true, false));
        let killed = format!("{sh} terminated by signal 15");
        assert_eq!(
            many(Ok(Ended::Signalled(15))),
            ran(true, Some(killed), true, false)
        );
        let denied = format!("{sh}: Permission denied");
        assert_eq!(
            many(Err(Errno::ACCESS)),
            ran(true, Some(denied), true, false)
        );
    }

    #[test]
    fn without_processes_the_search_ends() {
        let message = "cannot fork: Resource temporarily unavailable".to_owned();
        let expected = ran(false, Some(message), true, true);
        assert_eq!(of_one(&arguments(), b"file", Err(Errno::AGAIN)), expected);
        assert!(of_many(&arguments(), Err(Errno::AGAIN)).ends);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let message = format!("command too long: {}", quote::value(b"file"));
        let expected = ran(false, Some(message), true, false);
        assert_eq!(of_one(&arguments(), b"file", Err(Errno::TOOBIG)), expected);
    }

    #[test]
    fn the_trace_has_all_words() {
        let (sh, c) = (quote::value(b"sh"), quote::value(b"-c"));
        assert_eq!(
            starting(&arguments()),
            format!("DebugExec: launching process (argc=2): {sh} {c}")
        );
    }
}
