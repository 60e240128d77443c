//! An open file that nobody changes unseen.

use super::group::Name;
use super::reason::Reason;
use super::roots::{Roots, beneath};
use ringwalk::identity::IdentityTrust;
use ringwalk::{Errno, FileType, Identity, Metadata, Timestamp};
use ringwalk_hash::FileVersion;
use ringwalk_sys::{Statx, end_lease, is_leased, magic, statx, take_read_lease};
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{AtFlags, Mode, OFlags, StatxFlags, openat2};
use rustix::io::retry_on_intr;
use std::ffi::CString;

/// What a look at a file asks for. Its mount and project are of no interest.
const FIELDS: StatxFlags = StatxFlags::BASIC_STATS.union(StatxFlags::BTIME);

/// Reads about a name in a directory. Follows no symbolic link.
pub(super) fn look_at(directory: BorrowedFd<'_>, name: &[u8]) -> Result<Metadata, Errno> {
    let name = CString::new(name).map_err(|_| Errno::INVAL)?;
    look(
        directory,
        &name,
        AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT,
    )
}

fn look(file: BorrowedFd<'_>, name: &std::ffi::CStr, flags: AtFlags) -> Result<Metadata, Errno> {
    let mut found = Statx::default();
    // Asks a file server, too.
    let flags = flags | AtFlags::STATX_FORCE_SYNC;
    retry_on_intr(|| statx(file, name, flags, FIELDS.bits(), &mut found))?;
    Ok(Metadata::from(&found))
}

/// Which parts of a version must not have changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Compared {
    /// All.
    All,
    /// All but what renaming and linking change: `ctime` and, on overlayfs, the time of birth.
    Contents,
}

/// A file that is open for reading, with its version and its place.
#[derive(Debug)]
pub(super) struct Held {
    file: OwnedFd,
    directory: OwnedFd,
    name: Vec<u8>,
    version: FileVersion,
    metadata: Metadata,
    has_lease: bool,
    /// The time of birth stays the same if the file is changed.
    keeps_birth: bool,
    /// The inode number names the file.
    has_inode: bool,
}

impl Held {
    /// Opens a file whose version is known.
    pub(super) fn open(roots: &Roots, name: &Name, seen: &FileVersion) -> Result<Self, Reason> {
        let (directory, name) = roots.find(name)?;
        // Before it is opened: opening a device or a pipe may have effects.
        let found = look_at(directory.as_fd(), &name).map_err(|e| Reason::of("read", e))?;
        compare(&found, seen)?;
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let flags = flags | OFlags::CLOEXEC;
        let open = |flags| openat2(&directory, name.as_slice(), flags, Mode::empty(), beneath());
        // Only the owner may leave the time of access alone.
        let opened = match open(flags | OFlags::NOATIME) {
            Err(Errno::PERM) => open(flags),
            opened => opened,
        };
        let file = opened.map_err(|errno| match errno {
            // Another program has a write lease.
            Errno::AGAIN => Reason::OpenForWriting,
            errno => Reason::of("open", errno),
        })?;
        let metadata = of_open(&file)?;
        compare(&metadata, seen)?;
        let trust = IdentityTrust::of(&file);
        Ok(Self {
            keeps_birth: trust.keeps_birth,
            has_inode: trust.is_unique,
            file,
            directory,
            name,
            version: *seen,
            metadata,
            has_lease: false,
        })
    }

    /// Takes a read lease. If leases are not possible, the file is held without one.
    pub(super) fn lease(&mut self) -> Result<(), Reason> {
        match take_read_lease(&self.file) {
            Ok(()) => self.has_lease = true,
            // NFS says this of each file that its server gave no delegation for.
            Err(Errno::AGAIN) if magic::of(&self.file) != Ok(magic::NFS) => {
                return Err(Reason::OpenForWriting);
            }
            Err(_) => {}
        }
        // This check sees everything that was written before the lease.
        self.check(Compared::All)
    }

    /// Gives the lease up, so that other programs can write.
    pub(super) fn end_lease(&mut self) {
        if std::mem::take(&mut self.has_lease) {
            end_lease(&self.file);
        }
    }

