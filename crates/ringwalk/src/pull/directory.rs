//! One directory that its owner reads, without a walk.

use crate::pull::entry_buffer::EntryBuffer;
use crate::sources::choose;
use crate::sources::names_at::NamesAt;
use crate::sources::project_id;
use crate::sources::stat::stat_entries;
use crate::sources::wanted::Wanted;
use crate::sources::{DirectoryJob, JobStep, KernelSide, NameReader};
use crate::system::at_hand;
use crate::visit::dir::{Dir, Origin};
use crate::visit::metadata::{Fields, Metadata};
use crate::walk::descriptors::open_directory;
use crate::walk::options::Options;
use crate::walk::settings::Follow;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use rustix::fs::{AtFlags, CWD, SeekFrom, seek};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::path::Path;
use std::sync::Arc;

/// An open directory, read a buffer at a time.
///
/// It uses the position of the open directory. If two callers read one directory at the same time,
/// each gets a part of it; [`read_plus`](Self::read_plus) says when the end is final. All calls
/// block.
///
/// ```
/// use ringwalk::{Directory, EntryBuffer, Fields};
///
/// let src = Directory::open("src")?;
/// let mut entries = EntryBuffer::new();
/// let mut bytes = 0;
/// loop {
///     let end = src.read_plus(Fields::SIZE, &mut entries)?;
///     bytes += entries.iter().filter_map(|e| e.metadata()?.size()).sum::<u64>();
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
    /// Opens a directory. Symbolic links in the path are followed.
    ///
    /// # Errors
    ///
    /// The errors of [openat(2)](https://man7.org/linux/man-pages/man2/openat.2.html); `EINVAL` if
    /// the path has a NUL byte.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, Errno> {
        let fd = open_directory(CWD, path.as_ref(), true)?;
        Ok(Self { fd })
    }

    /// Returns the directory of an open descriptor with this number. The descriptor is duplicated,
    /// and both share one position. The method is for bindings to other languages; in Rust there is
    /// `From<OwnedFd>`.
    ///
    /// # Errors
    ///
    /// The errors of fcntl(2), `EBADF` among them, and `ENOTDIR`.
    pub fn of_number(number: RawFd) -> Result<Self, Errno> {
        let directory = Self::from(ringwalk_sys::duplicate(number)?);
        if at_hand::known(&directory)?.file_type() != FileType::Directory {
            return Err(Errno::NOTDIR);
        }
        Ok(directory)
    }

    /// Opens a directory below this one. `follow` says whether `name` may be a symbolic link.
    ///
    /// # Errors
    ///
    /// The errors of openat(2); `ENOTDIR` or `ELOOP` for a link that is not to be followed.
    pub fn open_at(&self, name: &CStr, follow: bool) -> Result<Self, Errno> {
        let fd = open_directory(&*self.fd, name, follow)?;
        Ok(Self { fd })
    }

    /// Replaces `entries` by the next ones, as many as one buffer has room for. Returns true if no
    /// more follow; then `entries` may be empty. `.` and `..` are left out.
    ///
    /// # Errors
    ///
    /// The errors of [getdents64(2)](https://man7.org/linux/man-pages/man2/getdents64.2.html), and
    /// `EIO` for bytes that are no records. Entries that were read before the error are in
    /// `entries`.
    pub fn read(&self, entries: &mut EntryBuffer) -> Result<bool, Errno> {
        entries.clear();
        NameReader::new(None, false).read(&self.fd, &mut entries.raw, false)
    }

    /// Reads entries as [`read`](Self::read) does, with their metadata. The kernel module returns
    /// both in one call where it is loaded; otherwise there is one statx(2) for each entry. Links
    /// are not followed. An entry without metadata [has the error](crate::EntryRef::stat_error).
    ///
    /// A signal may end a call of the kernel module early. The call then sets the position back to
    /// the entries that it does not return. So the end is final only if no other call was reading
    /// this directory meanwhile. Callers that share it read on until a call returns true during
    /// which no other call was reading.
    ///
    /// # Errors
    ///
    /// The errors of [`read`](Self::read).
    pub fn read_plus(&self, fields: Fields, entries: &mut EntryBuffer) -> Result<bool, Errno> {
        let side = KernelSide::of_process();
        if side.reader().is_none() || side.is_given_up() {
            let end = self.read(entries);
            self.stat_unknown(fields, entries);
            return end;
        }
        let mut options = Options::new(Vec::new());
        options.fields = fields;
        let mut source = choose::for_worker::<()>(&options, side);
        let origin = Origin::RootFd(Arc::clone(&self.fd));
        source.push(DirectoryJob {
            dir: Arc::new(Dir::root(c".", 0, 0, origin, ())),
            step: JobStep::Read(Arc::clone(&self.fd)),
            next_batch: 0,
            concurrent: false,
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

    /// Fills in the metadata of those entries that have none yet.
    pub(crate) fn stat_unknown(&self, fields: Fields, entries: &mut EntryBuffer) {
        let wanted = Wanted::of_all(fields, Follow::Never);
        let place = NamesAt::Directory(&self.fd);
        stat_entries(&mut entries.raw, place, wanted, false, false);
    }

    /// Returns the metadata of an entry by its name; of the directory itself if the name is empty.
    ///
    /// # Errors
    ///
    /// The errors of [statx(2)](https://man7.org/linux/man-pages/man2/statx.2.html).
    pub fn stat(&self, name: &CStr, follow: bool, fields: Fields) -> Result<Metadata, Errno> {
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        flags.set(AtFlags::EMPTY_PATH, name.is_empty());
        let mut stat = ringwalk_sys::Statx::default();
        ringwalk_sys::statx(&*self.fd, name, flags, fields.statx_mask(), &mut stat)?;
        let mut metadata = Metadata::from(&stat);
        if fields.contains(Fields::PROJECT_ID) {
            project_id::add(&mut metadata, &*self.fd, name, follow)?;
        }
        Ok(metadata)
    }

    /// Closes the directory. If it is shared, the last owner closes it.
    ///
    /// # Errors
    ///
    /// The errors of close(2). The descriptor is closed even then.
    #[cfg(feature = "async")]
    pub(crate) fn close(self) -> Result<(), Errno> {
        Arc::into_inner(self.fd).map_or(Ok(()), DirectoryFd::close)
    }

    /// Goes back to the beginning. The next read returns the entries that the directory has then.
    ///
    /// # Errors
    ///
    /// The errors of lseek(2).
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
    /// Entries that were read through the descriptor before are not read again, until the directory
    /// is [rewound](Directory::rewind).
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

    /// Returns names and sizes, read by the standard library.
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
