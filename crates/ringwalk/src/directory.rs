//! One directory that its owner reads, without a walk.

use crate::at_hand;
use crate::descriptor::open_directory;
use crate::dir::{Dir, Origin};
use crate::entry_buffer::EntryBuffer;
use crate::metadata::{Fields, Metadata};
use crate::options::{Follow, Options};
use crate::source::{self, Job, KernelSide, NameReader, Step};
use crate::stat::{Place, Wanted, stat_entries};
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use rustix::fs::{AtFlags, CWD, SeekFrom, seek};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// An open directory, read a buffer at a time.
///
/// Its position is that of the open directory: two who read one directory at the same time each get a part of it. All calls block.
///
/// ```
/// use ringwalk::{Directory, EntryBuffer, Fields};
///
/// let src = Directory::open("src")?;
/// let mut entries = EntryBuffer::new();
/// let mut bytes = 0;
/// loop {
///     let end = src.read_plus(Fields::SIZE, &mut entries)?;
///     bytes += entries.iter().filter_map(|e| e.metadata()).map(|m| m.size).sum::<u64>();
///     if end {
///         break;
///     }
/// }
/// assert!(bytes > 0);
/// # Ok::<(), rustix::io::Errno>(())
/// ```
#[derive(Debug)]
pub struct Directory {
    fd: Arc<DirectoryFd>,
}

