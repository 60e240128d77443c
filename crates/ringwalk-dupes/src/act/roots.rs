//! The roots, and how a file below them is found: one name at a time, never a path.

use super::group::Name;
use super::reason::Reason;
use ringwalk::Errno;
use ringwalk_delete::real_path;
use ringwalk_hash::RootDirectory;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, ResolveFlags, openat2, statat};
use rustix::io::fcntl_dupfd_cloexec;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

/// Flags for directories: they are only passed through, so they need not be readable.
const DIRECTORY: OFlags = OFlags::PATH
    .union(OFlags::DIRECTORY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The roots of a search. They are best opened before the search.
#[derive(Debug)]
pub struct Roots(Vec<Root>);

#[derive(Debug)]
struct Root {
    /// The path as it was given.
    given: Vec<u8>,
    /// The root, or the directory that it lies in.
    directory: Result<RootDirectory, Reason>,
    /// The absolute path of the directory, for the log.
    path: PathBuf,
    /// The name of a root that is no directory.
    name: Option<Vec<u8>>,
}

impl Roots {
    /// Opens roots. Symbolic links in their paths are followed, but a root that is itself a link to
    /// a file is never changed. A root that cannot be opened is the reason why each file below it
    /// is kept.
    pub fn open<P: AsRef<Path>>(paths: impl IntoIterator<Item = P>) -> Self {
        let paths = paths.into_iter();
        Self(paths.map(|path| Root::open(path.as_ref())).collect())
    }

    /// Returns the number of the root with this path.
    pub(super) fn number(&self, given: &[u8]) -> Option<usize> {
        self.0.iter().position(|root| root.given == given)
    }

    /// Returns the absolute path of a name, for the log.
    pub fn path(&self, name: &Name) -> PathBuf {
        let path = Path::new(OsStr::from_bytes(&name.path));
        let Some(root) = self.0.get(name.root) else {
            return path.to_owned();
        };
        match &root.name {
            Some(name) => root.path.join(OsStr::from_bytes(name)),
            None => root.path.join(path),
        }
    }

    /// Opens the directory of a name. Returns it, and the last component.
    pub(super) fn find(&self, name: &Name) -> Result<(OwnedFd, Vec<u8>), Reason> {
        let root = self.0.get(name.root).ok_or(Reason::Name)?;
        let above = root.directory.as_ref().map_err(Reason::clone)?;
        let (parents, last) = match (&root.name, name.path.iter().rposition(|b| *b == b'/')) {
            (Some(last), _) if name.path.is_empty() => (None, last.as_slice()),
            (Some(_), _) => return Err(Reason::Name),
            (None, Some(slash)) => (Some(&name.path[..slash]), &name.path[slash + 1..]),
            (None, None) => (None, name.path.as_slice()),
        };
        check(last)?;
        let parents = parents.map(|parents| parents.split(|byte| *byte == b'/'));
        let failed = |errno| Reason::of("open", errno);
        // Its version says whether the file is the one that is meant.
        let mut directory = above
            .with(|above| fcntl_dupfd_cloexec(above, 0))
            .map_err(failed)?;
        for parent in parents.into_iter().flatten() {
            check(parent)?;
            let next = openat2(&directory, parent, DIRECTORY, Mode::empty(), beneath());
            directory = next.map_err(|errno| match failed(errno) {
                Reason::Missing | Reason::Replaced => Reason::PathChanged,
                other => other,
            })?;
        }
        Ok((directory, last.to_owned()))
    }
}

impl Root {
    fn open(path: &Path) -> Self {
        let is_directory = statat(CWD, path, AtFlags::empty())
            .map(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Directory);
        let (place, name) = match (is_directory, path.file_name()) {
            (Ok(false), Some(name)) => (path.parent().unwrap_or(path), Some(name)),
            _ => (path, None),
        };
        let place = if place.as_os_str().is_empty() {
            Path::new(".")
        } else {
            place
        };
        let directory = RootDirectory::open(place).map_err(Reason::Root);
        let mut real = None;
        let directory = directory.and_then(|directory| {
            let tried = directory.with(|at| {
                real = real_path(at);
                openat2(at, c".", DIRECTORY, Mode::empty(), beneath())
            });
            match tried {
                Err(Errno::NOSYS | Errno::PERM) => Err(Reason::NoOpenat2),
                // A directory that may not be entered: its files say so.
                _ => Ok(directory),
            }
        });
        Self {
            given: path.as_os_str().as_bytes().to_vec(),
            directory,
            path: real
                .or_else(|| std::path::absolute(place).ok())
                .unwrap_or_else(|| place.to_owned()),
            name: name.map(|name| name.as_bytes().to_vec()),
        }
    }
}

/// Returns the limits of each lookup: no way up, no symbolic link. Mounts are passed, as by the
/// search: the version of each file is compared, with its device.
pub(super) fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS
}

/// `..` would leave the directory.
fn check(name: &[u8]) -> Result<(), Reason> {
    let is_wrong = matches!(name, b"" | b"." | b"..") || name.contains(&0);
    if is_wrong { Err(Reason::Name) } else { Ok(()) }
}
