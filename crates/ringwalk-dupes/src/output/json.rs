//! JSON: one object.

use super::Totals;
use crate::{Copy, DirectoryGroup, Found, Group, SimilarDirectories};
use ringwalk::shown;
use ringwalk_snapshot::rfc3339;
use ringwalk_text::{escaped, hex, hex_unless_text};
use serde::Serialize;
use std::io::{self, Write};

/// Writes everything that was found as one object on one line.
///
/// | member | contents |
/// |---|---|
/// | `groups` | groups of files with the same contents |
/// | `directories` | groups of directories with the same contents: `size` and number of `files` of each, and the `directories` |
/// | `similar` | pairs of directories with much in common: `percent` and bytes in `common`, and the two `directories`, each with its `size` |
/// | `summary` | number of `groups`; number of redundant `files` and their `bytes`, as in [`Totals`]; `freeable`; `without_hash`, the number of files of snapshots that were not compared |
///
/// A group has `size` (bytes of each file), `hash` (BLAKE3 in hexadecimal digits, or null if no
/// file was read), `freeable` (bytes), and `files`. The first file is the one to keep. Each has:
///
/// | member | contents |
/// |---|---|
/// | `path` | the first of its names |
/// | `keep` | true for the first file of the group |
/// | `reference` | true if it lies in a reference |
/// | `snapshot` | number of its snapshot, from 0; null if it is live |
/// | `ino` | inode number |
/// | `nlink` | number of hard links; null if not known |
/// | `mtime` | time of the last change as in RFC 3339, in UTC, with nanoseconds |
/// | `shares_with` | path of the file of the group whose extents it shares, or null |
/// | `links` | its other names that were found, each an object with its `path` |
///
/// Bytes of paths that are not UTF-8 are written as `\xHH`. Then a second member, `path_raw` or
/// `shares_with_raw`, has the whole path in hexadecimal digits. All control characters are escaped.
///
/// Not more than one group is in memory. `out` gets many small pieces. It is flushed at the end.
///
/// # Errors
///
/// When `out` cannot be written.
pub fn json(found: &Found, out: &mut impl Write) -> io::Result<()> {
    let rest = Rest {
        directories: &found.directories,
        similar: &found.similar,
        without_hash: found.without_hash,
    };
    write(found.groups(), &rest, out)
}

/// What was found besides the groups.
#[derive(Default)]
pub(super) struct Rest<'f> {
    pub(super) directories: &'f [DirectoryGroup],
    pub(super) similar: &'f [SimilarDirectories],
    pub(super) without_hash: u64,
}

pub(super) fn write(
    groups: impl Iterator<Item = Group>,
    rest: &Rest<'_>,
    out: &mut impl Write,
) -> io::Result<()> {
    let mut totals = Totals::default();
    out.write_all(b"{\"groups\":[")?;
    list(groups, out, |group, out| {
        totals.add(&group);
        write_group(&group, out)
    })?;
    out.write_all(b"],\"directories\":[")?;
    list(rest.directories, out, |each, out| {
        push(&DirectoriesObject::of(each), out)
    })?;
    out.write_all(b"],\"similar\":[")?;
    list(rest.similar, out, |each, out| {
        push(&SimilarObject::of(each), out)
    })?;
    out.write_all(b"],\"summary\":")?;
    let summary = Summary {
        groups: totals.groups,
        files: totals.files,
        bytes: totals.bytes,
        freeable: totals.freeable,
        without_hash: rest.without_hash,
    };
    push(&summary, out)?;
    out.write_all(b"}\n")?;
    out.flush()
}

/// Writes items with commas between them.
fn list<T, W: Write>(
    items: impl IntoIterator<Item = T>,
    out: &mut W,
    mut write: impl FnMut(T, &mut W) -> io::Result<()>,
) -> io::Result<()> {
    for (at, item) in items.into_iter().enumerate() {
        if at > 0 {
            out.write_all(b",")?;
        }
        write(item, out)?;
    }
    Ok(())
}

fn push(value: &impl Serialize, out: &mut impl Write) -> io::Result<()> {
    let text = shown::json(serde_json::to_string(value)?);
    out.write_all(text.as_bytes())
}

fn write_group(group: &Group, out: &mut impl Write) -> io::Result<()> {
    write!(out, "{{\"size\":{},\"hash\":", group.size)?;
    push(&group.hash.map(|hash| hex(&hash)), out)?;
    write!(out, ",\"freeable\":{},\"files\":[", group.freeable)?;
    list(0..group.copies.len(), out, |at, out| {
        push(&FileObject::of(&group.copies, at), out)
    })?;
    out.write_all(b"]}")
}

#[derive(Serialize)]
struct FileObject {
    #[serde(flatten)]
    path: PathObject,
    keep: bool,
    reference: bool,
    snapshot: Option<usize>,
    ino: u64,
    nlink: Option<u32>,
    mtime: String,
    shares_with: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shares_with_raw: Option<String>,
    links: Vec<PathObject>,
}

impl FileObject {
    /// Takes one of the copies of a group.
    fn of(copies: &[Copy], at: usize) -> Self {
        let copy = &copies[at];
        let shares_with = copy.shares_with.map(|other| copies[other].path());
        Self {
            path: PathObject::of(copy.path()),
            keep: at == 0,
            reference: copy.is_reference,
            snapshot: copy.snapshot,
            ino: copy.version.ino,
            nlink: copy.links,
            mtime: rfc3339(copy.version.mtime),
            shares_with: shares_with.map(escaped),
            shares_with_raw: shares_with.and_then(hex_unless_text),
            links: copy
                .names
                .iter()
                .skip(1)
                .map(|name| PathObject::of(name.path()))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct PathObject {
    path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    path_raw: Option<String>,
}

impl PathObject {
    fn of(path: &[u8]) -> Self {
        Self {
            path: escaped(path),
            path_raw: hex_unless_text(path),
        }
    }
}

#[derive(Serialize)]
struct DirectoriesObject {
    size: u64,
    files: u64,
    directories: Vec<PathObject>,
}

impl DirectoriesObject {
    fn of(group: &DirectoryGroup) -> Self {
        Self {
            size: group.size,
            files: group.files,
            directories: group
                .paths
                .iter()
                .map(|path| PathObject::of(path))
                .collect(),
        }
    }
}

#[derive(Serialize)]
struct SimilarObject {
    percent: u8,
    common: u64,
    directories: [SimilarDirectory; 2],
}

#[derive(Serialize)]
struct SimilarDirectory {
    #[serde(flatten)]
    path: PathObject,
    size: u64,
}

impl SimilarObject {
    fn of(pair: &SimilarDirectories) -> Self {
        Self {
            percent: pair.percent(),
            common: pair.common,
            directories: [0, 1].map(|at| SimilarDirectory {
                path: PathObject::of(&pair.paths[at]),
                size: pair.sizes[at],
            }),
        }
    }
}

#[derive(Serialize)]
struct Summary {
    groups: u64,
    files: u64,
    bytes: u64,
    freeable: u64,
    without_hash: u64,
}
