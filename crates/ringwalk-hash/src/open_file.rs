//! Opening a file below a root, and the version of it that is read.

use crate::{Fault, FileVersion, RootDirectory};
use ringwalk::time_stamps::{Moment, StampClocks, StampsSeen};
use ringwalk::{Errno, FileType, Metadata};
use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::retry_on_intr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::time::Duration;

/// The longest path of one system call, without its NUL byte (`PATH_MAX`).
const LONGEST: usize = 4095;

/// The place that paths of files begin at.
#[derive(Debug)]
pub enum OpenRoot {
    /// A directory. No symbolic link below it is followed.
    Directory(RootDirectory),
    /// The working directory. Paths are as the user has given them, and symbolic links are
    /// followed.
    Working,
}

impl OpenRoot {
    /// Opens a directory. Symbolic links are followed. If `path` is not a directory, it is itself
    /// the file, and can be opened from the working directory.
    ///
    /// # Errors
    ///
    /// The errors of open(2), except `ENOTDIR`.
    pub fn open(path: &Path) -> Result<Self, Errno> {
        match RootDirectory::open(path) {
            Ok(directory) => Ok(Self::Directory(directory)),
            Err(Errno::NOTDIR) => Ok(Self::Working),
            Err(errno) => Err(errno),
        }
    }

    fn open_file(&self, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
        match self {
            Self::Directory(root) => {
                root.with(|directory| open_below(directory, path, READ | flags))
            }
            Self::Working => open_long(CWD, path, READ | flags, false),
        }
    }
}

/// A regular file that is open for reading.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    metadata: Metadata,
    version: FileVersion,
    stamps: StampsSeen,
}

impl OpenFile {
    /// Opens the file at `path`. Below a directory no symbolic link is followed where the kernel
    /// has openat2(2) (Linux 5.6); elsewhere none at the end of the path. `path` may be longer than
    /// `PATH_MAX`.
    ///
    /// # Errors
    ///
    /// [`Fault::Open`], [`Fault::Stat`] and [`Fault::Irregular`].
    pub fn open(root: &OpenRoot, path: &Path, clocks: &StampClocks) -> Result<Self, Fault> {
        let file = root.open_file(path, OFlags::empty());
        let file = File::from(file.map_err(Fault::Open)?);
        let (metadata, version) = stat(&file)?;
        let clock = || clocks.of(version.dev, &file);
        let stamps = StampsSeen::new(Moment::now(), version.ctime, version.mtime, clock);
        Ok(Self {
            file,
            metadata,
            version,
            stamps,
        })
    }

    /// Returns how long a change of the file may go unnoticed. Before that time is over, a read may
    /// return contents that the file never had. After that time, open the file again: if it has the
    /// same version, it is sure.
    pub fn unsure_for(&self) -> Option<Duration> {
        self.stamps.unsure_for()
    }

    /// Opens the same file once more, for reads that bypass the page cache (`O_DIRECT`). Returns
    /// `None` where that is not possible.
    pub(crate) fn direct(&self, root: &OpenRoot, path: &Path) -> Option<File> {
        let file = File::from(root.open_file(path, OFlags::DIRECT).ok()?);
        let (_, version) = stat(&file).ok()?;
        let is_same = (version.dev, version.ino) == (self.version.dev, self.version.ino);
        is_same.then_some(file)
    }

    /// Returns the open file.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns the version that was there before anything was read.
    pub fn version(&self) -> &FileVersion {
        &self.version
    }

    /// Returns the metadata from before anything was read.
    pub fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns true if the file may have holes: it has fewer blocks than bytes.
    pub fn may_have_holes(&self) -> bool {
        let blocks = self.metadata.blocks();
        blocks.is_none_or(|blocks| blocks.saturating_mul(512) < self.version.size)
    }

    /// Checks that the file still has the version that was opened, and that no change can have gone
    /// unnoticed.
    ///
    /// # Errors
    ///
    /// [`Fault::Changed`] if it has changed, or may have; [`Fault::Stat`].
    pub fn check_unchanged(&self) -> Result<(), Fault> {
        let (_, version) = stat(&self.file)?;
        if version == self.version && !self.stamps.may_hide_change(Moment::now()) {
            Ok(())
        } else {
            Err(Fault::Changed)
        }
    }
}

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::CLOEXEC)
    .union(OFlags::NOCTTY)
    .union(OFlags::NONBLOCK);

fn stat(file: &File) -> Result<(Metadata, FileVersion), Fault> {
    let metadata = FileVersion::metadata(file).map_err(Fault::Stat)?;
    if metadata.file_type() != FileType::Regular {
        return Err(Fault::Irregular);
    }
    // Every file system gives the fields that are needed.
    let version = FileVersion::of(&metadata).ok_or(Fault::Stat(Errno::NOTSUP))?;
    Ok((metadata, version))
}

fn open_below(directory: BorrowedFd<'_>, path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    let opened = retry_on_intr(|| openat2(directory, path, flags, Mode::empty(), resolve));
    match opened {
        // An older kernel, or a filter that does not know the call.
        Err(Errno::NOSYS | Errno::PERM | Errno::NAMETOOLONG) => {
            open_long(directory, path, flags | OFlags::NOFOLLOW, true)
        }
        opened => opened,
    }
}

