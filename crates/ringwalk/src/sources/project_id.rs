//! Project ids, which statx(2) does not return: one more call for each entry, if a caller asks.
//!
//! ext4 and XFS read past the VFS bring the project ids of regular files and directories along.
//! This module asks the kernel for all others. It adds an id to metadata, or leaves
//! [`Fields::PROJECT_ID`] out of the mask where the id cannot be known:
//!
//! - the file system has no project ids, or has none for links and special files (ext4, btrfs);
//! - the kernel is older than 6.17, and the file is a link or a special file, or may not be opened;
//! - the file was replaced since `statx` was called, and this module opened it to ask.
//!
//! `file_getattr` looks up the name again. If another file has taken the name since `statx`, the id
//! is the id of that file. A call that fails for another reason, such as `EIO`, is an error of the
//! entry.
//!
//! `file_getattr(2)` (Linux 6.17) is asked first: it opens nothing. Without that call the file is
//! opened for `FS_IOC_FSGETXATTR`. Opening a device or a FIFO can have effects, so only a regular
//! file or a directory is opened: `O_PATH` gets hold of the file without opening it, and its type
//! and identity are checked before it is opened through `/proc/self/fd`.

use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::visit::metadata::{Fields, Identity, Metadata};
use ringwalk_sys::RawFileType as FileType;
use ringwalk_sys::{project_id, project_id_at};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, fstat, openat};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// True once the kernel turns out to have no `file_getattr`.
static WITHOUT_CALL: AtomicBool = AtomicBool::new(false);

/// Adds the project id to the metadata of each entry that has metadata and lacks the id. Returns
/// the number of calls.
#[cold]
pub(crate) fn add_to_entries(raw: &mut RawBatch, place: NamesAt<'_>) -> u64 {
    let RawBatch {
        records,
        known,
        failed,
        ..
    } = raw;
    let mut calls = 0;
    for (index, known) in known.iter_mut().enumerate() {
        let (metadata, follow) = match known {
            Known::Metadata(metadata) => (metadata, false),
            Known::Followed(metadata) => (metadata, true),
            Known::Nothing | Known::Failed(_) => continue,
        };
        if !metadata.mask.contains(Fields::PROJECT_ID) {
            calls += 1;
            if let Err(errno) = add_at(metadata, place, index, records.name(index), follow) {
                *known = Known::Failed(errno);
                *failed += 1;
            }
        }
    }
    calls
}

/// Adds the project id of the entry `index` of `place` to its metadata.
///
/// # Errors
///
/// The errors of [`add`], and of opening the directory again.
pub(crate) fn add_at(
    metadata: &mut Metadata,
    place: NamesAt<'_>,
    index: usize,
    name: &CStr,
    follow: bool,
) -> Result<(), Errno> {
    match place {
        NamesAt::Directory(fd) => add(metadata, fd, name, follow),
        NamesAt::Unopened(directory) => match directory.open() {
            Ok(fd) => add(metadata, fd, name, follow),
            Err(errno) => unknown(errno).map(|_| ()),
        },
        NamesAt::Roots(roots) => match &roots[index].fd {
            Some(fd) => add(metadata, fd, c"", follow),
            None => add(metadata, CWD, name, follow),
        },
    }
}

/// Adds the project id of the file with this metadata: `name` below `base`, or `base` itself if the
/// name is empty.
///
/// # Errors
///
/// If a call fails, for example with `EIO` or `EMFILE`. An id that cannot be known is no failure.
pub(crate) fn add(
    metadata: &mut Metadata,
    base: impl AsFd,
    name: &CStr,
    follow: bool,
) -> Result<(), Errno> {
    // A descriptor may be one of `O_PATH`, which the kernel takes with a name only.
    let name = if name.is_empty() { c"." } else { name };
    if let Some(id) = ask(metadata, base.as_fd(), name, follow)? {
        metadata.project_id = id;
        metadata.mask |= Fields::PROJECT_ID;
    }
    Ok(())
}

/// Returns `None` after an error that leaves the id unknown: the file system has no ids, the file
/// may not be opened, or it has gone or become another. Returns any other error.
fn unknown(errno: Errno) -> Result<Option<u32>, Errno> {
    match errno {
        Errno::OPNOTSUPP
        | Errno::NOTTY
        | Errno::INVAL
        | Errno::NOSYS
        | Errno::ACCESS
        | Errno::PERM
        | Errno::NOENT
        | Errno::NOTDIR
        | Errno::LOOP => Ok(None),
        other => Err(other),
    }
}

