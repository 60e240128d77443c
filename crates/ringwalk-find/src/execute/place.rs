//! The directory of a starting point, and the name in it.

use rustix::fs::{Mode, OFlags, open};
use rustix::io::Errno;
use std::os::fd::OwnedFd;

/// The prefix of a name in a directory, so that no command treats the name as an option.
const HERE: &[u8] = b"./";

/// Returns the argument for the file `name` of the directory where a command runs.
pub(crate) fn argument(name: &[u8]) -> Vec<u8> {
    [HERE, name].concat()
}

/// The directory in which `-execdir` runs a command for a starting point.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place<'p> {
    /// The directory. None for the current one.
    pub(crate) directory: Option<&'p [u8]>,
    /// The argument for the file.
    pub(crate) argument: Vec<u8>,
}

impl<'p> Place<'p> {
    /// Returns the place of the starting point `path`. As in GNU find the last component counts,
    /// whatever it is (`./.` for `.`), with one slash if there are any after it. `/` stands for
    /// itself.
    pub(crate) fn of(path: &'p [u8]) -> Self {
        let slashes = path.iter().rev().take_while(|byte| **byte == b'/').count();
        let trimmed = &path[..path.len() - slashes];
        if trimmed.is_empty() && slashes > 0 {
            return Self {
                directory: Some(b"/"),
                argument: b"/".to_vec(),
            };
        }
        let base = match trimmed.iter().rposition(|byte| *byte == b'/') {
            Some(slash) => slash + 1,
            None => 0,
        };
        let end = trimmed.len() + usize::from(slashes > 0);
        Self {
            directory: (base > 0).then(|| &path[..base]),
            argument: argument(&path[base..end]),
        }
    }

    /// Opens the directory. None for the current one.
    ///
    /// The directory need not be readable. GNU find opens it to read it, so it ends with an error
    /// there.
    ///
    /// # Errors
    ///
    /// The errors of open(2).
    pub(crate) fn open(&self) -> Result<Option<OwnedFd>, Errno> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        self.directory
            .map(|path| open(path, flags, Mode::empty()))
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As GNU find 4.9 has them.
    const PLACES: &[(&str, Option<&str>, &str)] = &[
        ("a", None, "./a"),
        ("a/", None, "./a/"),
        ("a/b", Some("a/"), "./b"),
        ("a/b/", Some("a/"), "./b/"),
        ("a/b//", Some("a/"), "./b/"),
        ("a//b", Some("a//"), "./b"),
        ("/", Some("/"), "/"),
        ("//", Some("/"), "/"),
        ("/tmp", Some("/"), "./tmp"),
        ("/tmp/", Some("/"), "./tmp/"),
        (".", None, "./."),
        ("./", None, "././"),
        ("..", None, "./.."),
        ("a/..", Some("a/"), "./.."),
        ("a/.", Some("a/"), "./."),
        ("-x", None, "./-x"),
    ];

    #[test]
    fn places() {
        for (path, directory, argument) in PLACES {
            let expected = Place {
                directory: directory.map(str::as_bytes),
                argument: argument.as_bytes().to_vec(),
            };
            assert_eq!(Place::of(path.as_bytes()), expected, "{path}");
        }
    }

    #[test]
    fn directories_are_opened_through_links() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(".", dir.path().join("link")).unwrap();
        let path = |end: &str| format!("{}/{end}", dir.path().display());
        assert!(Place::of(b"x").open().unwrap().is_none());
        assert!(
            Place::of(path("link/x").as_bytes())
                .open()
                .unwrap()
                .is_some()
        );
        let missing = path("none/x");
        assert_eq!(
            Place::of(missing.as_bytes()).open().unwrap_err(),
            Errno::NOENT
        );
    }
}
