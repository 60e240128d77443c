//! The root of a view, and how a file below it is opened: one name at a time, never a path.

use super::identity::{Found, Identity};
use super::reason::Reason;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, ResolveFlags, open, openat2, readlinkat};
use rustix::io::Errno;
use std::ffi::OsString;
use std::fmt;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// Flags for directories: they are only passed through, so they need not be readable.
const DIRECTORY: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The directory that was shown as root. All deletions go through its open descriptor.
#[derive(Debug)]
pub struct Root {
    directory: OwnedFd,
    path: PathBuf,
    found: Found,
    /// The root and the other roots of the view.
    protected: Vec<Identity>,
}

/// Why nothing can be deleted below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootError {
    /// The path of the root.
    pub path: PathBuf,
    /// What is wrong with it.
    pub problem: RootProblem,
}

/// What is wrong with a root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RootProblem {
    /// It cannot be opened.
    Open(Errno),
    /// Another directory has its path now.
    Replaced,
    /// The system has no `openat2`, or a filter such as that of a container forbids it.
    NoOpenat2(Errno),
}

impl fmt::Display for RootError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let path = ringwalk_gnu::quote::file_always(self.path.as_os_str().as_encoded_bytes());
        match self.problem {
            RootProblem::Open(errno) => {
                let text = ringwalk_gnu::reason(&errno.into());
                write!(f, "cannot open {path}: {text}")
            }
            RootProblem::Replaced => {
                write!(
                    f,
                    "{path} is another directory than the one shown: read it again"
                )
            }
            RootProblem::NoOpenat2(errno) => {
                let text = ringwalk_gnu::reason(&errno.into());
                write!(
                    f,
                    "nothing below {path} can be deleted safely, as openat2 fails: {text}: use \
                     Linux 5.6 or later, or a container that allows openat2"
                )
            }
        }
    }
}

impl std::error::Error for RootError {}

impl Root {
    /// Opens the root that was shown.
    ///
    /// Symbolic links in `path` are followed, as they were when the tree was shown. The identity
    /// decides whether the directory is still the same.
    ///
    /// # Errors
    ///
    /// If the path cannot be opened or is another directory now, or the system lacks `openat2`.
    pub fn open(path: &Path, shown: Identity) -> Result<Self, RootError> {
        let failed = |problem| RootError {
            path: path.to_owned(),
            problem,
        };
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let open = || open(path, flags, Mode::empty());
        let directory = open().map_err(|errno| failed(RootProblem::Open(errno)))?;
        let found = Found::of(directory.as_fd()).map_err(|e| failed(RootProblem::Open(e)))?;
        if found.compare(shown, true).is_err() {
            return Err(failed(RootProblem::Replaced));
        }
        openat2(&directory, c".", DIRECTORY, Mode::empty(), beneath())
            .map_err(|errno| failed(RootProblem::NoOpenat2(errno)))?;
        // For messages, the log and the trash. Without /proc, or if the path is too long for one
        // call, the caller's path does.
        let real = real_path(directory.as_fd()).or_else(|| std::path::absolute(path).ok());
        Ok(Self {
            path: real.unwrap_or_else(|| path.to_owned()),
            protected: vec![shown],
            directory,
            found,
        })
    }

    /// Refuses the deletion of another root of the view, too.
    pub fn protect(&mut self, other_root: Identity) {
        self.protected.push(other_root);
    }

    /// Returns the absolute path that the root had when it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// Opens a directory by its name in the open directory above, and compares its identity.
    pub(super) fn enter(
        &self,
        above: BorrowedFd<'_>,
        name: &[u8],
        shown: Identity,
    ) -> Result<OwnedFd, Reason> {
        check_name(name)?;
        let opened = openat2(above, name, DIRECTORY, Mode::empty(), beneath());
        let opened = opened.map_err(|errno| match errno {
            Errno::XDEV => Reason::MountPoint,
            _ => Reason::of("open", errno),
        })?;
        let found = Found::of(opened.as_fd()).map_err(|errno| Reason::of("read", errno))?;
        self.check(&found, shown, true)?;
        Ok(opened)
    }

    /// Reads about a name in an open directory, and compares it with what was shown.
    pub(super) fn look(
        &self,
        directory: BorrowedFd<'_>,
        name: &[u8],
        shown: Identity,
        is_directory: bool,
    ) -> Result<Found, Reason> {
        check_name(name)?;
        let found = Found::at(directory, name).map_err(|errno| Reason::of("read", errno))?;
        self.check(&found, shown, is_directory)?;
        Ok(found)
    }

    fn check(&self, found: &Found, shown: Identity, is_directory: bool) -> Result<(), Reason> {
        // This comes before the comparison: the walk may have shown the mounted directory, or the
        // one below the mount.
        let is_on_mount = match (self.found.mount, found.mount) {
            (Some(root), Some(mount)) => root == mount,
            _ => true,
        };
        if found.is_mount_point || !is_on_mount {
            return Err(Reason::MountPoint);
        }
        // Subvolumes of btrfs differ in the device only. Files are not compared: on overlayfs they
        // may have the device of the layer below, and the mount id is the same as the root's.
        let must_compare = found.is_directory || found.mount.is_none();
        if must_compare && found.device != self.found.device {
            return Err(Reason::OtherFileSystem);
        }
        let is_protected =
            |root: &Identity| (root.device, root.inode) == (found.device, found.inode);
        if found.is_directory && self.protected.iter().any(is_protected) {
            return Err(Reason::Root);
        }
        found.compare(shown, is_directory)
    }
}

/// Returns the limits of each lookup: no way up, no symbolic link, no other mount.
pub(super) fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH
        | ResolveFlags::NO_SYMLINKS
        | ResolveFlags::NO_MAGICLINKS
        | ResolveFlags::NO_XDEV
}

/// Opens a directory by one name for passing through it. Checks nothing else.
pub(super) fn open_directory(above: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    openat2(above, name, DIRECTORY, Mode::empty(), beneath())
}

/// Returns the path of an open file as the kernel knows it. `None` without `/proc`, or if the path
/// is too long for one call.
pub fn real_path(file: BorrowedFd<'_>) -> Option<PathBuf> {
    let link = format!("/proc/self/fd/{}", file.as_raw_fd());
    let path = readlinkat(rustix::fs::CWD, link, Vec::new()).ok()?;
    let path = PathBuf::from(OsString::from_vec(path.into_bytes()));
    path.is_absolute().then_some(path)
}

/// A slash would make a path of a name, and `..` would leave the directory.
fn check_name(name: &[u8]) -> Result<(), Reason> {
    let is_wrong = matches!(name, b"" | b"." | b"..") || name.contains(&b'/') || name.contains(&0);
    if is_wrong { Err(Reason::Name) } else { Ok(()) }
}
