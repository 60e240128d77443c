//! Opening a candidate, and making sure that it is the version that was found and stays it.

use super::{FileFault, Matcher};
use crate::inventory::FileId;
use ringwalk::time_stamps::{Moment, StampClock, StampsSeen};
use ringwalk_hash::{Fault, OpenFile, OpenRoot};
use rustix::io::Errno;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::ops::Range;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::Ordering;

impl Matcher<'_> {
    /// Waits until each further change of a candidate gives it another version than the one that
    /// was found. So one wait, of two seconds at most, does for all files.
    pub(super) fn wait_until_sure(&self, classes: impl Iterator<Item = Range<u32>>) {
        let now = Moment::now();
        let mut clocks: HashMap<u16, StampClock> = HashMap::new();
        let candidates = classes.flat_map(|class| self.inventory.inodes(class));
        let candidates = candidates.filter_map(|names| self.inventory.live_name(names));
        let unsure = candidates.filter_map(|id| {
            let file = self.inventory.file(id);
            let version = file.version(0);
            let clock = || {
                let ask = || {
                    self.open_version(id)
                        .map(|open| StampClock::of(open.file()))
                };
                let clock = clocks.entry(file.device);
                *clock.or_insert_with(|| ask().unwrap_or(StampClock::Other))
            };
            StampsSeen::new(now, version.ctime, version.mtime, clock).unsure_for()
        });
        if let Some(time) = unsure.max() {
            std::thread::sleep(time);
        }
    }

    /// Opens a file, calls `read`, and makes sure that the file is and stays the version that was
    /// found. Reports what goes wrong.
    pub(super) fn with_file<T>(
        &self,
        id: FileId,
        read: impl FnOnce(&OpenFile) -> Result<T, Fault>,
    ) -> Option<T> {
        self.reported(id, self.try_with_file(id, read))
    }

    /// Returns the value of a result, or reports the fault of the file.
    pub(super) fn reported<T>(&self, id: FileId, result: Result<T, Fault>) -> Option<T> {
        result
            .inspect_err(|fault| {
                let path = self.inventory.file_path(id);
                (self.options.report)(FileFault {
                    path: path.path(),
                    fault: *fault,
                });
            })
            .ok()
    }

    /// As [`with_file`](Self::with_file), without a report.
    pub(super) fn try_with_file<T>(
        &self,
        id: FileId,
        read: impl FnOnce(&OpenFile) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let open = self.open_version(id)?;
        let result = read(&open)?;
        open.check_unchanged()?;
        Ok(result)
    }

    /// Opens a file, if it is still the version that was found.
    pub(super) fn open_version(&self, id: FileId) -> Result<OpenFile, Fault> {
        let file = self.inventory.file(id);
        let open = self.open(id)?;
        let device = self.inventory.devices[usize::from(file.device)].number;
        if file.is_version(open.version()) && device == Some(open.version().dev) {
            Ok(open)
        } else {
            Err(Fault::Changed)
        }
    }

    pub(super) fn open(&self, id: FileId) -> Result<OpenFile, Fault> {
        if self.options.stop.load(Ordering::Relaxed) {
            return Err(Fault::Open(Errno::CANCELED));
        }
        let file = self.inventory.file(id);
        let root = self.inventory.directory(file.dir).root as usize;
        let path = self.inventory.file_below_root(id);
        let root_path = Path::new(OsStr::from_bytes(&self.inventory.roots()[root].path));
        if path.is_empty() {
            return OpenFile::open(&OpenRoot::Working, root_path, &self.clocks);
        }
        let path = Path::new(OsStr::from_bytes(&path));
        let lock = &self.roots[root];
        let open = match lock.get() {
            Some(open) => open,
            None => match OpenRoot::open(root_path) {
                // A moment later it may be possible.
                Err(errno @ (Errno::MFILE | Errno::NFILE)) => return Err(Fault::Open(errno)),
                open => lock.get_or_init(|| open),
            },
        };
        match open {
            Ok(root) => OpenFile::open(root, path, &self.clocks),
            Err(errno) => Err(Fault::Open(*errno)),
        }
    }
}