/// Opens a path of any length, one part after the other. With `beneath`, no part that ends between
/// two calls is a symbolic link.
pub(crate) fn open_long(
    base: BorrowedFd<'_>,
    path: &Path,
    flags: OFlags,
    beneath: bool,
) -> Result<OwnedFd, Errno> {
    let mut rest = path.as_os_str().as_bytes();
    let mut directory: Option<OwnedFd> = None;
    loop {
        let at = directory.as_ref().map_or(base, AsFd::as_fd);
        if rest.len() <= LONGEST {
            return retry_on_intr(|| openat(at, rest, flags, Mode::empty()));
        }
        let Some(slash) = rest[..=LONGEST].iter().rposition(|byte| *byte == b'/') else {
            return Err(Errno::NAMETOOLONG);
        };
        // A path that begins with its only slash in reach has a name that is too long.
        if slash == 0 {
            return Err(Errno::NAMETOOLONG);
        }
        let mut on_the_way = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        on_the_way.set(OFlags::NOFOLLOW, beneath);
        let part = &rest[..slash];
        let next = retry_on_intr(|| openat(at, part, on_the_way, Mode::empty()))?;
        rest = &rest[slash..];
        while let Some(after) = rest.strip_prefix(b"/") {
            rest = after;
        }
        directory = Some(next);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    #[test]
    fn links_below_a_directory_are_not_followed() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        fs::create_dir(top.join("real")).unwrap();
        fs::write(top.join("real/file"), "contents").unwrap();
        symlink("real", top.join("link")).unwrap();
        symlink("real/file", top.join("file")).unwrap();
        let root = OpenRoot::open(top).unwrap();
        let open = |path: &str| OpenFile::open(&root, Path::new(path), &StampClocks::default());
        assert_eq!(open("real/file").unwrap().version().size, 8);
        for path in ["link/file", "file"] {
            assert_eq!(open(path).unwrap_err(), Fault::Open(Errno::LOOP), "{path}");
        }
        assert_eq!(open("real").unwrap_err(), Fault::Irregular);
        assert_eq!(open("none").unwrap_err(), Fault::Open(Errno::NOENT));
        let given = OpenFile::open(
            &OpenRoot::Working,
            &top.join("file"),
            &StampClocks::default(),
        );
        assert_eq!(given.unwrap().version().size, 8);
    }

    #[test]
    fn a_fifo_does_not_block() {
        let folder = tempfile::tempdir().unwrap();
        let fifo = folder.path().join("fifo");
        rustix::fs::mknodat(CWD, &fifo, rustix::fs::FileType::Fifo, Mode::RUSR, 0).unwrap();
        let root = OpenRoot::open(folder.path()).unwrap();
        let opened = OpenFile::open(&root, Path::new("fifo"), &StampClocks::default());
        assert_eq!(opened.unwrap_err(), Fault::Irregular);
    }

    #[test]
    fn a_change_right_after_another_one_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let root = OpenRoot::open(folder.path()).unwrap();
        let clocks = StampClocks::default();
        let open = || OpenFile::open(&root, Path::new("file"), &clocks).unwrap();
        for round in 0..20 {
            fs::write(&path, format!("{round:02}")).unwrap();
            std::thread::sleep(open().unsure_for().unwrap());
            let opened = open();
            assert_eq!(opened.check_unchanged(), Ok(()), "round {round}");
            // The same size, and within the same step of the clock without the wait.
            fs::write(&path, format!("{:02}", round + 1)).unwrap();
            assert_eq!(
                opened.check_unchanged(),
                Err(Fault::Changed),
                "round {round}"
            );
        }
    }

    #[test]
    fn long_paths_are_opened_part_by_part() {
        let folder = tempfile::tempdir().unwrap();
        let name = "d".repeat(200);
        let mut path = String::new();
        let mut directory: OwnedFd = fs::File::open(folder.path()).unwrap().into();
        for _ in 0..30 {
            rustix::fs::mkdirat(&directory, &name, Mode::RWXU).unwrap();
            let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
            directory = openat(&directory, &name, flags, Mode::empty()).unwrap();
            path += &name;
            path.push('/');
        }
        path.push_str("file");
        let flags = OFlags::CREATE | OFlags::WRONLY | OFlags::CLOEXEC;
        openat(&directory, "file", flags, Mode::RWXU).unwrap();
        let root = OpenRoot::open(folder.path()).unwrap();
        assert!(path.len() > LONGEST);
        assert_eq!(
            OpenFile::open(&root, Path::new(&path), &StampClocks::default())
                .unwrap()
                .version()
                .size,
            0
        );
        let whole = folder.path().join(&path);
        assert!(OpenFile::open(&OpenRoot::Working, &whole, &StampClocks::default()).is_ok());
        for wrong in ["x".repeat(5000), format!("/{}", "x".repeat(5000))] {
            let opened = OpenFile::open(
                &OpenRoot::Working,
                Path::new(&wrong),
                &StampClocks::default(),
            );
            assert_eq!(opened.unwrap_err(), Fault::Open(Errno::NAMETOOLONG));
        }
    }
}
