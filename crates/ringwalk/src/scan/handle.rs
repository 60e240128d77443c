//! Files that a scan is not sure of, asked by file handle, as they have no names here.

use crate::metadata::{Fields, Metadata};
use crate::volume::{Mounted, Refused};
use ringwalk_sys::{FileHandle, Statx, open_by_handle, statx};
use rustix::fs::{AtFlags, OFlags};
use rustix::io::Errno;

/// What the file system itself says of the file with this inode number and handle; `None` if it has been deleted.
pub(super) fn ask(
    mounted: &Mounted,
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
    let fields = Fields::all().bits();
    statx(file, c"", AtFlags::EMPTY_PATH, fields, &mut stat).map_err(failed)?;
    let metadata = Metadata::from(&stat);
    // Still open, but without a name.
    Ok((metadata.nlink > 0).then_some(metadata))
}
