//! Asks for uncertain files of an inode sweep by file handle, as a sweep has no names.

use crate::sources::volume::{OpenMount, Refused};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{FileHandle, Statx, open_by_handle, statx};
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

/// Returns the metadata that the file system reports for this inode number and handle; `None` if
/// the file has been deleted.
pub(crate) fn ask(
    mounted: &OpenMount,
    ino: u64,
    handle: &FileHandle,
) -> Result<Option<Metadata>, Refused> {
    let failed = |errno: Errno| Refused::because(format!("inode {ino}: {errno}"));
    let file = match open_by_handle(mounted.directory(), handle, OFlags::PATH) {
        Ok(file) => file,
        Err(Errno::STALE | Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(errno)),
    };
    let mut stat = Statx::default();
    let fields = Fields::STATX.bits();
    statx(file, c"", AtFlags::EMPTY_PATH, fields, &mut stat).map_err(failed)?;
    let metadata = Metadata::from(&stat);
    // The file is still open, but has no name.
    Ok((metadata.nlink > 0).then_some(metadata))
}