/// Returns the project id, or `None` where it cannot be known.
fn ask(
    metadata: &Metadata,
    base: BorrowedFd<'_>,
    name: &CStr,
    follow: bool,
) -> Result<Option<u32>, Errno> {
    if !WITHOUT_CALL.load(Relaxed) {
        let mut flags = AtFlags::empty();
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        match retry_on_intr(|| project_id_at(base, name, flags)) {
            Ok(id) => return Ok(Some(id)),
            Err(Errno::NOSYS) => WITHOUT_CALL.store(true, Relaxed),
            // A filter of system calls answers this as well, so the file is opened.
            Err(Errno::PERM) => {}
            Err(errno) => return unknown(errno),
        }
    }
    open_and_ask(metadata, base, name, follow)
}

/// Returns the project id of a regular file or a directory, which is opened; `None` where it cannot
/// be known.
fn open_and_ask(
    metadata: &Metadata,
    base: BorrowedFd<'_>,
    name: &CStr,
    follow: bool,
) -> Result<Option<u32>, Errno> {
    if !is_file_or_directory(metadata.mode) {
        return Ok(None);
    }
    let mut flags = OFlags::PATH | OFlags::CLOEXEC;
    flags.set(OFlags::NOFOLLOW, !follow);
    let path = match retry_on_intr(|| openat(base, name, flags, Mode::empty())) {
        Ok(path) => path,
        Err(errno) => return unknown(errno),
    };
    let stat = fstat(&path)?;
    let found = Identity {
        dev: stat.st_dev,
        ino: stat.st_ino,
    };
    if metadata.identity() != Some(found) || !is_file_or_directory(stat.st_mode) {
        return Ok(None);
    }
    let path = format!("/proc/self/fd/{}", path.as_raw_fd());
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    retry_on_intr(|| openat(CWD, &path, flags, Mode::empty()))
        .and_then(|file| retry_on_intr(|| project_id(&file)))
        .map(Some)
        .or_else(unknown)
}

/// Returns true for a regular file or a directory. Every kernel returns the project ids of these. A
/// source that has ids leaves other types to the kernel, so that a directory looks the same from
/// every source.
#[inline]
pub(crate) fn is_file_or_directory(mode: u32) -> bool {
    matches!(
        FileType::from_mode(mode),
        FileType::Regular | FileType::Directory
    )
}

#[cfg(test)]
mod tests {
    //! Unit tests of `project_id.rs`. `tests/library/test_project_id.py` has file systems with
    //! project ids other than 0.

    use super::*;
    use crate::{Directory, EntryBuffer, Flow, Visitor, Walk};
    use std::collections::BTreeMap;
    use std::fs::File;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::symlink;
    use std::path::Path;
    use tempfile::TempDir;

    /// Returns a directory with a file, a directory, a link to the file, a link to nothing, a FIFO
    /// and a socket.
    fn tree() -> TempDir {
        let top = tempfile::tempdir().unwrap();
        std::fs::write(top.path().join("file"), b"12345").unwrap();
        std::fs::create_dir(top.path().join("directory")).unwrap();
        symlink("file", top.path().join("link")).unwrap();
        symlink("nothing", top.path().join("dangling")).unwrap();
        let fifo = top.path().join("fifo");
        rustix::fs::mknodat(
            CWD,
            &fifo,
            rustix::fs::FileType::Fifo,
            Mode::RUSR | Mode::WUSR,
            0,
        )
        .unwrap();
        std::os::unix::net::UnixListener::bind(top.path().join("socket")).unwrap();
        top
    }

    fn look(path: &Path) -> Metadata {
        Metadata::of_path(None, path, false, Fields::STATX).unwrap()
    }

    /// Returns the ids that the kernel has for an open file; `None` if its file system has none.
    fn of_open(path: &Path) -> Option<u32> {
        project_id(File::open(path).unwrap()).ok()
    }

    #[test]
    fn it_is_that_of_the_open_file_and_comes_only_if_asked_for() {
        let top = tree();
        for name in ["file", "directory"] {
            let path = top.path().join(name);
            let asked = Metadata::of_path(None, &path, false, Fields::PROJECT_ID).unwrap();
            let known = asked.mask.contains(Fields::PROJECT_ID);
            assert_eq!(known.then_some(asked.project_id), of_open(&path));
            assert!(!look(&path).mask.contains(Fields::PROJECT_ID));
        }
    }

