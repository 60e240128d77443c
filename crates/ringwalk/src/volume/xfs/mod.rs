//! Metadata of XFS by BULKSTAT.
//!
//! Names are read by `getdents64`; then one ioctl gives the metadata of all files of a directory whose inode numbers are next to
//! each other, which is how XFS gives them out. It looks up no names and reads the kernel's own inodes, so that it is as
//! fresh as statx(2) in everything but sizes that wait for write-back.
//!
//! An inode number can be freed, and used again for another file, between the two calls. No record of a file that was born
//! since shortly before the walk began is used: so the record is that of the file which was listed, or of none.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | opening the file system, and what is refused from the beginning |
//! | `reader.rs` | the metadata of one directory's entries |
//! | `metadata.rs` | a record as statx(2) would tell of it |

mod metadata;
mod reader;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use metadata::{is_unsure, to_metadata};

use super::{Mounted, Reader, Refused, Volume};
use crate::metadata::Fields;
use reader::XfsReader;
use ringwalk_sys::{XfsBulk, XfsBulkstat, XfsGeometry, xfs_geometry};
use rustix::io::Errno;
use std::sync::Arc;

/// A mounted XFS that this process may ask in bulk.
#[derive(Debug)]
pub(crate) struct Xfs {
    pub(crate) mounted: Arc<Mounted>,
    pub(crate) geometry: XfsGeometry,
    /// The generation of the inode that `mounted` has open.
    pub(crate) generation: u32,
}

/// Opens the volume that `mounted` is on.
///
/// # Errors
///
/// If it cannot be asked in bulk, or not with the same answers.
pub(crate) fn open(mounted: Arc<Mounted>) -> Result<Arc<dyn Volume>, Refused> {
    Ok(Arc::new(Xfs::open(mounted)?))
}

impl Xfs {
    pub(crate) fn open(mounted: Arc<Mounted>) -> Result<Self, Refused> {
        if mounted.mount.file_system != "xfs" {
            return Err(Refused::because("it is not XFS"));
        }
        if mounted.mount.has_option("dax") || mounted.mount.has_option("dax=always") {
            return Err(Refused::because("it is mounted with dax"));
        }
        if !mounted.metadata.mask.contains(Fields::BTIME) {
            return Err(Refused::because(
                "its inodes have no time of birth (XFS version 4)",
            ));
        }
        let geometry = xfs_geometry(mounted.directory())
            .map_err(|errno| Refused::because(format!("XFS_IOC_FSGEOMETRY: {errno}")))?;
        let generation = try_bulkstat(&mounted)?;
        Ok(Self {
            mounted,
            geometry,
            generation,
        })
    }
}

/// Asks for the open directory itself, and returns its generation.
fn try_bulkstat(mounted: &Mounted) -> Result<u32, Refused> {
    let ino = mounted.metadata.ino;
    let mut bulk = XfsBulk::<XfsBulkstat>::default();
    let asked = bulk.read(mounted.directory(), None, ino, 1);
    asked.map_err(|errno| match errno {
        Errno::PERM => Refused::because("CAP_SYS_ADMIN is missing"),
        Errno::NOTTY => Refused::because("this kernel has no XFS_IOC_BULKSTAT (Linux 5.3 has)"),
        other => Refused::because(format!("XFS_IOC_BULKSTAT: {other}")),
    })?;
    let record = bulk.records().iter().find(|record| record.ino == ino);
    let record = record.ok_or_else(|| Refused::because("its root has been deleted"))?;
    Ok(record.generation)
}

impl Volume for Xfs {
    fn name(&self) -> &'static str {
        "xfs"
    }

    fn describe(&self) -> String {
        format!("metadata by BULKSTAT; {}", self.mounted.describe())
    }

    fn lists(&self) -> bool {
        false
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(XfsReader::new(self))
    }
}
