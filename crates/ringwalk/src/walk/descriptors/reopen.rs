//! Opening directories, and finding a directory again whose descriptor was closed.

use crate::visit::dir::{Dir, Origin};
use crate::visit::error::{Failure, Operation};
use crate::visit::metadata::Identity;
use ringwalk_sys::DirectoryFd;
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;
use std::os::fd::AsFd;
use std::sync::Arc;

/// Flags that open a directory for reading, never through a symbolic link. Children of the process
/// do not inherit the descriptor.
pub(crate) const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// Opens a directory, through a symbolic link only if the walk follows it.
///
/// # Errors
///
/// The errors of openat(2), except `EINTR`.
pub(crate) fn open_directory(
    at: impl AsFd,
    name: impl Arg + Copy,
    follow: bool,
) -> Result<Arc<DirectoryFd>, Errno> {
    let flags = if follow {
        DIRECTORY_FLAGS.difference(OFlags::NOFOLLOW)
    } else {
        DIRECTORY_FLAGS
    };
    let fd = retry_on_intr(|| openat(at.as_fd(), name, flags, Mode::empty()))?;
    Ok(Arc::new(fd.into()))
}

/// Opens a directory again whose descriptor was closed.
pub(super) fn reopen<S>(dir: &Dir<S>) -> Result<Arc<DirectoryFd>, Failure> {
    let failed = |errno| Failure {
        operation: Operation::Open,
        errno,
    };
    let mut down = Vec::new();
    let mut above = dir;
    let mut fd = loop {
        if let Some(fd) = &above.slot.lock().fd {
            break Arc::clone(fd);
        }
        match (&above.origin, above.parent()) {
            (Origin::RootFd(fd), _) => break Arc::clone(fd),
            (Origin::Entry { .. }, Some(parent)) => {
                down.push(above);
                above = parent;
            }
            (origin, _) => {
                let follow = matches!(origin, Origin::RootPath { follow: true });
                break open_directory(CWD, above.c_name(), follow).map_err(failed)?;
            }
        }
    };
    let mut path = ComponentPath::default();
    for dir in down.iter().rev() {
        if matches!(dir.origin, Origin::Entry { follow: true, .. }) {
            fd = path.open(fd).map_err(failed)?;
            fd = open_directory(&fd, dir.c_name(), true).map_err(failed)?;
        } else {
            // The name of a directory that the walk goes on with has several components.
            for name in dir.name().split(|byte| *byte == b'/') {
                fd = path.push(fd, name).map_err(failed)?;
            }
        }
    }
    fd = path.open(fd).map_err(failed)?;
    let same = dir.slot.identity() == Some(identity(&fd).map_err(failed)?);
    if same {
        Ok(fd)
    } else {
        Err(failed(Errno::NOENT))
    }
}

/// Opens the directory at a path below another one, through no symbolic link.
///
/// # Errors
///
/// The errors of openat2(2).
pub(crate) fn open_beneath(
    root: &Arc<DirectoryFd>,
    path: &[u8],
) -> Result<Arc<DirectoryFd>, Errno> {
    let mut fd = Arc::clone(root);
    let mut components = ComponentPath::default();
    for name in path.split(|byte| *byte == b'/') {
        fd = components.push(fd, name)?;
    }
    components.open(fd)
}

/// Returns device and inode number of an open directory.
pub(crate) fn identity(fd: impl AsFd) -> Result<Identity, Errno> {
    let stat = retry_on_intr(|| rustix::fs::fstat(&fd))?;
    Ok(Identity {
        dev: stat.st_dev,
        ino: stat.st_ino,
    })
}

/// Path components that are opened together, at most `PATH_MAX` bytes of them in one call.
#[derive(Default)]
struct ComponentPath {
    bytes: Vec<u8>,
}

impl ComponentPath {
    /// The kernel's `PATH_MAX`, NUL included.
    const MOST: usize = 4096;

    /// Adds a component. If the path would become too long, opens the components before it first.
    fn push(&mut self, mut fd: Arc<DirectoryFd>, name: &[u8]) -> Result<Arc<DirectoryFd>, Errno> {
        if self.bytes.len() + 1 + name.len() + 1 > Self::MOST {
            fd = self.open(fd)?;
        }
        if !self.bytes.is_empty() {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(name);
        Ok(fd)
    }

    /// Opens the components below `fd`. Returns `fd` itself if there are no components.
    fn open(&mut self, fd: Arc<DirectoryFd>) -> Result<Arc<DirectoryFd>, Errno> {
        if self.bytes.is_empty() {
            return Ok(fd);
        }
        let path = std::mem::take(&mut self.bytes);
        let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::BENEATH;
        let opened =
            retry_on_intr(|| openat2(&fd, &path[..], DIRECTORY_FLAGS, Mode::empty(), resolve));
        match opened {
            Ok(fd) => Ok(Arc::new(fd.into())),
            // The kernel is older than Linux 5.6, or a seccomp filter does not know the call: the
            // components are opened one by one.
            Err(Errno::NOSYS | Errno::PERM) => {
                let mut fd = fd;
                for name in path.split(|byte| *byte == b'/') {
                    fd = open_directory(&fd, name, false)?;
                }
                Ok(fd)
            }
            Err(errno) => Err(errno),
        }
    }
}
