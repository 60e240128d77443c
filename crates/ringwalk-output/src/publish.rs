//! Files that appear whole: a crash at any moment leaves the old file or the new one.
//!
//! The new file has no name while it is written (`O_TMPFILE`). It is written to the disk, gets a
//! name, and takes the place of the old one. Without unnamed files, or without `/proc`, by which
//! they get a name, the new file has a name of its own from the beginning. It is removed after an
//! error.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use crate::rights::Rights;
use crate::{NotKept, Place};

/// The permissions of a new file, before the umask is applied.
const MODE: Mode = Mode::from_raw_mode(0o666);

/// The first permissions of a file that will get the permissions of an old file.
const OWN_MODE: Mode = Mode::from_raw_mode(0o600);

/// The folder in which the kernel lists the descriptors of the process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// The most names of crashed processes that are passed over.
const MOST_LEFT: u32 = 1000;

/// A file that has no place yet.
#[derive(Debug)]
pub struct Unpublished {
    place: Place,
    /// The folder of the place, open for fsync(2).
    folder: OwnedFd,
    /// The name that the file has meanwhile, if it could not be without one.
    temporary: Option<OsString>,
    file: File,
}

impl Unpublished {
    /// Creates a file that is to be published at `path`. A relative path is below the working
    /// directory. A symbolic link stays: the file that it leads to is replaced or created.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened or written to, or if `path` is not a regular file. Also if
    /// the folder is a sticky directory that others may write to, and the link or file there
    /// belongs to another user.
    pub fn new(path: &Path) -> io::Result<Self> {
        Self::with_mode(path, MODE)
    }

    /// As [`new`](Self::new), with permissions for a file that replaces no other one.
    ///
    /// # Errors
    ///
    /// The same as for [`new`](Self::new).
    pub fn with_mode(path: &Path, mode: Mode) -> io::Result<Self> {
        let place = Place::of(path)?;
        let mode = if place.old()?.is_some() {
            OWN_MODE
        } else {
            mode
        };
        let folder = place.readable_folder()?;
        let (file, temporary) = create(&folder, &place.name, mode)?;
        Ok(Self {
            place,
            folder,
            temporary,
            file,
        })
    }

    /// Returns the file, to be written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes the file to the disk, and puts it into its place. It gets owner, group, permissions
    /// and access control list of the file that it replaces. Returns which of these it could not
    /// get: then it has stricter permissions, and the user should know.
    ///
    /// # Errors
    ///
    /// If the data cannot be written, or a stranger has put a file at the place. The old file is
    /// still there then. If the folder cannot be written to the disk, the new file is there, and
    /// the error says so.
    pub fn publish(mut self) -> io::Result<Option<NotKept>> {
        let mut not_kept = None;
        let mut old = self.place.old()?;
        if old.is_none() && self.temporary.is_none() {
            self.file.sync_all()?;
            match self.link(&self.place.name) {
                Ok(()) => return self.sync_folder().map(|()| None),
                // Another process has made a file meanwhile.
                Err(Errno::EXIST) => old = self.place.old()?,
                Err(errno) => return Err(errno.into()),
            }
        }
        if let Some(old) = old {
            not_kept = Rights::of(&old, &self.place).give(&self.file)?;
        }
        self.file.sync_all()?;
        let temporary = match self.temporary.take() {
            Some(name) => name,
            None => with_free_name(&self.place.name, |name| self.link(name))?.1,
        };
        let name = &self.place.name;
        if let Err(errno) = renameat(&self.folder, &temporary, &self.folder, name) {
            self.temporary = Some(temporary);
            return Err(errno.into());
        }
        self.sync_folder().map(|()| not_kept)
    }

    /// Gives the unnamed file a name.
    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        let file = format!("{DESCRIPTORS}/{}", self.file.as_raw_fd());
        linkat(CWD, file, &self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }

    /// Writes the name to the disk.
    fn sync_folder(&self) -> io::Result<()> {
        match rustix::fs::fsync(&self.folder) {
            // The file system has no way to do this.
            Err(Errno::INVAL | Errno::NOTSUP) | Ok(()) => Ok(()),
            Err(errno) => {
                let why = format!("the file is written, but its folder cannot be synced: {errno}");
                Err(io::Error::other(why))
            }
        }
    }
}

