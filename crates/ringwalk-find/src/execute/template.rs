//! A command as it was given, and its run for one file.

use super::launch::{launch, of_one};
use super::place::{Place, argument};
use super::{Console, Ran};
use memchr::memmem;
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::{Arguments, Spawn};
use rustix::io::Errno;
use std::borrow::Cow;
use std::ffi::OsString;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;

/// A command as it was given, without the name of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandTemplate {
    /// The command and its arguments, without `;` or `{} +`.
    pub words: Vec<OsString>,
    /// `-execdir`, `-okdir`: the command runs in the directory of the file.
    pub in_directory: bool,
    /// `... {} +`: the command runs for as many files at once as fit, by a
    /// [`Collector`](super::Collector).
    pub many: bool,
    /// `-ok`, `-okdir`: the user is asked before.
    pub ask: bool,
}

impl CommandTemplate {
    /// Runs the command for one file: `-exec` and the like with `;`.
    ///
    /// `path` is the path of the file from the starting point on. `dir` and `name` count only for
    /// `-execdir` and `-okdir`. `dir` is the open directory of the file, and `name` is the name in
    /// it. The command runs in that directory, even if another one has taken its path. For a
    /// starting point `dir` is `None`, and the directory is found by the path as in GNU find.
    ///
    /// Several threads may start commands at once. A caller that wants them one after the other, or
    /// their output in some order, must arrange that.
    pub fn run(
        &self,
        path: &[u8],
        dir: Option<BorrowedFd<'_>>,
        name: &[u8],
        console: &mut dyn Console,
    ) -> Ran {
        console.flush();
        if self.ask && !console.confirm(&self.question(path)) {
            return Ran::default();
        }
        if !self.in_directory {
            return self.run_with(path, path, None, console);
        }
        match dir {
            Some(dir) => self.run_with(path, &argument(name), Some(dir), console),
            None => self.run_at_start(path, console),
        }
    }

    fn run_at_start(&self, path: &[u8], console: &mut dyn Console) -> Ran {
        let place = Place::of(path);
        match place.open() {
            Ok(dir) => {
                let dir = dir.as_ref().map(AsFd::as_fd);
                self.run_with(path, &place.argument, dir, console)
            }
            Err(errno) => no_directory(path, errno),
        }
    }

    fn run_with(
        &self,
        path: &[u8],
        argument: &[u8],
        directory: Option<BorrowedFd<'_>>,
        console: &mut dyn Console,
    ) -> Ran {
        let arguments = self.arguments(argument);
        let spawn = Spawn {
            arguments: &arguments,
            directory,
            null_input: self.ask,
        };
        let how = launch(spawn, console);
        of_one(&arguments, path, how)
    }

    /// Returns the words with `argument` for every `{}`.
    fn arguments(&self, argument: &[u8]) -> Arguments {
        let mut arguments = Arguments::new();
        for word in &self.words {
            arguments.push(&replaced(word.as_bytes(), argument));
        }
        arguments
    }

    /// Returns the question of `-ok` and `-okdir`, both with the path as the search has it, byte
    /// for byte: `< rm ... ./a > ? `.
    pub fn question(&self, path: &[u8]) -> Vec<u8> {
        let command = self.words.first().map_or(&b""[..], |word| word.as_bytes());
        [b"< ", command, b" ... ", path, b" > ? "].concat()
    }
}

/// Returns the outcome when the directory of a starting point could not be opened.
pub(crate) fn no_directory(path: &[u8], errno: Errno) -> Ran {
    Ran {
        succeeded: false,
        messages: vec![format!(
            "Failed to save working directory in order to run a command on {}: {}",
            quote::value(path),
            reason(&errno.into())
        )],
        find_fails: true,
        ends: true,
    }
}

fn replaced<'w>(word: &'w [u8], argument: &[u8]) -> Cow<'w, [u8]> {
    let mut found = memmem::find_iter(word, b"{}").peekable();
    if found.peek().is_none() {
        return Cow::Borrowed(word);
    }
    let mut text = Vec::with_capacity(word.len() + argument.len());
    let mut from = 0;
    for at in found {
        text.extend_from_slice(&word[from..at]);
        text.extend_from_slice(argument);
        from = at + 2;
    }
    text.extend_from_slice(&word[from..]);
    Cow::Owned(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pair_of_braces_is_replaced() {
        for (word, expected) in [
            ("{}", "f"),
            ("pre{}post{}", "prefpostf"),
            ("{{}}", "{f}"),
            ("{}{}", "ff"),
            ("{ }", "{ }"),
            ("", ""),
        ] {
            assert_eq!(&*replaced(word.as_bytes(), b"f"), expected.as_bytes());
        }
        // Text that was put in is not searched again.
        assert_eq!(&*replaced(b"{}", b"{}"), b"{}");
    }

    #[test]
    fn the_question_shows_bytes_as_they_are() {
        let template = CommandTemplate {
            words: vec!["{}x".into(), "arg".into()],
            in_directory: true,
            many: false,
            ask: true,
        };
        assert_eq!(template.question(b"a/\x1bf"), b"< {}x ... a/\x1bf > ? ");
    }
}
