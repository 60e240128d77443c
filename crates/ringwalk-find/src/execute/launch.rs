//! Starts a program, waits for it, and describes the outcome.

use super::{Console, Ran};
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::{Arguments, Ended, Spawn};
use rustix::io::Errno;
use std::fmt::Write;

/// Runs a program to its end.
///
/// # Errors
///
/// The error of starting the program.
pub(crate) fn launch(spawn: Spawn<'_>, console: &mut dyn Console) -> Result<Ended, Errno> {
    if console.traces() {
        console.trace(&starting(spawn.arguments));
    }
    let child = spawn.start()?;
    let id = child.id();
    // The status is missing only if another part of this process has waited for all children. Then
    // nothing can be known about the outcome.
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

/// Returns the outcome for one file. The command ended as `how` says, or could not be started.
/// `path` is the file.
pub(crate) fn of_one(arguments: &Arguments, path: &[u8], how: Result<Ended, Errno>) -> Ran {
    match how {
        Err(Errno::TOOBIG) => too_long("command too long", path, false),
        _ => Ran {
            succeeded: how == Ok(Ended::Exited(0)),
            ..outcome(arguments, how)
        },
    }
}

/// Returns the outcome for many files. The status of the whole search reports a failed command.
pub(crate) fn of_many(arguments: &Arguments, how: Result<Ended, Errno>) -> Ran {
    let outcome = outcome(arguments, how);
    Ran {
        succeeded: true,
        find_fails: outcome.find_fails || how != Ok(Ended::Exited(0)),
        ..outcome
    }
}

/// GNU find ends with these words there. Here the message names the file, and the search goes on.
pub(crate) fn too_long(what: &str, path: &[u8], succeeded: bool) -> Ran {
    Ran {
        succeeded,
        messages: vec![format!("{what}: {}", quote::value(path))],
        find_fails: true,
        ends: false,
    }
}

/// Returns the outcome that is the same for one file and for many.
fn outcome(arguments: &Arguments, how: Result<Ended, Errno>) -> Ran {
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
        // clone(2): the process limit is reached. The same holds for every other file.
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
    fn for_one_file_only_the_value_counts() {
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
    fn for_many_files_the_status_counts() {
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
