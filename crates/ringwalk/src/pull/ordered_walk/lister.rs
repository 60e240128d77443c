//! Reading one directory into a [`Listing`]: ahead, or when its turn has come.

use super::listing::{Listing, ListingBuilder, SpareListings};
use super::queue::{Held, QueuedDirectory};
use super::read_ahead::SharedQueue;
use crate::system::filesystem;
use crate::system::time_stamps::Moment;
use crate::visit::error::{Failure, Operation};
use crate::visit::metadata::{Fields, Metadata};
use crate::walk::descriptors::CountedDescriptor;
use ringwalk_sys::{DirectoryFd, Dirents, RawFileType as FileType, Statx, getdents64, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::{Errno, retry_on_intr};
use std::ffi::{CStr, CString};
use std::os::fd::AsFd;
use std::sync::Arc;

/// Bytes of a read. Most directories fit. Large ones take fewer calls than with 32 KiB.
const BUFFER: usize = 64 * 1024;

const FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// Descriptors held at a time, for directories whose subdirectories are still to be opened. Reading
/// depth first, that is about one for each level of the tree. Without one, a subdirectory is opened
/// by its path.
const MOST_HELD: usize = 64;

/// A directory that was read, and its descriptor, if that is of use for its subdirectories.
pub(super) type OpenListing = (Arc<Listing>, Option<Arc<Held>>);

/// Reads directories. Each thread has one.
#[derive(Debug)]
pub(super) struct Lister {
    buffer: Vec<u8>,
    builder: ListingBuilder,
    /// Memory for listings.
    pub(super) spares: SpareListings,
    path: Vec<u8>,
    stat: Statx,
    /// openat2(2) does not exist (before Linux 5.6), or is not allowed.
    no_openat2: bool,
    /// The last device that was examined, and whether directories on it are read ahead.
    trusted: Option<(u64, bool)>,
}

impl Lister {
    pub(super) fn new() -> Self {
        Self {
            buffer: vec![0; BUFFER],
            builder: ListingBuilder::default(),
            spares: SpareListings::default(),
            path: Vec::new(),
            stat: Statx::default(),
            no_openat2: false,
            trusted: None,
        }
    }

    /// Reads a directory whose turn has not come. Returns `None` if it cannot be read, or should
    /// not be read yet, because it is on another mount for example, which may belong to an
    /// automounter.
    pub(super) fn read_ahead(
        &mut self,
        place: &QueuedDirectory,
        shared: &SharedQueue,
    ) -> Option<OpenListing> {
        let mut path = std::mem::take(&mut self.path);
        place.parent.path_of(place.entry, &mut path);
        let read = self.open_ahead(place, &path).and_then(|fd| {
            let read_at = Moment::now();
            let ino = self.read(&fd).ok()?;
            let depth = place.parent.depth() + 1;
            let identity = (place.parent.dev, ino);
            let spare = self.spares.get();
            let listing = self.builder.finish(spare, &path, depth, identity, read_at);
            let held = self.builder.has_directories().then(|| hold(fd, shared));
            Some((listing, held.flatten()))
        });
        self.path = path;
        read
    }

    fn open_ahead(&mut self, place: &QueuedDirectory, path: &[u8]) -> Option<DirectoryFd> {
        let flags = FLAGS | OFlags::NOFOLLOW;
        if let Some(held) = &place.fd
            && !self.no_openat2
        {
            let name = place.parent.c_name(place.entry);
            match openat2(&held.fd, name, flags, Mode::empty(), ResolveFlags::NO_XDEV) {
                Ok(fd) => return Some(fd.into()),
                Err(Errno::NOSYS | Errno::PERM) => self.no_openat2 = true,
                Err(_) => return None,
            }
        }
        if self.device_of(place, path)? != place.parent.dev {
            return None;
        }
        let fd = match &place.fd {
            Some(held) => openat(
                &held.fd,
                place.parent.c_name(place.entry),
                flags,
                Mode::empty(),
            ),
            None => openat(CWD, path, flags, Mode::empty()),
        };
        let fd = DirectoryFd::from(fd.ok()?);
        let (dev, _) = self.identity(&fd)?;
        (dev == place.parent.dev).then_some(fd)
    }

    /// Returns the device of a directory to read ahead. This asks no server: the kernel has known
    /// the root since the mount.
    fn device_of(&mut self, place: &QueuedDirectory, path: &[u8]) -> Option<u64> {
        let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
        let mask = Fields::INO.bits();
        if let Some(held) = &place.fd {
            let name = place.parent.c_name(place.entry);
            statx(&held.fd, name, flags, mask, &mut self.stat).ok()?;
        } else {
            let path = CString::new(path).ok()?;
            statx(CWD, &path, flags, mask, &mut self.stat).ok()?;
        }
        Some(Metadata::from(&self.stat).dev)
    }

    fn identity(&mut self, fd: &DirectoryFd) -> Option<(u64, u64)> {
        let mask = Fields::INO.bits();
        statx(fd, c"", AtFlags::EMPTY_PATH, mask, &mut self.stat).ok()?;
        let metadata = Metadata::from(&self.stat);
        Some((metadata.dev, metadata.ino))
    }

    /// Reads a directory whose turn has come. Returns its descriptor if its subdirectories are to
    /// be read ahead.
    fn read_now(
        &mut self,
        path: &CStr,
        depth: usize,
        follow: bool,
        shared: &SharedQueue,
    ) -> Result<OpenListing, Failure> {
        let failed = |operation| move |errno| Failure { operation, errno };
        let mut flags = FLAGS;
        flags.set(OFlags::NOFOLLOW, !follow);
        let fd = retry_on_intr(|| openat(CWD, path, flags, Mode::empty()));
        let fd = DirectoryFd::from(fd.map_err(failed(Operation::Open))?);
        if depth == 0
            && let Some(size) = filesystem::rewarded_buffer(&fd)
        {
            self.buffer.resize(size.max(BUFFER), 0);
        }
        let read_at = Moment::now();
        self.read(&fd).map_err(failed(Operation::Read))?;
        let mut identity = (0, 0);
        let mut held = None;
        if self.builder.has_directories()
            && let Some(found) = self.identity(&fd)
            && self.is_trusted(found.0, &fd)
        {
            identity = found;
            held = hold(fd, shared);
        }
        let spare = self.spares.get();
        let path = path.to_bytes();
        let listing = self.builder.finish(spare, path, depth, identity, read_at);
        Ok((listing, held))
    }

    /// Reads a directory as [`read_now`](Self::read_now) does; `None` for a link that is not
    /// followed.
    pub(super) fn read_unless_link(
        &mut self,
        path: &CStr,
        depth: usize,
        follow: bool,
        shared: &SharedQueue,
    ) -> Result<Option<OpenListing>, Failure> {
        match self.read_now(path, depth, follow, shared) {
            // With `O_DIRECTORY | O_NOFOLLOW` the kernel returns one error or the other for a link.
            Err(Failure {
                operation: Operation::Open,
                errno: Errno::NOTDIR | Errno::LOOP,
            }) if !follow && self.type_of(path.to_bytes(), false) == Some(FileType::Symlink) => {
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn is_trusted(&mut self, dev: u64, fd: impl AsFd) -> bool {
        match self.trusted {
            Some((last, trusted)) if last == dev => trusted,
            _ => {
                let trusted = filesystem::has_sure_change_times(fd);
                self.trusted = Some((dev, trusted));
                trusted
            }
        }
    }

    /// Reads an open directory to its end into the builder. Returns the inode number of the
    /// directory itself, from its entry `.`.
    fn read(&mut self, fd: &DirectoryFd) -> Result<u64, Errno> {
        self.builder.clear();
        let mut own = 0;
        loop {
            let filled = retry_on_intr(|| getdents64(fd, &mut self.buffer))?;
            if filled == 0 {
                return Ok(own);
            }
            for dirent in Dirents::new(&self.buffer[..filled]) {
                let dirent = dirent.map_err(|_| Errno::IO)?;
                if dirent.is_dot() {
                    if dirent.name() == c"." {
                        own = dirent.ino();
                    }
                    continue;
                }
                if !self.builder.has_room() {
                    return Err(Errno::OVERFLOW);
                }
                self.builder
                    .push(dirent.name().to_bytes(), dirent.file_type(), dirent.ino());
            }
        }
    }

    /// Returns true if the path of a directory that was read ahead still leads to it, and the
    /// directory has not changed since.
    pub(super) fn is_unchanged(&mut self, listing: &Listing, follow: bool) -> bool {
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        let mask = (Fields::TYPE | Fields::INO | Fields::CTIME).bits();
        if statx(CWD, listing.c_path(), flags, mask, &mut self.stat).is_err() {
            return false;
        }
        let found = Metadata::from(&self.stat);
        found.mask.contains(Fields::INO | Fields::CTIME)
            && found.file_type() == FileType::Directory
            && (found.dev, found.ino) == (listing.dev, listing.ino)
            && listing.read_at.is_after_change(found.ctime, Moment::now())
    }

    /// Returns the type of the file at a path, with the last link followed or not; `None` if
    /// stat(2) fails. Python's `os.walk` treats this entry as a file.
    pub(super) fn type_of(&mut self, path: &[u8], follow: bool) -> Option<FileType> {
        let path = CString::new(path).ok()?;
        // Looking at an entry never mounts anything, as with stat(2) since Linux 4.11.
        let mut flags = AtFlags::NO_AUTOMOUNT;
        flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
        statx(CWD, &path, flags, Fields::TYPE.bits(), &mut self.stat).ok()?;
        Some(Metadata::from(&self.stat).file_type())
    }
}

/// Keeps a descriptor, unless many are held, or the allowance has none to spare.
fn hold(fd: DirectoryFd, shared: &SharedQueue) -> Option<Arc<Held>> {
    let allowance = shared.allowance();
    if allowance.own() >= MOST_HELD {
        return None;
    }
    let counted = CountedDescriptor::one(allowance)?;
    Some(Arc::new(Held {
        fd,
        _counted: counted,
    }))
}
