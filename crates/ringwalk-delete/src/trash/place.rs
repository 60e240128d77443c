//! The directories of a trash: which one, whether it is safe, how it is opened.
//!
//! | trash | used if | paths in its records |
//! |---|---|---|
//! | `$XDG_DATA_HOME/Trash` | it is on the mount of the entry | absolute |
//! | `TOP/.Trash/UID` | `.Trash` exists, is no link, and has the sticky bit | relative to TOP |
//! | `TOP/.Trash-UID` | otherwise | relative to TOP |
//!
//! TOP is the mount point of the entry's file system. Directories that are missing are created with
//! mode 0700, except `.Trash`, which belongs to the administrator. None of them may be a symbolic
//! link, and each must belong to this user and be writable by no other. The specification asks for
//! the check of `.Trash` only. Without the other one, a user of a shared disk could create the
//! trash of another user beforehand, and receive the files.

use super::super::identity::Found;
use super::super::root::{open_directory, real_path};
use super::Reason;
use ringwalk::mounts::{self, Mount};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{Mode, OFlags, mkdirat, open};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsStr;
use std::fs::DirBuilder;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

/// The sticky bit: in such a directory users may delete only what is theirs.
const STICKY: u16 = 0o1000;
/// Permission for the group and others to write.
const WRITABLE_BY_OTHERS: u16 = 0o022;

/// Returns true if an absolute path lies in a trash of the specification, or is one of its two
/// directories.
pub(super) fn is_in_trash(path: &Path) -> bool {
    let names: Vec<_> = path.iter().map(OsStr::as_bytes).collect();
    (1..names.len()).any(|at| {
        let above = at.checked_sub(2).map(|above| names[above]);
        is_trash(names[at - 1], above) && matches!(names[at], b"files" | b"info")
    })
}

/// Returns true if a directory of this name, in one of the name `above`, is a trash: `Trash` in the
/// user's data, `.Trash-UID` at the top of a mount, or `.Trash/UID` there.
pub fn is_trash(name: &[u8], above: Option<&[u8]>) -> bool {
    let is_number = |name: &[u8]| !name.is_empty() && name.iter().all(u8::is_ascii_digit);
    name == b"Trash"
        || name.strip_prefix(b".Trash-").is_some_and(is_number)
        || is_number(name) && above == Some(b".Trash")
}

/// The trash of one mount.
pub(super) struct Bin {
    /// Id of the mount, or the device if there are no ids.
    mount: (Option<u64>, u64),
    path: PathBuf,
    /// The directory that recorded paths are relative to. `None`: they are absolute.
    top: Option<PathBuf>,
    files: OwnedFd,
    info: OwnedFd,
}

impl Bin {
    /// Returns the path of the trash, for the log.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the directory that entries are moved to.
    pub(super) fn files(&self) -> BorrowedFd<'_> {
        self.files.as_fd()
    }

    /// Returns the directory of the records.
    pub(super) fn info(&self) -> BorrowedFd<'_> {
        self.info.as_fd()
    }

    /// Returns the path of an entry as the record must have it.
    pub(super) fn recorded_path<'p>(&self, path: &'p Path) -> Option<&'p Path> {
        match &self.top {
            None => Some(path),
            Some(top) => path.strip_prefix(top).ok(),
        }
    }

    /// Opens the two directories of a trash.
    fn open(trash: &OwnedFd, path: PathBuf, top: Option<PathBuf>) -> Result<Self, Reason> {
        let found = Found::of(trash.as_fd()).map_err(failed)?;
        Ok(Self {
            mount: mount_of(&found),
            files: own_directory(trash.as_fd(), b"files")?,
            info: own_directory(trash.as_fd(), b"info")?,
            path,
            top,
        })
    }
}

/// The trashes that were opened: one, as all entries of a view are on the mount of its root.
pub(super) struct Bins {
    data_home: Option<PathBuf>,
    bin: Option<Bin>,
}

