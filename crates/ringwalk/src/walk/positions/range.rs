//! Ranges of a directory whose positions are divided by value.
//!
//! An entry belongs to the range that its own position is in. getdents64 gives the position of an
//! entry as the `d_off` of the entry before it. It gives no position for the first entry in a
//! buffer: the entry before it may have been removed, or lie in another range. So that entry is
//! looked for behind the end of the range. This holds whatever is created and removed meanwhile, as
//! entries keep their positions.

use super::{next_entries, seek};
use crate::sources::raw_batch::RawBatch;
use crate::walk::descriptors::open_directory;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::sync::Arc;

/// Bytes that are read behind the end of a range. An entry is missed there only if more entries
/// than fit were created before it at that moment.
const BEHIND: usize = 32 * 1024;

/// Removes the entries behind the end of a range from a buffer that was just read. Returns true if
/// the range ends there.
///
/// # Errors
///
/// If the directory cannot be read at the end of the range. All entries are removed then, as it is
/// not known which of them belong to the range.
pub(crate) fn cut(raw: &mut RawBatch, fd: &Arc<DirectoryFd>, to: i64) -> Result<bool, Errno> {
    if raw.records.is_empty() {
        return Ok(false);
    }
    match is_behind(raw, fd, to) {
        Ok(false) => {}
        Ok(true) => {
            raw.clear();
            return Ok(true);
        }
        Err(errno) => {
            raw.clear();
            return Err(errno);
        }
    }
    let last = raw.records.len() - 1;
    let ends = (0..last).find(|&index| raw.records.cookie(index) >= to);
    if let Some(index) = ends {
        drop(raw.split_off(index + 1));
        return Ok(true);
    }
    Ok(raw.records.cookie(last) >= to)
}

/// Returns true if the first entry of a buffer lies behind the end of the range.
fn is_behind(raw: &RawBatch, fd: &Arc<DirectoryFd>, to: i64) -> Result<bool, Errno> {
    let other = open_directory(&**fd, c".", false)?;
    seek(&other, to)?;
    let (name, ino) = (raw.records.name(0).to_bytes(), raw.records.ino(0));
    let mut found = false;
    next_entries(&other, BEHIND, |other_name, _, other_ino| {
        found |= other_name == name && other_ino == ino;
    })?;
    Ok(found)
}
