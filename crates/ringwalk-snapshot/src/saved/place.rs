//! From paths that a user gives to rows of a snapshot.
//!
//! Paths are compared by their text: the live file system is not asked. The root of an import may
//! be any text, such as `s3://bucket` or `.`. So a path is first looked up as it is written, and
//! then as the absolute path that it stands for.

#![allow(clippy::cast_possible_truncation, reason = "rows within a page")]

use super::SnapshotTree;
use crate::read::PageCache;
use crate::schema::Column;
use ringwalk::{Errno, FileType};
use std::os::unix::ffi::OsStrExt;

/// As many links are followed as the kernel follows.
const MOST_LINKS: usize = 40;

impl SnapshotTree {
    /// Returns the row of a path. If `follow` is true, or the path ends with a slash, returns the
    /// row of the target of a symbolic link.
    ///
    /// # Errors
    ///
    /// `ENOENT` if the snapshot does not hold it, `ENOTDIR` if it ends with a slash and is no
    /// directory, `ELOOP` for too many links, `EIO` if the file cannot be read.
    pub(super) fn row_of(
        &self,
        path: &[u8],
        follow: bool,
        pages: &mut PageCache,
    ) -> Result<u64, Errno> {
        let directory = self.directory.as_ref();
        let directory = directory.map(|path| path.as_os_str().as_bytes());
        let mut written = self.locate_below(path, pages)?;
        if written.is_none() && !path.starts_with(b"/") && (path.is_empty() || directory.is_none())
        {
            return Err(Errno::NOENT);
        }
        let is_directory = path.ends_with(b"/") || path.ends_with(b"/.");
        let mut at = join(directory.unwrap_or(b"/"), path);
        for _ in 0..=MOST_LINKS {
            let row = match written.take() {
                Some(row) => row,
                None => self.locate_below(&at, pages)?.ok_or(Errno::NOENT)?,
            };
            let columns = [Column::Type, Column::Target];
            let page = self.load(pages, row, &columns)?;
            let (chunk, index) = (page.chunk(), (row - page.rows().start) as usize);
            match chunk.file_type(index) {
                FileType::Symlink if follow || is_directory => {
                    let target = chunk.bytes(Column::Target, index);
                    let target = target.ok_or(Errno::NODATA)?;
                    at = join(&join(&at, b".."), target);
                }
                FileType::Directory => return Ok(row),
                _ if is_directory => return Err(Errno::NOTDIR),
                _ => return Ok(row),
            }
        }
        Err(Errno::LOOP)
    }

    /// Returns the row of a path that begins with the path of a root, in the innermost root that
    /// has it.
    fn locate_below(&self, path: &[u8], pages: &mut PageCache) -> Result<Option<u64>, Errno> {
        let found = self.snapshot.find_in(path, pages);
        found.map_err(|error| self.fail(error))
    }
}

/// Returns the absolute path of `path`, which is relative to `directory`, without `.`, `..` and
/// needless slashes.
fn join(directory: &[u8], path: &[u8]) -> Vec<u8> {
    let base: &[u8] = if path.starts_with(b"/") {
        b""
    } else {
        directory
    };
    let mut parts: Vec<&[u8]> = Vec::new();
    for part in base
        .split(|byte| *byte == b'/')
        .chain(path.split(|byte| *byte == b'/'))
    {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let mut joined = Vec::new();
    for part in &parts {
        joined.push(b'/');
        joined.extend_from_slice(part);
    }
    if joined.is_empty() {
        joined.push(b'/');
    }
    joined
}