impl Drop for Unpublished {
    fn drop(&mut self) {
        if let Some(name) = &self.temporary {
            // A file that stays behind is no wrong answer: nobody knows its name.
            let _ = unlinkat(&self.folder, name, AtFlags::empty());
        }
    }
}

fn create(folder: &OwnedFd, name: &OsStr, mode: Mode) -> io::Result<(File, Option<OsString>)> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let unnamed = if Path::new(DESCRIPTORS).is_dir() {
        openat(folder, c".", flags | OFlags::TMPFILE, mode)
    } else {
        Err(Errno::OPNOTSUPP)
    };
    match unnamed {
        Ok(fd) => Ok((fd.into(), None)),
        // Not offered here: some network file systems, FUSE, and kernels before 3.11.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
            let flags = flags | OFlags::CREATE | OFlags::EXCL;
            let create = |name: &OsStr| openat(folder, name, flags, mode);
            let (fd, temporary) = with_free_name(name, create)?;
            Ok((fd.into(), Some(temporary)))
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Makes a file under the first temporary name that is free. A crash leaves such a name behind, and
/// in a container the next process may have the same number.
fn with_free_name<T>(
    name: &OsStr,
    mut make: impl FnMut(&OsStr) -> Result<T, Errno>,
) -> Result<(T, OsString), Errno> {
    let mut attempt = 0;
    loop {
        let temporary = temporary_name(name, attempt);
        match make(&temporary) {
            Ok(file) => return Ok((file, temporary)),
            Err(Errno::EXIST) if attempt < MOST_LEFT => attempt += 1,
            Err(errno) => return Err(errno),
        }
    }
}

/// Returns a hidden name that no other process on this machine uses at the same time.
fn temporary_name(name: &OsStr, attempt: u32) -> OsString {
    let mut temporary = OsString::from(".");
    // A name has at most 255 bytes.
    let most = 200.min(name.len());
    let bytes = &name.as_encoded_bytes()[..most];
    temporary.push(
        String::from_utf8_lossy(bytes)
            .chars()
            .take(50)
            .collect::<String>(),
    );
    let process = std::process::id();
    temporary.push(match attempt {
        0 => format!(".{process}.new"),
        _ => format!(".{process}.{attempt}.new"),
    });
    temporary
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::io::Write;
    use std::os::unix::fs::PermissionsExt;

    fn write(path: &Path, text: &str) -> io::Result<()> {
        let file = Unpublished::new(path)?;
        file.file().write_all(text.as_bytes())?;
        file.publish().map(|not_kept| assert_eq!(not_kept, None))
    }

    #[test]
    fn files_are_created_and_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        for text in ["one", "two"] {
            write(&path, text).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn permissions_stay_when_a_file_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        for mode in [0o600, 0o640, 0o444] {
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            write(&path, "new").unwrap();
            let found = fs::metadata(&path).unwrap().permissions().mode();
            assert_eq!(found & 0o7777, mode);
        }
    }

    #[test]
    fn a_file_that_is_dropped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        write(&path, "old").unwrap();
        let file = Unpublished::new(&path).unwrap();
        file.file().write_all(b"new").unwrap();
        drop(file);
        assert_eq!(fs::read_to_string(&path).unwrap(), "old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn names_that_a_crash_has_left_behind_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        write(&path, "old").unwrap();
        for attempt in 0..2 {
            let left = temporary_name(OsStr::new("f"), attempt);
            fs::write(folder.path().join(left), "half").unwrap();
        }
        write(&path, "new").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[test]
    fn directories_and_missing_folders() {
        let folder = tempfile::tempdir().unwrap();
        let error = |path: &Path| Unpublished::new(path).unwrap_err().raw_os_error();
        assert_eq!(error(folder.path()), Some(Errno::ISDIR.raw_os_error()));
        let missing = folder.path().join("no/f");
        assert_eq!(error(&missing), Some(Errno::NOENT.raw_os_error()));
    }

    #[test]
    fn names_that_are_long() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("é".repeat(127));
        write(&path, "one").unwrap();
        write(&path, "two").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "two");
    }

    #[test]
    fn links_stay_and_devices_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("f"), folder.path().join("l"));
        write(&path, "old").unwrap();
        std::os::unix::fs::symlink("f", &link).unwrap();
        write(&link, "new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert!(write(Path::new("/dev/null"), "new").is_err());
    }
}
