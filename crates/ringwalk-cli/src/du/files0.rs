//! `--files0-from`: names of operands, each ended by a zero byte, from a file or standard input.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};

use crate::console;
use ringwalk_gnu::quote;
use ringwalk_sys::StandardInput;

/// The names of a list.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Names {
    /// The names that can be operands, in order.
    pub(crate) names: Vec<OsString>,
    /// Messages about the other names, without the program's name.
    pub(crate) complaints: Vec<String>,
}

/// Reads the list at `path`. The path `-` is standard input.
///
/// # Errors
/// The message, if the list cannot be opened. If reading fails later, that is a complaint, and the
/// names read before it are returned.
pub(crate) fn read(list: &OsStr) -> Result<Names, String> {
    let path = list.as_bytes();
    if path == b"-" {
        return Ok(parse(path, StandardInput));
    }
    match File::open(list) {
        Ok(file) => Ok(parse(path, file)),
        Err(error) => Err(format!(
            "cannot open {} for reading: {}",
            quote::file_always(path),
            console::reason(&error)
        )),
    }
}

/// Reads a list; `path` names it in complaints.
fn parse(path: &[u8], mut from: impl Read) -> Names {
    let mut text = Vec::new();
    let read = from.read_to_end(&mut text);
    let mut found = Names::default();
    if text.last() == Some(&0) {
        text.pop();
        // Only this byte distinguishes a list of one empty name from an empty list.
        if text.is_empty() {
            found.complaints.push(empty(path, 1));
        }
    }
    if !text.is_empty() {
        for (index, name) in text.split(|byte| *byte == 0).enumerate() {
            if name.is_empty() {
                found.complaints.push(empty(path, index + 1));
            } else if path == b"-" && name == b"-" {
                found.complaints.push(format!(
                    "when reading file names from standard input, no file name of {} allowed",
                    quote::file_always(name)
                ));
            } else {
                found.names.push(OsString::from_vec(name.to_vec()));
            }
        }
    }
    if let Err(error) = read {
        found.complaints.push(format!(
            "{}: read error: {}",
            quote::file(path),
            console::reason(&error)
        ));
    }
    found
}

fn empty(path: &[u8], index: usize) -> String {
    let path = quote::file(path);
    format!("{path}:{index}: invalid zero-length file name")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(list: &[u8]) -> Names {
        parse(b"list", list)
    }

    #[test]
    fn lists() {
        assert_eq!(names(b""), Names::default());
        assert_eq!(names(b"a\0b c\0").names, ["a", "b c"]);
        assert_eq!(names(b"a\0b").names, ["a", "b"]);
        assert_eq!(names(b"-\0").names, ["-"]);
    }

    #[test]
    fn empty_names() {
        let empty = |index| format!("list:{index}: invalid zero-length file name");
        assert_eq!(names(b"\0").complaints, [empty(1)]);
        let found = names(b"a\0\0b\0\0");
        assert_eq!(found.names, ["a", "b"]);
        assert_eq!(found.complaints, [empty(2), empty(4)]);
    }

    #[test]
    fn standard_input_cannot_name_itself() {
        let found = parse(b"-", &b"a\0-\0"[..]);
        assert_eq!(found.names, ["a"]);
        assert_eq!(
            found.complaints,
            ["when reading file names from standard input, no file name of '-' allowed"]
        );
    }
}
