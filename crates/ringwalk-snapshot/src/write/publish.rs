//! Files that appear whole: a crash at any moment leaves the old file or the new one.
//!
//! The new file has no name while it is written (`O_TMPFILE`). It is written to the disk, gets a
//! name, and takes the place of the old one. Without unnamed files, or without `/proc`, by which
//! they get a name, the new file has a name of its own from the beginning. It is removed after an
//! error.

use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, open, openat, renameat, unlinkat};
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// The permissions of a new file, less those of the umask.
const MODE: Mode = Mode::from_raw_mode(0o666);

/// The bits of a mode that are permissions.
const PERMISSIONS: u32 = 0o777;

/// The folder in which the kernel lists the descriptors of the process.
const DESCRIPTORS: &str = "/proc/self/fd";

/// The most names of crashed processes that are passed over.
const MOST_LEFT: u32 = 1000;

/// A file that has no place yet.
#[derive(Debug)]
pub struct Unpublished {
    folder: OwnedFd,
    name: OsString,
    /// The name that the file has meanwhile, if it could not be without one.
    temporary: Option<OsString>,
    file: File,
}

impl Unpublished {
    /// Creates a file that is to be published at `path`. A relative path is below the working
    /// directory. The file has the permissions of the one that it will replace.
    ///
    /// # Errors
    ///
    /// If the folder cannot be opened or written to, or if `path` is no regular file. A symbolic
    /// link stays: the file that it leads to is replaced.
    pub fn new(path: &Path) -> io::Result<Self> {
        let resolved = match fs::symlink_metadata(path) {
            Ok(old) if old.is_symlink() => fs::canonicalize(path)?,
            _ => path.to_owned(),
        };
        let path = resolved.as_path();
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::from(Errno::ISDIR))?;
        let old = match fs::metadata(path) {
            Ok(old) if old.is_dir() => return Err(Errno::ISDIR.into()),
            // A device or a pipe must not become a file.
            Ok(old) if !old.is_file() => return Err(io::Error::other("not a regular file")),
            Ok(old) => Some(old),
            // What is wrong with the path comes up when the file is created.
            Err(_) => None,
        };
        let folder_path = match path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let folder = open(folder_path, flags, Mode::empty())?;
        let (file, temporary) = create(&folder, name)?;
        let new = Self {
            folder,
            name: name.to_owned(),
            temporary,
            file,
        };
        // Who could not read the old file must not read the new one.
        if let Some(old) = old {
            let mode = old.permissions().mode() & PERMISSIONS;
            new.file.set_permissions(Permissions::from_mode(mode))?;
        }
        Ok(new)
    }

    /// Returns the file, to be written.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Writes the file to the disk, and puts it into its place.
    ///
    /// # Errors
    ///
    /// If the data or the folder cannot be written. The old file is still there then.
    pub fn publish(mut self) -> io::Result<()> {
        self.file.sync_all()?;
        let temporary = match self.temporary.take() {
            Some(name) => name,
            None => match self.link(&self.name) {
                // There was no old file.
                Ok(()) => return self.sync_folder(),
                Err(Errno::EXIST) => with_free_name(&self.name, |name| self.link(name))?.1,
                Err(errno) => return Err(errno.into()),
            },
        };
        if let Err(errno) = renameat(&self.folder, &temporary, &self.folder, &self.name) {
            self.temporary = Some(temporary);
            return Err(errno.into());
        }
        self.sync_folder()
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
            Err(errno) => Err(errno.into()),
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

fn create(folder: &OwnedFd, name: &OsStr) -> io::Result<(File, Option<OsString>)> {
    let flags = OFlags::RDWR | OFlags::CLOEXEC;
    let unnamed = if Path::new(DESCRIPTORS).is_dir() {
        openat(folder, c".", flags | OFlags::TMPFILE, MODE)
    } else {
        Err(Errno::OPNOTSUPP)
    };
    match unnamed {
        Ok(fd) => Ok((fd.into(), None)),
        // Not offered here: some network file systems, FUSE, and kernels before 3.11.
        Err(Errno::OPNOTSUPP | Errno::ISDIR | Errno::NOENT | Errno::INVAL) => {
            let flags = flags | OFlags::CREATE | OFlags::EXCL;
            let create = |name: &OsStr| openat(folder, name, flags, MODE);
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
mod tests;
