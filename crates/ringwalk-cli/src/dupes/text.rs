//! The answer for people.

use ringwalk_dupes::{Copy, Found, Group, Totals};
use ringwalk_gnu::terminal_safe;
use ringwalk_text::SizeFormat;
use std::collections::HashMap;
use std::io::{self, Write};

/// Writes groups, directories, and the sum. `safe` makes paths safe for terminals; `sizes` says how
/// sizes are shown.
pub(super) fn write(
    found: &Found,
    safe: bool,
    sizes: SizeFormat,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut text = Text { safe, sizes, out };
    for group in &found.directories {
        let files = counted(group.files, "file", "files");
        let (count, size) = (group.paths.len(), sizes.size(group.size));
        text.line(format_args!(
            "{count} directories with the same {files}, {size} each"
        ))?;
        for path in &group.paths {
            text.path(path, "")?;
        }
        text.line(format_args!(""))?;
    }
    for pair in &found.similar {
        let (percent, common) = (pair.percent(), sizes.size(pair.common));
        text.line(format_args!(
            "2 directories with {percent} % in common, {common}"
        ))?;
        for (path, size) in pair.paths.iter().zip(pair.sizes) {
            text.path(path, &format!("  ({})", sizes.size(size)))?;
        }
        text.line(format_args!(""))?;
    }
    let covered = Covered::new(found);
    let mut totals = Totals::default();
    for group in found.groups() {
        totals.add(&group);
        if !covered.covers(&group) {
            text.group(&group)?;
        }
    }
    let groups = counted(totals.groups, "group", "groups");
    let files = counted(totals.files, "copy", "copies");
    let freeable = sizes.size(totals.freeable);
    text.line(format_args!(
        "{groups} of equal files, {files} too many, {freeable} to free"
    ))
}

pub(super) fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

struct Text<'o, W> {
    safe: bool,
    sizes: SizeFormat,
    out: &'o mut W,
}

impl<W: Write> Text<'_, W> {
    fn line(&mut self, text: std::fmt::Arguments<'_>) -> io::Result<()> {
        writeln!(self.out, "{text}")
    }

    fn path(&mut self, path: &[u8], remark: &str) -> io::Result<()> {
        let mut line = b"  ".to_vec();
        if self.safe {
            terminal_safe(path, &mut line);
        } else {
            line.extend_from_slice(path);
        }
        line.extend_from_slice(remark.as_bytes());
        line.push(b'\n');
        self.out.write_all(&line)
    }

    fn group(&mut self, group: &Group) -> io::Result<()> {
        let (count, size) = (group.copies.len(), self.sizes.size(group.size));
        let freeable = self.sizes.size(group.freeable);
        self.line(format_args!("{count} copies of {size}, {freeable} to free"))?;
        for copy in &group.copies {
            for (at, name) in copy.names.iter().enumerate() {
                self.path(name.path(), remark(copy, at))?;
            }
        }
        self.line(format_args!(""))
    }
}

/// Returns the remark that follows a name of a copy.
fn remark(copy: &Copy, name: usize) -> &'static str {
    if name > 0 {
        "  (a hard link of the one above)"
    } else if copy.shares_with.is_some() {
        "  (shares its blocks)"
    } else if copy.snapshot.is_some() {
        "  (in a snapshot)"
    } else {
        ""
    }
}

/// The directories whose files need no group of their own.
struct Covered<'f>(HashMap<&'f [u8], usize>);

impl<'f> Covered<'f> {
    fn new(found: &'f Found) -> Self {
        let groups = found.directories.iter().enumerate();
        let all =
            groups.flat_map(|(at, group)| group.paths.iter().map(move |path| (&path[..], at)));
        Self(all.collect())
    }

    /// Returns true if all copies lie in directories that have the same contents.
    fn covers(&self, group: &Group) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let mut homes = group.copies.iter().map(|copy| self.home(copy.path()));
        let first = homes.next().flatten();
        first.is_some() && homes.all(|home| home == first)
    }

    /// Returns the outermost group of directories that the file lies in.
    fn home(&self, path: &[u8]) -> Option<usize> {
        let slashes = path.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        slashes
            .map(|(at, _)| &path[..at.max(1)])
            .find_map(|above| self.0.get(above).copied())
    }
}