impl Directory {
    /// Opens a directory, through symbolic links if the path has some.
    ///
    /// # Errors
    ///
    /// Those of [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html); `EINVAL` if the path has a NUL byte.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Errno> {
        let fd = open_directory(CWD, path.as_ref(), true)?;
        Ok(Self { fd })
    }

    /// The directory that the descriptor with this number is of, whoever holds that: it is duplicated, and both have one position. For bindings
    /// to other languages; in Rust there is `From<OwnedFd>`.
    ///
    /// # Errors
    ///
    /// Those of fcntl(2), `EBADF` among them, and `ENOTDIR`.
    pub fn of_number(number: RawFd) -> Result<Self, Errno> {
        let directory = Self::from(ringwalk_sys::duplicate(number)?);
        if at_hand::known(&directory)?.file_type() != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        Ok(directory)
    }

    /// Opens a directory below this one. If `name` is a symbolic link, it is opened through that only if `follow` says so.
    ///
    /// # Errors
    ///
    /// Those of openat(2); `ENOTDIR` or `ELOOP` for a link that is not to be followed.
    pub fn open_at(&self, name: &CStr, follow: bool) -> Result<Self, Errno> {
        let fd = open_directory(&*self.fd, name, follow)?;
        Ok(Self { fd })
    }

    /// Fills `entries`, which is emptied first, with what comes next, as much as one buffer has room for; true if that is the rest,
    /// which may be nothing. `.` and `..` are left out.
    ///
    /// # Errors
    ///
    /// Those of [getdents64(2)](https://man7.org/linux/man-pages/man2/getdents64.2.html), and `EIO` for bytes that are no records. What
    /// was read before is in `entries`.
    pub fn read(&self, entries: &mut EntryBuffer) -> Result<bool, Errno> {
        entries.clear();
        NameReader::new(None, false).read(&self.fd, &mut entries.raw, false)
    }

    /// As [`read`](Self::read), with metadata of each entry: from the kernel module in the same call where that is there, else by one
    /// statx(2) for each. Links are not followed. An entry whose metadata cannot be had [says why](crate::EntryRef::stat_error).
    ///
    /// # Errors
    ///
    /// Those of [`read`](Self::read).
    pub fn read_plus(&self, fields: Fields, entries: &mut EntryBuffer) -> Result<bool, Errno> {
        let side = KernelSide::of_process();
        if side.reader().is_none() || side.is_given_up() {
            let end = self.read(entries);
            self.stat_unknown(fields, entries);
            return end;
        }
        let mut options = Options::new(Vec::new());
        options.fields = fields;
        let mut source = source::for_worker::<()>(&options, side);
        let origin = Origin::RootFd(Arc::clone(&self.fd));
        source.push(Job {
            dir: Arc::new(Dir::root(c".", 0, origin, ())),
            step: Step::Read(Arc::clone(&self.fd)),
            next_batch: 0,
            apart: false,
            to_end: false,
        });
        let Some(pulled) = source.pull(&mut entries.raw) else {
            return Err(Errno::IO);
        };
        if !pulled.metadata {
            self.stat_unknown(fields, entries);
        }
        match pulled.failure {
            None => Ok(pulled.end),
            Some(failure) => Err(failure.errno),
        }
    }

    #[cfg(feature = "async")]
    pub(crate) fn of(fd: Arc<DirectoryFd>) -> Self {
        Self { fd }
    }

    #[cfg(feature = "async")]
    pub(crate) fn fd(&self) -> &Arc<DirectoryFd> {
        &self.fd
    }

    /// Metadata of those of the entries, which [`read`](Self::read) has brought, of which nothing is known.
    pub(crate) fn stat_unknown(&self, fields: Fields, entries: &mut EntryBuffer) {
        let wanted = Wanted::of_all(fields, Follow::Never);
        let place = Place::Directory(&self.fd);
        stat_entries(&mut entries.raw, place, wanted, false, false);
    }

    /// Metadata of an entry by its name; of the directory itself if that is empty.
    ///
    /// # Errors
    ///
    /// Those of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html).
    pub fn stat(&self, name: &CStr, follow: bool, fields: Fields) -> Result<Metadata, Errno> {
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        flags.set(AtFlags::EMPTY_PATH, name.is_empty());
        let mut stat = ringwalk_sys::Statx::default();
        retry_on_intr(|| ringwalk_sys::statx(&*self.fd, name, flags, fields.bits(), &mut stat))?;
        Ok(Metadata::from(&stat))
    }

    /// Closes it, unless somebody else has it too; then they do.
    ///
    /// # Errors
    ///
    /// Those of close(2). The descriptor is gone all the same.
    #[cfg(feature = "async")]
    pub(crate) fn close(self) -> Result<(), Errno> {
        Arc::into_inner(self.fd).map_or(Ok(()), DirectoryFd::close)
    }

    /// Goes back to the beginning: what is read next are the entries that there are then.
    ///
    /// # Errors
    ///
    /// Those of lseek(2).
    pub fn rewind(&self) -> Result<(), Errno> {
        seek(&*self.fd, SeekFrom::Start(0)).map(drop)
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

impl From<OwnedFd> for Directory {
    /// What has been read of it already is not read again, until it is [rewound](Directory::rewind).
    fn from(fd: OwnedFd) -> Self {
        Self {
            fd: Arc::new(fd.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::fs;

    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for number in 0..3000 {
            let name = format!("{number:0>20}");
            fs::write(dir.path().join(name), vec![b'x'; number % 50]).unwrap();
        }
        fs::create_dir(dir.path().join("below")).unwrap();
        std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
        dir
    }

    /// Names and sizes as the standard library has them.
    fn expected(path: &Path) -> BTreeMap<Vec<u8>, u64> {
        let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
        let sized = entries.map(|entry| {
            let size = entry.metadata().unwrap().len();
            (entry.file_name().into_encoded_bytes(), size)
        });
        sized.collect()
    }

    fn all(
        mut read: impl FnMut(&mut EntryBuffer) -> Result<bool, Errno>,
        mut each: impl FnMut(crate::EntryRef<'_>),
    ) -> usize {
        let mut entries = EntryBuffer::new();
        for calls in 1.. {
            let end = read(&mut entries).unwrap();
            entries.iter().for_each(&mut each);
            if end {
                return calls;
            }
        }
        unreachable!("a directory has an end")
    }

    #[test]
    fn every_entry_is_read_once_with_its_metadata() {
        let tree = tree();
        let directory = Directory::open(tree.path()).unwrap();
        let mut found = BTreeMap::new();
        let calls = all(
            |entries| directory.read_plus(Fields::SIZE, entries),
            |entry| {
                let size = entry.metadata().unwrap().size;
                assert_eq!(found.insert(entry.name().to_vec(), size), None);
            },
        );
        assert!(calls > 1, "one buffer has no room for all");
        assert_eq!(found, expected(tree.path()));
        // And once more, from the beginning.
        directory.rewind().unwrap();
        let mut names = 0;
        all(|entries| directory.read(entries), |_| names += 1);
        assert_eq!(names, found.len());
    }

    #[test]
    fn below_and_through_links() {
        let tree = tree();
        let directory = Directory::open(tree.path()).unwrap();
        let below = directory.open_at(c"below", false).unwrap();
        let ino = |directory: &Directory| directory.stat(c"", false, Fields::INO).unwrap().ino;
        let listed = directory.stat(c"below", false, Fields::INO).unwrap().ino;
        assert_eq!(ino(&below), listed);
        std::os::unix::fs::symlink("below", tree.path().join("to-below")).unwrap();
        let refused = directory.open_at(c"to-below", false).unwrap_err();
        assert!(matches!(refused, Errno::NOTDIR | Errno::LOOP), "{refused}");
        assert_eq!(ino(&directory.open_at(c"to-below", true).unwrap()), listed);
    }

    #[test]
    fn what_cannot_be_done_says_why() {
        let tree = tree();
        let missing = Directory::open(tree.path().join("missing"));
        assert_eq!(missing.unwrap_err(), Errno::NOENT);
        assert_eq!(Directory::open("a\0b").unwrap_err(), Errno::INVAL);
        let directory = Directory::open(tree.path()).unwrap();
        let below = directory.open_at(c"below", false).unwrap();
        fs::remove_dir(tree.path().join("below")).unwrap();
        let mut entries = EntryBuffer::new();
        assert_eq!(below.read(&mut entries), Err(Errno::NOENT));
        let stat = directory.stat(c"below", false, Fields::SIZE);
        assert_eq!(stat.unwrap_err(), Errno::NOENT);
    }
}
