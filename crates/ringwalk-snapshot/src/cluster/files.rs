//! The files in the folder of a walk: the only module that opens them.
//!
//! It opens each folder below that one by its descriptor, and follows no link. So neither a link
//! nor a name with `..` leads out of the folder. If something else, such as a FIFO, is in the place
//! of a file, it is neither read nor waited for.

use super::task_error::TaskError;
use rustix::fs::{
    Dir, FileType, Mode, OFlags, fcntl_getfl, fcntl_setfl, fstat, mkdirat, open, openat,
};
use rustix::io::Errno;
use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

const FOLDER: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);
/// Others may not write there, whatever the umask says.
const FOLDER_MODE: Mode = Mode::RWXU
    .union(Mode::RGRP)
    .union(Mode::XGRP)
    .union(Mode::ROTH)
    .union(Mode::XOTH);
const FILE_MODE: Mode = Mode::RUSR
    .union(Mode::WUSR)
    .union(Mode::RGRP)
    .union(Mode::ROTH);

/// Returns true if a path is one of something below a folder, by its text.
pub(super) fn is_below(name: &Path) -> bool {
    let mut parts = name.components().peekable();
    parts.peek().is_some() && parts.all(|part| matches!(part, Component::Normal(_)))
}

/// Opens a file for reading. `name` is its path below the folder.
///
/// # Errors
///
/// If it cannot be opened, or is no regular file.
pub(super) fn open_file(folder: &Path, name: &Path) -> Result<File, TaskError> {
    let path = folder.join(name);
    let not_regular = || TaskError::damaged(&path, "it is no regular file");
    let file = read_only(folder, name).map_err(|errno| match errno {
        // A link, or something else than a folder above it; a socket.
        Errno::LOOP | Errno::NOTDIR | Errno::NXIO => not_regular(),
        errno => TaskError::io(&path, errno.into()),
    })?;
    let status = fstat(&file).map_err(|errno| TaskError::io(&path, errno.into()))?;
    if FileType::from_raw_mode(status.st_mode) != FileType::RegularFile {
        return Err(not_regular());
    }
    Ok(file.into())
}

fn read_only(folder: &Path, name: &Path) -> rustix::io::Result<OwnedFd> {
    let (above, last) = place(folder, name)?;
    // The open of a FIFO must not wait for a writer.
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(&above, last, flags, Mode::empty())?;
    fcntl_setfl(&file, fcntl_getfl(&file)? - OFlags::NONBLOCK)?;
    Ok(file)
}

/// Creates a file that must not exist, to be written and read. `name` is its path below the folder.
pub(super) fn create_file(folder: &Path, name: &Path) -> io::Result<File> {
    let (above, last) = place(folder, name)?;
    let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
    Ok(openat(&above, last, flags, FILE_MODE)?.into())
}

/// Makes folders that are not there yet. `name` is the path of the last one below the folder.
pub(super) fn make_folders(folder: &Path, name: &Path) -> io::Result<()> {
    for name in name.ancestors().collect::<Vec<_>>().into_iter().rev() {
        if name.as_os_str().is_empty() {
            continue;
        }
        let (above, last) = place(folder, name)?;
        match mkdirat(&above, last, FOLDER_MODE) {
            Ok(()) | Err(Errno::EXIST) => (),
            Err(errno) => return Err(errno.into()),
        }
    }
    // The last one is no link.
    open_folder(folder, name)?;
    Ok(())
}

/// Returns the names in a folder below the folder, sorted. A folder that is missing has none.
pub(super) fn names(folder: &Path, name: &Path) -> io::Result<Vec<PathBuf>> {
    let opened = match open_folder(folder, name) {
        Err(Errno::NOENT) => return Ok(Vec::new()),
        opened => opened?,
    };
    let mut names = Vec::new();
    for entry in Dir::new(opened)? {
        let entry = entry?;
        let inner = Path::new(OsStr::from_bytes(entry.file_name().to_bytes()));
        if is_below(inner) {
            names.push(name.join(inner));
        }
    }
    names.sort();
    Ok(names)
}

/// Opens the folder of a file. Returns it, and the file's name there.
fn place<'n>(folder: &Path, name: &'n Path) -> rustix::io::Result<(OwnedFd, &'n OsStr)> {
    match (name.parent(), name.file_name()) {
        (Some(above), Some(last)) => Ok((open_folder(folder, above)?, last)),
        _ => Err(Errno::INVAL),
    }
}

/// Opens a folder below the folder, or the folder itself.
fn open_folder(folder: &Path, name: &Path) -> rustix::io::Result<OwnedFd> {
    let mut opened = open(folder, FOLDER, Mode::empty())?;
    for part in name.components() {
        let Component::Normal(part) = part else {
            return Err(Errno::INVAL);
        };
        opened = openat(&opened, part, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
    }
    Ok(opened)
}
