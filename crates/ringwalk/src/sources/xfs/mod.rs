//! Reads metadata of XFS by BULKSTAT.
//!
//! `getdents64` reads the names. Then one ioctl returns the metadata of all files of a directory
//! whose inode numbers are neighbours; XFS gives out numbers in this way. The ioctl looks up no
//! names and reads the kernel's own inodes. So its answer is as current as an answer of statx(2),
//! except for sizes that wait for write-back.
//!
//! Between the two calls, a file can be deleted and its inode number used for another file. So
//! records of files that were born since shortly before the walk began are not used. Any other
//! record with that number is the record of the listed file.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | opens the file system; declines file systems that BULKSTAT does not describe |
//! | `reader.rs` | the metadata of one directory's entries |
//! | `metadata.rs` | the metadata that statx(2) would return for a record |

mod metadata;
mod reader;
pub(crate) mod sweep;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use metadata::{is_unsure, to_metadata};

use crate::sources::volume::{OpenMount, Reader, Refused, Volume};
use crate::visit::metadata::Fields;
use reader::XfsReader;
use ringwalk_sys::{XfsBulk, XfsBulkstat, XfsGeometry, xfs_geometry};
use rustix::io::Errno;
use std::sync::Arc;

/// A mounted XFS on which this process may call BULKSTAT.
#[derive(Debug)]
pub(crate) struct Xfs {
    pub(crate) mounted: Arc<OpenMount>,
    pub(crate) geometry: XfsGeometry,
    /// The generation of the inode that `mounted` has open.
    pub(crate) generation: u32,
}

/// Opens the volume of `mounted`.
///
/// # Errors
///
/// If BULKSTAT refuses, or would not give the same answers as system calls.
pub(crate) fn open(mounted: Arc<OpenMount>) -> Result<Arc<dyn Volume>, Refused> {
    Ok(Arc::new(Xfs::open(mounted)?))
}

impl Xfs {
    pub(crate) fn open(mounted: Arc<OpenMount>) -> Result<Self, Refused> {
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
fn try_bulkstat(mounted: &OpenMount) -> Result<u32, Refused> {
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