    /// Fails if somebody wants to write to the file, or may have written since the lease was taken.
    pub(super) fn check_lease(&self) -> Result<(), Reason> {
        if self.has_lease && !is_leased(&self.file) {
            return Err(Reason::BeingWritten);
        }
        Ok(())
    }

    /// Fails if the open file is not the version that was seen.
    pub(super) fn check(&self, compared: Compared) -> Result<(), Reason> {
        self.check_version(compared)?;
        self.check_lease()
    }

    /// Does the same, but a program may wait to write to the file.
    pub(super) fn check_version(&self, compared: Compared) -> Result<(), Reason> {
        let found = of_open(&self.file)?;
        let mut version = self.version;
        if compared == Compared::Contents {
            self.take_over(&found, &mut version);
        }
        compare(&found, &version)
    }

    /// Takes over what renaming and linking change.
    fn take_over(&self, found: &Metadata, version: &mut FileVersion) {
        if let Some(ctime) = found.ctime() {
            version.ctime = ctime;
        }
        if !self.keeps_birth {
            version.btime = FileVersion::of(found).and_then(|found| found.btime);
        }
    }

    /// Fails if the file does not have its name.
    pub(super) fn check_name(&self) -> Result<(), Reason> {
        let found = look_at(self.directory.as_fd(), &self.name);
        self.check_is(&found.map_err(|errno| Reason::of("read", errno))?)
    }

    /// Fails if what was found under a name is another file.
    pub(super) fn check_is(&self, found: &Metadata) -> Result<(), Reason> {
        let (dev, ino) = (self.version.dev, self.version.ino);
        if found.identity() == Some(Identity { dev, ino }) {
            Ok(())
        } else {
            Err(Reason::Replaced)
        }
    }

    /// Takes over the times of the inode after a call of this program has changed it.
    pub(super) fn renew(&mut self) -> Result<(), Reason> {
        let metadata = of_open(&self.file)?;
        let mut version = self.version;
        self.take_over(&metadata, &mut version);
        compare(&metadata, &version)?;
        (self.version, self.metadata) = (version, metadata);
        Ok(())
    }

    /// Returns true if what was found under a temporary name is this file, or may be it: inode
    /// numbers of FUSE can be other ones at each look. Only this program knows the name.
    pub(super) fn may_be(&self, found: &Metadata) -> bool {
        let contents = |found: &Metadata| (found.file_type(), found.size(), found.mtime());
        self.check_is(found).is_ok()
            || (!self.has_inode && contents(found) == contents(&self.metadata))
    }

    /// Returns the number of hard links now.
    pub(super) fn links(&self) -> Option<u32> {
        of_open(&self.file).ok()?.nlink()
    }

    pub(super) fn file(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    pub(super) fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    pub(super) fn metadata(&self) -> &Metadata {
        &self.metadata
    }

    /// Returns the version; its `ctime` may be younger than the one that the search saw.
    pub(super) fn version(&self) -> &FileVersion {
        &self.version
    }
}

fn of_open(file: &OwnedFd) -> Result<Metadata, Reason> {
    look(file.as_fd(), c"", AtFlags::EMPTY_PATH).map_err(|errno| Reason::of("read", errno))
}

fn compare(found: &Metadata, seen: &FileVersion) -> Result<(), Reason> {
    let Some(now) = FileVersion::of(found) else {
        return Err(Reason::Changed);
    };
    let which = |version: &FileVersion| (version.dev, version.ino, version.btime);
    if found.file_type() != FileType::Regular || which(&now) != which(seen) {
        return Err(Reason::Replaced);
    }
    if now == *seen {
        Ok(())
    } else {
        Err(Reason::Changed)
    }
}

/// Returns true if the contents may be in memory only: a file that was changed within a day. The
/// kernel writes everything back within minutes, and the clock may have been set meanwhile.
pub(super) fn may_be_unwritten(version: &FileVersion, now: Timestamp) -> bool {
    const DAY: i64 = 24 * 60 * 60;
    (now.secs - DAY..).contains(&version.ctime.secs)
}
