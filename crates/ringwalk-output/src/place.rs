//! Where a path leads, and what other users have put there.
//!
//! In a sticky directory that others may write to, such as `/tmp`, a stranger can put a link or a
//! file at the name of an output. The kernel refuses to follow such a link, and to open such a file
//! with `O_CREAT` (`may_follow_link` and `may_create_in_sticky` of `fs/namei.c`), if the sysctls
//! `fs.protected_symlinks`, `fs.protected_regular` and `fs.protected_fifos` ask for that. A file
//! that is replaced by a rename is not opened. So the rules of the kernel are applied here, in
//! their strictest form (level 2), whatever the sysctls say.

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::fs::{fstat, openat, readlinkat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

/// The most links that one path leads through, as in the kernel (`MAXSYMLINKS`).
const MOST_LINKS: usize = 40;

/// The owner that the kernel shows for users without a number in this user namespace. Two files of
/// this owner may belong to two users.
const UNMAPPED: u32 = 65534;

/// A folder and a name in it. The name is no link that is to be followed.
#[derive(Debug)]
pub struct Place {
    pub(crate) folder: OwnedFd,
    pub(crate) name: OsString,
}

impl Place {
    /// Returns the place that `path` leads to, by links too. A relative path is below the working
    /// directory. A link may lead to a name that is free.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened, or a link at the end of the path is a stranger's.
    pub fn of(path: &Path) -> io::Result<Self> {
        let mut place = Self::exact(path)?;
        for _ in 0..MOST_LINKS {
            let Some(target) = place.link()? else {
                return Ok(place);
            };
            place = Self::below(place.folder.as_fd(), &target)?;
        }
        Err(Errno::LOOP.into())
    }

    /// Returns the place of `path`, whose last component is not followed if it is a link.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened.
    pub fn exact(path: &Path) -> io::Result<Self> {
        Self::below(CWD, path)
    }

    fn below(folder: impl AsFd, path: &Path) -> io::Result<Self> {
        // The kernel makes no file of such a name. `file_name` leaves these ends out.
        let bytes = path.as_os_str().as_bytes();
        if bytes.ends_with(b"/") || bytes.ends_with(b"/.") {
            return Err(Errno::ISDIR.into());
        }
        let name = path.file_name().ok_or(Errno::ISDIR)?.to_owned();
        let parent = path.parent().filter(|path| !path.as_os_str().is_empty());
        // The folder of a link need not be readable.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = parent.unwrap_or(Path::new("."));
        let folder = openat(folder, parent, flags, Mode::empty())?;
        Ok(Self { folder, name })
    }

    /// Returns where the link at this place leads; `None` if there is no link.
    fn link(&self) -> io::Result<Option<PathBuf>> {
        let Some(found) = self.stat()? else {
            return Ok(None);
        };
        if FileType::from_raw_mode(found.st_mode) != FileType::Symlink {
            return Ok(None);
        }
        self.refuse_strangers(&found)?;
        let target = readlinkat(&self.folder, &self.name, Vec::new())?;
        Ok(Some(OsString::from_vec(target.into_bytes()).into()))
    }

    /// Returns the regular file at this place; `None` if there is none.
    ///
    /// # Errors
    ///
    /// If it is a stranger's, or no regular file: a device or a pipe must not become a file.
    pub(crate) fn old(&self) -> io::Result<Option<Stat>> {
        let Some(found) = self.stat()? else {
            return Ok(None);
        };
        match FileType::from_raw_mode(found.st_mode) {
            FileType::RegularFile => {}
            FileType::Directory => return Err(Errno::ISDIR.into()),
            _ => return Err(io::Error::other("not a regular file")),
        }
        self.refuse_strangers(&found)?;
        Ok(Some(found))
    }

    /// Opens the file at this place to read and write it, and creates it with `mode` if there is
    /// none. The call waits for no terminal, pipe or device. `flags` are added.
    ///
    /// # Errors
    ///
    /// If that fails, or the file is a link or a stranger's.
    pub fn open(&self, flags: OFlags, mode: Mode) -> io::Result<File> {
        let flags = flags | OFlags::RDWR | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = flags | OFlags::NOCTTY | OFlags::NONBLOCK;
        let new = flags | OFlags::CREATE | OFlags::EXCL;
        loop {
            match openat(&self.folder, &self.name, flags, Mode::empty()) {
                Ok(file) => {
                    self.refuse_strangers(&fstat(&file)?)?;
                    return Ok(file.into());
                }
                Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
            match openat(&self.folder, &self.name, new, mode) {
                Ok(file) => return Ok(file.into()),
                // Another process was faster.
                Err(Errno::EXIST) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
    }

    fn stat(&self) -> Result<Option<Stat>, Errno> {
        match statat(&self.folder, &self.name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Succeeds if the kernel would follow this link, or open this file with `O_CREAT`.
    fn refuse_strangers(&self, found: &Stat) -> io::Result<()> {
        let what = match FileType::from_raw_mode(found.st_mode) {
            FileType::Symlink => "link",
            FileType::RegularFile => "file",
            FileType::Fifo => "pipe",
            _ => return Ok(()),
        };
        // The kernel follows links where only the group may write.
        let others = if what == "link" { 0o002 } else { 0o022 };
        let folder = fstat(&self.folder)?;
        let is_shared = folder.st_mode & 0o1000 != 0 && folder.st_mode & others != 0;
        let is_folders = found.st_uid == folder.st_uid && found.st_uid != UNMAPPED;
        if !is_shared || is_folders || found.st_uid == geteuid().as_raw() {
            return Ok(());
        }
        Err(io::Error::new(
            io::ErrorKind::PermissionDenied,
            format!("the {what} belongs to another user, and others may write to its folder"),
        ))
    }

    /// Returns the folder, open for fsync(2).
    pub(crate) fn readable_folder(&self) -> Result<OwnedFd, Errno> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&self.folder, c".", flags, Mode::empty())
    }
}

#[cfg(test)]
mod tests;
