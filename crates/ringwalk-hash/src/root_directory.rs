//! The directory of a root. A process keeps few of them open, however many roots there are.

use crate::open_file::open_long;
use ringwalk::Errno;
use rustix::fs::{CWD, OFlags};
use rustix::process::{Resource, getrlimit};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The most roots that a process keeps open. Each other one takes two more calls for each file.
const MOST_OPEN: usize = 64;

/// The roots that are kept open.
static OPEN: AtomicUsize = AtomicUsize::new(0);

/// Returns how many roots the process keeps open: a sixteenth of its descriptors (`RLIMIT_NOFILE`),
/// at most 64.
pub fn most_open_roots() -> usize {
    let limit = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(limit / 16).map_or(MOST_OPEN, |most| most.min(MOST_OPEN))
}

/// The directory of a root. It is kept open if [`most_open_roots`] are not open yet. Otherwise it
/// is opened by its path each time: another directory may have the path by then, so the caller must
/// compare the files below it with those that it means.
#[derive(Debug)]
pub struct RootDirectory {
    path: PathBuf,
    open: Option<OpenRootDirectory>,
}

/// A directory that counts in [`OPEN`].
#[derive(Debug)]
struct OpenRootDirectory(OwnedFd);

impl OpenRootDirectory {
    fn new(directory: OwnedFd) -> Option<Self> {
        // Relaxed: the number says nothing about other memory.
        if OPEN.fetch_add(1, Ordering::Relaxed) >= most_open_roots() {
            OPEN.fetch_sub(1, Ordering::Relaxed);
            return None;
        }
        Some(Self(directory))
    }
}

impl Drop for OpenRootDirectory {
    fn drop(&mut self) {
        OPEN.fetch_sub(1, Ordering::Relaxed);
    }
}

impl RootDirectory {
    /// Opens the directory at `path`. Symbolic links are followed.
    ///
    /// # Errors
    ///
    /// The errors of open(2).
    pub fn open(path: &Path) -> Result<Self, Errno> {
        let directory = open(path)?;
        Ok(Self {
            path: path.to_owned(),
            open: OpenRootDirectory::new(directory),
        })
    }

    /// Calls `f` with the directory, open for lookups only (`O_PATH`).
    ///
    /// # Errors
    ///
    /// The errors of `f`, and the errors of open(2) if the directory was not kept open.
    pub fn with<T>(&self, f: impl FnOnce(BorrowedFd<'_>) -> Result<T, Errno>) -> Result<T, Errno> {
        match &self.open {
            Some(directory) => f(directory.0.as_fd()),
            None => f(open(&self.path)?.as_fd()),
        }
    }
}

fn open(path: &Path) -> Result<OwnedFd, Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    open_long(CWD, path, flags, false)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, openat};

    #[test]
    fn few_roots_stay_open_and_all_can_be_used() {
        let folder = tempfile::tempdir().unwrap();
        let roots: Vec<_> = (0..2 * MOST_OPEN)
            .map(|number| {
                let path = folder.path().join(number.to_string());
                std::fs::create_dir(&path).unwrap();
                std::fs::write(path.join("file"), "").unwrap();
                RootDirectory::open(&path).unwrap()
            })
            .collect();
        // Other tests of this process may have some open.
        let open = roots.iter().filter(|root| root.open.is_some()).count();
        assert!((1..=most_open_roots()).contains(&open), "{open}");
        for root in &roots {
            let file = root.with(|at| openat(at, c"file", OFlags::RDONLY, Mode::empty()));
            file.unwrap();
        }
        drop(roots);
        let path = folder.path().join("0");
        assert!(RootDirectory::open(&path).unwrap().open.is_some());
        assert_eq!(
            RootDirectory::open(&path.join("file")).unwrap_err(),
            Errno::NOTDIR
        );
    }
}