    #[test]
    fn opening_gives_what_the_call_by_name_gives() {
        let top = tree();
        let base = File::open(top.path()).unwrap();
        for name in [c"file", c"directory"] {
            let path = top.path().join(name.to_str().unwrap());
            let opened = open_and_ask(&look(&path), base.as_fd(), name, false);
            assert_eq!(opened, Ok(of_open(&path)));
            assert_eq!(ask(&look(&path), base.as_fd(), name, false), opened);
        }
    }

    #[test]
    fn special_files_and_links_are_not_opened() {
        let top = tree();
        let base = File::open(top.path()).unwrap();
        // Opening the FIFO for reading would succeed without a writer, so the answer shows whether
        // it was opened.
        for name in [c"fifo", c"socket", c"link", c"dangling"] {
            let path = top.path().join(name.to_str().unwrap());
            assert_eq!(
                open_and_ask(&look(&path), base.as_fd(), name, false),
                Ok(None)
            );
        }
    }

    #[test]
    fn a_file_that_has_taken_the_place_of_another_is_not_asked() {
        let top = tree();
        let base = File::open(top.path()).unwrap();
        let file = look(&top.path().join("file"));
        for name in [c"directory", c"fifo", c"link"] {
            assert_eq!(open_and_ask(&file, base.as_fd(), name, false), Ok(None));
        }
        // The link leads to that file.
        let through = open_and_ask(&file, base.as_fd(), c"link", true);
        assert_eq!(through, Ok(of_open(&top.path().join("file"))));
    }

    #[test]
    fn only_errors_that_say_why_leave_the_id_unknown() {
        for errno in [Errno::OPNOTSUPP, Errno::NOTTY, Errno::ACCESS, Errno::NOENT] {
            assert_eq!(unknown(errno), Ok(None));
        }
        for errno in [Errno::IO, Errno::NOMEM, Errno::MFILE, Errno::NFILE] {
            assert_eq!(unknown(errno), Err(errno));
        }
    }

    /// The names of entries, and their metadata.
    #[derive(Default)]
    struct Seen(BTreeMap<Vec<u8>, Metadata>);

    impl Visitor for Seen {
        type State = ();

        fn batch(&mut self, batch: &crate::Batch<'_, ()>) -> Flow {
            for entry in batch.entries() {
                self.0
                    .insert(entry.path(), *entry.metadata().expect("asked for"));
            }
            Flow::Continue
        }
    }

    #[test]
    fn a_walk_and_a_directory_have_it_for_entries_and_roots() {
        let top = tree();
        let walk = Walk::new(top.path()).fields(Fields::PROJECT_ID);
        let seen = walk.run(|_| Seen::default()).visitors.remove(0).0;
        let directory = Directory::open(top.path()).unwrap();
        let mut entries = EntryBuffer::new();
        directory
            .read_plus(Fields::PROJECT_ID, &mut entries)
            .unwrap();
        for (path, metadata) in &seen {
            let path = Path::new(std::ffi::OsStr::from_bytes(path));
            let asked = Metadata::of_path(None, path, false, Fields::PROJECT_ID).unwrap();
            let told = |metadata: &Metadata| {
                let known = metadata.mask.contains(Fields::PROJECT_ID);
                known.then_some(metadata.project_id)
            };
            assert_eq!(told(metadata), told(&asked), "{path:?}");
            if is_file_or_directory(metadata.mode) {
                assert_eq!(told(metadata), of_open(path), "{path:?}");
            }
            let listed = entries
                .iter()
                .find(|entry| Some(entry.name()) == path.file_name().map(OsStrExt::as_bytes));
            if path != top.path() {
                assert_eq!(told(listed.unwrap().metadata().unwrap()), told(&asked));
            }
        }
        assert_eq!(seen.len(), 7);
        let types = seen.values().map(Metadata::file_type);
        assert_eq!(types.filter(|found| *found == FileType::Symlink).count(), 2);
    }

    /// Never called, so it counts nothing.
    struct Never;

    impl crate::SweepVisitor for Never {
        fn files(&mut self, _: &[Metadata]) {
            unreachable!("no scan gives files without their project ids");
        }
    }

    #[test]
    fn an_inode_sweep_declines() {
        let scan = crate::InodeSweep::new("/").fields(Fields::PROJECT_ID);
        let why = scan.run(|_| Never).err().unwrap();
        assert!(why.to_string().contains("project ids"), "{why}");
    }
}
