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
mod tests;
