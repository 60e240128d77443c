//! XFS with an older tree: names of directories that have not changed are taken from it.
//!
//! A change of a directory's names sets its times of modification and of change (`ctime`) to the
//! clock, and no call sets the latter to another value. So a directory has the names of the older
//! tree if
//!
//! - its inode number, times of birth, of modification and of change are those in the older tree,
//!   to the nanosecond: also a clock that was set back gives other times;
//! - the last of them lies before the reading of the older tree began, by more than the clock's
//!   steps: a second change within the same step would have the same time;
//! - the clock was not set while the older tree was read.
//!
//! BULKSTAT returns the times from the kernel's own inodes, so they are never late. Metadata of
//! files are always fresh.

use super::reader::XfsReader;
use super::{Refused, Xfs};
use crate::sources::older::{OlderListings, OlderVolume};
use crate::sources::raw_batch::RawBatch;
use crate::sources::stat::Wanted;
use crate::sources::volume::{DirectoryKey, Position, Reader, Volume, seconds_now};
use crate::visit::metadata::{Metadata, Timestamp};
use ringwalk_sys::{RawFileType as FileType, XfsBulk, XfsBulkstat};
use std::sync::Arc;

/// Seconds between a change and its time that the clock may lack: it advances in steps of at most
/// 10 ms, and reading it may take a while.
const CLOCK_SLACK: i64 = 2;

/// Opens `xfs` together with an older tree.
///
/// # Errors
///
/// If the clock says nothing about what changed since.
pub(super) fn open(xfs: Arc<Xfs>, older: OlderVolume) -> Result<Arc<dyn Volume>, Refused> {
    let start = older.file_system.start.ok_or_else(|| {
        Refused::because("the clock may have been set while the older snapshot was taken")
    })?;
    if start.secs > i64::try_from(seconds_now()).unwrap_or(i64::MAX) {
        return Err(Refused::because(
            "the clock was set back since the older snapshot",
        ));
    }
    Ok(Arc::new(UpdatedXfs {
        xfs,
        older,
        before: start.secs.saturating_sub(CLOCK_SLACK),
    }))
}

struct UpdatedXfs {
    xfs: Arc<Xfs>,
    older: OlderVolume,
    /// Only changes before this second are in the older tree for certain.
    before: i64,
}

impl Volume for UpdatedXfs {
    fn describe(&self) -> String {
        format!("{}; {}", self.older.describe(), self.xfs.describe())
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(UpdatedXfsReader {
            // A directory is not open here, so asking for one file by a system call takes longer.
            inner: XfsReader::for_runs_of(Arc::clone(&self.xfs), 1),
            listings: self.older.reader(false),
            bulk: XfsBulk::default(),
            volume: self,
        })
    }
}

struct UpdatedXfsReader {
    volume: Arc<UpdatedXfs>,
    inner: XfsReader,
    listings: OlderListings,
    bulk: XfsBulk<XfsBulkstat>,
}

impl Reader for UpdatedXfsReader {
    fn list(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let older = self.listings.directory(dir.ino)?;
        if from.is_none() {
            let mounted = &self.volume.xfs.mounted;
            let asked = self.bulk.read(mounted.directory(), None, dir.ino, 1);
            asked.map_err(|errno| Refused::because(format!("XFS_IOC_BULKSTAT: {errno}")))?;
            let record = self.bulk.records().first();
            let now = record.filter(|record| record.ino == dir.ino);
            if !now.is_some_and(|now| is_same(now, &older.metadata, self.volume.before)) {
                return Err(Refused::because("it has changed since the older snapshot"));
            }
        }
        let listed = self.listings.list(&older, from, batch);
        match &listed {
            Ok(_) if from.is_none() => self.volume.older.count(),
            Ok(_) => {}
            Err(_) => batch.clear(),
        }
        listed
    }

    fn stat(&mut self, dir: DirectoryKey<'_>, batch: &mut RawBatch, wanted: Wanted) {
        self.inner.stat(dir, batch, wanted);
    }
}

/// Returns true if a directory certainly has the names that it had in the older tree.
fn is_same(now: &XfsBulkstat, then: &Metadata, before: i64) -> bool {
    let time = |secs, nanos| Timestamp { secs, nanos };
    now.nlink > 0
        && FileType::from_mode(u32::from(now.mode)) == FileType::Directory
        && time(now.btime, now.btime_nsec) == then.btime
        && time(now.mtime, now.mtime_nsec) == then.mtime
        && time(now.ctime, now.ctime_nsec) == then.ctime
        && now.ctime < before
}

#[cfg(test)]
mod tests;
