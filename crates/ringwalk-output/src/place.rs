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
mod tests {
    use super::*;
    use crate::Unpublished;
    use std::fs::{self, Permissions};
    use std::io::{ErrorKind, Write as _};
    use std::os::unix::fs::{PermissionsExt, chown, lchown, symlink};
    use tempfile::TempDir;

    const STRANGER: u32 = 2000;

    /// Returns a directory of root with these permissions, and a file `secret` in a closed
    /// directory beside it. `None` without root, whom the tests need to give files away.
    fn shared(mode: u32) -> Option<(TempDir, PathBuf)> {
        if !geteuid().is_root() {
            eprintln!("skipped: needs root");
            return None;
        }
        let top = tempfile::tempdir().unwrap();
        let folder = top.path().join("shared");
        for (name, mode) in [("shared", mode), ("closed", 0o700)] {
            fs::create_dir(top.path().join(name)).unwrap();
            fs::set_permissions(top.path().join(name), Permissions::from_mode(mode)).unwrap();
        }
        fs::write(top.path().join("closed/secret"), "old").unwrap();
        Some((top, folder))
    }

    fn write(path: &Path) -> Result<(), ErrorKind> {
        let written = Unpublished::new(path).and_then(|file| {
            file.file().write_all(b"new")?;
            file.publish().map(drop)
        });
        written.map_err(|error| error.kind())
    }

    #[test]
    fn links_and_files_of_strangers_are_refused_in_sticky_directories() {
        // Permissions of the directory; whether a stranger's link and a stranger's file are
        // refused.
        for (mode, link, file) in [
            (0o1777, true, true),
            (0o1770, false, true),
            (0o1755, false, false),
            (0o777, false, false),
        ] {
            let Some((top, folder)) = shared(mode) else {
                return;
            };
            let secret = top.path().join("closed/secret");
            let expected = |is_refused: bool| {
                let refused = Err(ErrorKind::PermissionDenied);
                if is_refused { refused } else { Ok(()) }
            };
            symlink("../closed/secret", folder.join("link")).unwrap();
            lchown(folder.join("link"), Some(STRANGER), None).unwrap();
            // The stranger's link is at the end of a link of the user's own.
            symlink("link", folder.join("own")).unwrap();
            for name in ["link", "own"] {
                fs::write(&secret, "old").unwrap();
                assert_eq!(write(&folder.join(name)), expected(link), "{mode:o} {name}");
                let text = fs::read_to_string(&secret).unwrap();
                assert_eq!(text, if link { "old" } else { "new" });
            }
            fs::write(folder.join("file"), "old").unwrap();
            chown(folder.join("file"), Some(STRANGER), None).unwrap();
            assert_eq!(write(&folder.join("file")), expected(file), "{mode:o}");
            let opened = Place::of(&folder.join("file")).unwrap();
            let opened = opened.open(OFlags::APPEND, Mode::RUSR).map(drop);
            assert_eq!(opened.map_err(|error| error.kind()), expected(file));
        }
    }

    #[test]
    fn links_and_files_of_the_user_and_of_the_directorys_owner_are_taken() {
        let Some((top, folder)) = shared(0o1777) else {
            return;
        };
        chown(&folder, Some(STRANGER), None).unwrap();
        for (name, owner) in [("own", 0), ("owners", STRANGER)] {
            let (file, link) = (folder.join(name), folder.join(format!("{name}-link")));
            fs::write(&file, "old").unwrap();
            chown(&file, Some(owner), None).unwrap();
            symlink("../closed/secret", &link).unwrap();
            lchown(&link, Some(owner), None).unwrap();
            assert_eq!(write(&file), Ok(()));
            assert_eq!(write(&link), Ok(()));
        }
        assert_eq!(
            fs::read_to_string(top.path().join("closed/secret")).unwrap(),
            "new"
        );
    }

    #[test]
    fn a_file_that_a_stranger_makes_meanwhile_stays() {
        let Some((_top, folder)) = shared(0o1777) else {
            return;
        };
        let path = folder.join("file");
        let file = Unpublished::new(&path).unwrap();
        fs::write(&path, "theirs").unwrap();
        chown(&path, Some(STRANGER), None).unwrap();
        let error = file.publish().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::PermissionDenied);
        assert_eq!(fs::read_to_string(&path).unwrap(), "theirs");
    }

    #[test]
    fn links_lead_to_other_folders_and_to_new_names_but_not_round() {
        let top = tempfile::tempdir().unwrap();
        fs::create_dir_all(top.path().join("a/b")).unwrap();
        symlink("b/c", top.path().join("a/one")).unwrap();
        symlink(top.path().join("a/one"), top.path().join("two")).unwrap();
        assert_eq!(write(&top.path().join("two")), Ok(()));
        assert_eq!(fs::read_to_string(top.path().join("a/b/c")).unwrap(), "new");
        symlink("round", top.path().join("round")).unwrap();
        let error = Place::of(&top.path().join("round")).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
    }

    #[test]
    fn files_are_opened_in_place_and_links_are_not() {
        let top = tempfile::tempdir().unwrap();
        let (file, link) = (top.path().join("file"), top.path().join("link"));
        for text in ["one", "two"] {
            let place = Place::exact(&file).unwrap();
            let mut opened = place.open(OFlags::APPEND, Mode::RUSR | Mode::WUSR).unwrap();
            opened.write_all(text.as_bytes()).unwrap();
        }
        assert_eq!(fs::read_to_string(&file).unwrap(), "onetwo");
        symlink("file", &link).unwrap();
        let place = Place::exact(&link).unwrap();
        let error = place.open(OFlags::APPEND, Mode::RUSR).unwrap_err();
        assert_eq!(Errno::from_io_error(&error), Some(Errno::LOOP));
    }

    #[test]
    fn the_name_of_a_directory_becomes_no_file() {
        let folder = tempfile::tempdir().unwrap();
        symlink("new/", folder.path().join("link")).unwrap();
        for name in ["new/", "new/.", "new//", "link", "..", "/"] {
            let written = write(&folder.path().join(name));
            assert_eq!(written, Err(ErrorKind::IsADirectory), "{name}");
            assert!(!folder.path().join("new").exists());
        }
    }
}