impl Bins {
    pub(super) fn new(data_home: Option<PathBuf>) -> Self {
        Self {
            data_home,
            bin: None,
        }
    }

    /// Returns the trash for an entry at this path.
    pub(super) fn of(
        &mut self,
        entry: &Found,
        path: &Path,
        table: &[Mount],
    ) -> Result<&Bin, Reason> {
        let is_right = |bin: &Bin| bin.mount == mount_of(entry);
        let bin = match self.bin.take().filter(is_right) {
            Some(bin) => bin,
            None => match self.home(entry)? {
                Some(bin) => bin,
                None => of_mount(entry, path, table)?,
            },
        };
        Ok(self.bin.insert(bin))
    }

    /// Opens the trash of the home if it is on the entry's mount.
    fn home(&self, entry: &Found) -> Result<Option<Bin>, Reason> {
        let Some(data_home) = &self.data_home else {
            return Ok(None);
        };
        // If that fails, opening does, too. The user may have put a link in place of this one.
        let _ = DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(data_home);
        let Ok(opened) = open_path(data_home) else {
            return Ok(None);
        };
        let found = Found::of(opened.as_fd()).map_err(failed)?;
        if mount_of(&found) != mount_of(entry) {
            return Ok(None);
        }
        let trash = own_directory(opened.as_fd(), b"Trash")?;
        Bin::open(&trash, data_home.join("Trash"), None).map(Some)
    }
}

/// Opens the trash at the top of the entry's mount.
fn of_mount(entry: &Found, path: &Path, table: &[Mount]) -> Result<Bin, Reason> {
    let mount = mounts::find(table, entry.mount, path).ok_or(Reason::NoTrash)?;
    let top = open_path(&mount.point).map_err(|_| Reason::NoTrash)?;
    let found = Found::of(top.as_fd()).map_err(failed)?;
    // Another mount may cover the mount point.
    if mount_of(&found) != mount_of(entry) {
        return Err(Reason::NoTrash);
    }
    let point = real_path(top.as_fd()).unwrap_or_else(|| mount.point.clone());
    let user = geteuid().as_raw().to_string();
    if let Ok(shared) = open_directory(top.as_fd(), b".Trash")
        && Found::of(shared.as_fd()).is_ok_and(|found| found.mode & STICKY != 0)
        && let Ok(trash) = own_directory(shared.as_fd(), user.as_bytes())
    {
        let path = point.join(".Trash").join(&user);
        return Bin::open(&trash, path, Some(point));
    }
    let name = format!(".Trash-{user}");
    let trash = own_directory(top.as_fd(), name.as_bytes())?;
    Bin::open(&trash, point.join(name), Some(point))
}

/// Opens a directory that must belong to this user alone. Creates it if it is missing.
fn own_directory(above: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Reason> {
    match mkdirat(above, OsStr::from_bytes(name), Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(failed(errno)),
    }
    let opened = open_directory(above, name).map_err(|errno| match errno {
        Errno::LOOP | Errno::NOTDIR | Errno::XDEV => Reason::UnsafeTrash,
        errno => failed(errno),
    })?;
    let found = Found::of(opened.as_fd()).map_err(failed)?;
    let is_own = found.owner == geteuid().as_raw() && found.mode & WRITABLE_BY_OTHERS == 0;
    if is_own {
        Ok(opened)
    } else {
        Err(Reason::UnsafeTrash)
    }
}

fn open_path(path: &Path) -> Result<OwnedFd, Errno> {
    open(
        path,
        OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC,
        Mode::empty(),
    )
}

fn mount_of(found: &Found) -> (Option<u64>, u64) {
    // The device of a file may be that of a layer below (overlayfs), so the id decides alone.
    let device = if found.mount.is_some() {
        0
    } else {
        found.device
    };
    (found.mount, device)
}

fn failed(errno: Errno) -> Reason {
    Reason::Failed {
        action: "use the trash",
        errno,
    }
}
