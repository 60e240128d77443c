//! Where a search begins: the paths of the command line, or those of a list.

use crate::expression::Command;
use ringwalk_gnu::{quote, reason};
use ringwalk_sys::StandardInput;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read as _;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

/// The starting points, and what is wrong with the list of them.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    pub(crate) paths: Vec<OsString>,
    pub(crate) complaints: Vec<String>,
}

impl Roots {
    /// Those of `command`.
    ///
    /// # Errors
    ///
    /// The message, when a list cannot be opened.
    pub(crate) fn of(command: &Command) -> Result<Self, String> {
        match &command.options.files0_from {
            None => Ok(Self {
                paths: command.paths.clone(),
                complaints: Vec::new(),
            }),
            Some(list) => read(list),
        }
    }
}

/// Reads a list: names, each ended by a zero byte; `-` is standard input.
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
    // A list of one empty name and an empty list differ by this byte.
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
