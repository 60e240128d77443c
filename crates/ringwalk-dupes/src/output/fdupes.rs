//! The format of fdupes(1) and jdupes(1).

use crate::{Found, Group};
use std::io::{self, Write};

/// Writes the groups as fdupes and jdupes do by default: a path on each line, and an empty line
/// after each group. fdupes writes that line after the last group, too; jdupes does so for some
/// trees only. Of a file with several names, only the first one is written, as fdupes does without
/// its option `-H`.
///
/// Paths are written as they are, so a path with a newline takes two lines. Without groups nothing
/// is written. Directories and similar directories are left out.
///
/// `out` gets many small pieces. It is flushed at the end.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn fdupes(found: &Found, out: &mut impl Write) -> io::Result<()> {
    write(found.groups(), out)
}

pub(super) fn write(groups: impl Iterator<Item = Group>, out: &mut impl Write) -> io::Result<()> {
    for group in groups {
        for copy in &group.copies {
            out.write_all(copy.path())?;
            out.write_all(b"\n")?;
        }
        out.write_all(b"\n")?;
    }
    out.flush()
}
