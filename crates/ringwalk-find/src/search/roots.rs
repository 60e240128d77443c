//! The starting points of a search: the paths of the command line or of a list.

use crate::expression::Command;
use ringwalk::{Errno, Follow, SavedTree};
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::StandardInput;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The starting points, and the complaints about their list.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    pub(crate) paths: Vec<OsString>,
    pub(crate) complaints: Vec<String>,
}

impl Roots {
    /// Returns the starting points of `command`.
    ///
    /// # Errors
    ///
    /// The message, if the list cannot be opened.
    pub(crate) fn of(command: &Command) -> Result<Self, String> {
        let mut roots = match &command.options.files0_from {
            None => Self {
                paths: command.paths.clone(),
                complaints: Vec::new(),
            },
            Some(list) => read(list)?,
        };
        if let Some(saved) = &command.saved {
            let follow = command.follow != Follow::Never;
            roots.keep_saved(&*saved.tree, follow);
        }
        Ok(roots)
    }

    /// Keeps the starting points that a saved tree has, and complains of the others.
    fn keep_saved(&mut self, tree: &dyn SavedTree, follow: bool) {
        let complaints = &mut self.complaints;
        self.paths.retain(|path| {
            let Err(errno) = tree.find(path.as_bytes(), follow) else {
                return true;
            };
            let why = match errno {
                Errno::NOENT => format!("not in {}", tree.describe()),
                errno => reason(&errno.into()),
            };
            let path = quote::value(path.as_bytes());
            complaints.push(format!("{path}: {why}"));
            false
        });
    }
}

/// Reads a list of names, each with a zero byte after it. `-` is standard input.
fn read(list: &OsStr) -> Result<Roots, String> {
    let name = if list == "-" {
        OsStr::new("(standard input)")
    } else {
        list
    };
    let shown = quote::value(name.as_bytes());
    let mut text = Vec::new();
    let read = if list == "-" {
        StandardInput.read_to_end(&mut text)
    } else {
        File::open(list)
            .map_err(|error| format!("cannot open {shown} for reading: {}", reason(&error)))?
            .read_to_end(&mut text)
    };
    let mut roots = Roots::default();
    // This byte is the difference between a list of one empty name and an empty list.
    let ended = text.last() == Some(&0);
    if ended {
        text.pop();
    }
    if let Err(error) = read {
        roots
            .complaints
            .push(format!("{shown}: read error: {}", reason(&error)));
    }
    if text.is_empty() && !ended {
        return Ok(roots);
    }
    for (index, name) in text.split(|byte| *byte == 0).enumerate() {
        if name.is_empty() {
            let number = index + 1;
            let complaint = format!("{shown}:{number}: invalid zero-length file name");
            roots.complaints.push(complaint);
        } else {
            roots.paths.push(OsString::from_vec(name.to_vec()));
        }
    }
    Ok(roots)
}
