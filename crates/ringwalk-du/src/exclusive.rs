//! Space that belongs to a file alone, for `--exclusive`.
//!
//! The exclusive space of a file is its space (`st_blocks`) less its shared extents. An extent is
//! shared if another file, a snapshot, or the file itself refers to it a second time. A file that
//! shares nothing counts as it does without the option, with one exception. Compressed extents of
//! btrfs count with their size on the disk, while `st_blocks` has their uncompressed size.
//!
//! | file system | shared extents | reported by |
//! |---|---|---|
//! | ext2, ext3, ext4, tmpfs and others | none | |
//! | XFS | reflinks | FIEMAP's flag |
//! | btrfs | reflinks, snapshots | FIEMAP's flag |
//! | all others | unknown | nothing: this is an error |
//!
//! FIEMAP reports the extents on the disk. An extent of XFS that waits for a copy on write is still
//! shared, and a new extent of btrfs does not exist yet. So [`Exclusive`] syncs each file system
//! when the first file of it is measured, and each file with the first call of FIEMAP. If a file
//! changes meanwhile, it is measured again, a few times.

use std::fmt;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::sync::Mutex;

use ringwalk::shown::one_line;
use ringwalk::{Batch, Entry, Errno, FileType, Identity, Metadata, mounts};
use ringwalk_gnu::reason;
use ringwalk_sys::btrfs::TreeSearch;
use ringwalk_sys::sync::lock;
use ringwalk_sys::{ExtentMap, FileExtent, Statx, magic, statx};
use rustix::fs::{AtFlags, CWD, Mode, OFlags, Stat, StatxFlags, fstat, openat, syncfs};
use rustix::io::fcntl_dupfd_cloexec;

use crate::compressed::Compressed;
use crate::measurement::allocated_size;

/// How often a file that changes is measured.
const ATTEMPTS: usize = 4;

/// File systems on which no two files share any space.
const UNSHARED: [u64; 20] = [
    magic::EXT4,
    magic::TMPFS,
    magic::RAMFS,
    magic::HUGETLBFS,
    magic::FAT,
    magic::EXFAT,
    magic::PROC,
    magic::SYSFS,
    magic::DEVPTS,
    magic::CGROUP,
    magic::CGROUP2,
    magic::DEBUGFS,
    magic::TRACEFS,
    magic::SECURITYFS,
    magic::CONFIGFS,
    magic::MQUEUE,
    magic::PSTORE,
    magic::BPF,
    magic::BINFMT_MISC,
    magic::EFIVARFS,
];

/// The reason why the exclusive space of a file is unknown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unknown {
    /// The file system, of this type, does not report shared space.
    FileSystem(String),
    /// The file is compressed, and the kernel does not report its size on the disk.
    Compressed(Errno),
    /// The file changed during each measurement.
    Changing,
    /// A system call failed.
    Failed(Errno),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileSystem(name) => write!(f, "{name} does not report which space files share"),
            Self::Compressed(Errno::PERM) => f.write_str(
                "it is compressed, and the kernel reports compressed sizes only to the administrator \
                 (CAP_SYS_ADMIN)",
            ),
            Self::Compressed(errno) => write!(
                f,
                "it is compressed, and its compressed size cannot be read: {}",
                reason(&(*errno).into())
            ),
            Self::Changing => f.write_str("it changes while it is measured"),
            Self::Failed(errno) => f.write_str(&reason(&(*errno).into())),
        }
    }
}

impl From<Errno> for Unknown {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// The sharing of space among the files of a file system.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Sharing {
    /// They share nothing.
    Unshared,
    /// They share extents, and FIEMAP reports these.
    Shared,
    /// Unknown, for a file system of this type.
    Unknown(String),
}

/// The devices that all workers have seen. Most trees have one. Each subvolume of btrfs is one.
#[derive(Debug, Default)]
pub struct Devices(Mutex<Vec<(u64, Sharing)>>);

/// Finds exclusive space, for one worker.
#[derive(Debug)]
pub struct Exclusive<'s> {
    map: ExtentMap,
    search: Option<TreeSearch>,
    /// The devices that this worker has seen.
    devices: Vec<(u64, Sharing)>,
    all_devices: &'s Devices,
}

impl<'s> Exclusive<'s> {
    /// Creates the finder of one worker. All workers of a walk share the devices.
    pub fn new(all_devices: &'s Devices) -> Self {
        Self {
            map: ExtentMap::default(),
            search: None,
            devices: Vec::new(),
            all_devices,
        }
    }

    /// Returns the bytes that belong to an entry of a batch alone. A file with several names counts
    /// under each of them. The metadata must have [`Fields::BLOCKS`](ringwalk::Fields::BLOCKS).
    ///
    /// # Errors
    ///
    /// If the bytes cannot be found out exactly.
    pub fn bytes<S>(
        &mut self,
        batch: &Batch<'_, S>,
        entry: &Entry<'_, S>,
        metadata: &Metadata,
    ) -> Result<u64, Unknown> {
        self.bytes_of(&Named { batch, entry }, metadata)
    }

    /// Returns the bytes that belong to an open file alone, as [`bytes`](Self::bytes) does.
    /// `metadata` is the metadata of this file, with [`Fields::BLOCKS`](ringwalk::Fields::BLOCKS).
    /// A regular file must be open for reading.
    ///
    /// # Errors
    ///
    /// If the bytes cannot be found out exactly.
    pub fn bytes_of_open(
        &mut self,
        file: BorrowedFd<'_>,
        metadata: &Metadata,
    ) -> Result<u64, Unknown> {
        self.bytes_of(&file, metadata)
    }

    fn bytes_of(&mut self, file: &impl Openable, metadata: &Metadata) -> Result<u64, Unknown> {
        let bytes = allocated_size(metadata);
        match self.sharing(metadata, file)? {
            Sharing::Unknown(name) => Err(Unknown::FileSystem(name)),
            Sharing::Shared if metadata.file_type() == FileType::Regular && bytes > 0 => {
                self.unshared(&file.open(metadata)?)
            }
            Sharing::Shared | Sharing::Unshared => Ok(bytes),
        }
    }

    fn sharing(&mut self, metadata: &Metadata, file: &impl Openable) -> Result<Sharing, Errno> {
        let Some(device) = metadata.dev() else {
            return Err(Errno::OPNOTSUPP);
        };
        let of_device = |known: &&(u64, Sharing)| known.0 == device;
        if let Some((_, sharing)) = self.devices.iter().find(of_device) {
            return Ok(sharing.clone());
        }
        let mut all = lock(&self.all_devices.0);
        let known = all
            .iter()
            .find(of_device)
            .map(|(_, sharing)| sharing.clone());
        let sharing = if let Some(sharing) = known {
            sharing
        } else {
            let sharing = sharing_of(&file.open_with(OFlags::PATH)?)?;
            // The shared extents of other files may be about to change, too.
            if sharing == Sharing::Shared && !sync(file, metadata)? {
                // The next file that can be opened will do.
                return Ok(sharing);
            }
            all.push((device, sharing.clone()));
            sharing
        };
        self.devices.push((device, sharing.clone()));
        Ok(sharing)
    }

    /// Returns the bytes of a regular file that it does not share.
    fn unshared(&mut self, file: &OwnedFd) -> Result<u64, Unknown> {
        let mut before = fstat(file)?;
        for _ in 0..ATTEMPTS {
            let found = self.extents(file, before.st_ino);
            let after = fstat(file)?;
            if is_unchanged(&before, &after) {
                let (shared, compressed) = found?;
                let whole = after.st_blocks.cast_unsigned().saturating_mul(512);
                let rest = whole.checked_sub(shared);
                if let Some(rest) = rest.and_then(|rest| rest.checked_sub(compressed.length)) {
                    return Ok(rest.saturating_add(compressed.on_disk));
                }
            }
            before = after;
        }
        Err(Unknown::Changing)
    }

    /// Returns the shared bytes of a file, and the compressed extents among the others.
    fn extents(&mut self, file: &OwnedFd, ino: u64) -> Result<(u64, Compressed), Unknown> {
        let mut shared = 0_u64;
        let mut compressed = Compressed::default();
        let mut start = 0;
        loop {
            let extents = match self.map.read(file, start, start == 0) {
                Err(Errno::INTR) => continue,
                extents => extents?,
            };
            let Some(last) = extents.last() else { break };
            for extent in extents.iter().filter(|e| e.has(FileExtent::SHARED)) {
                shared = shared.saturating_add(extent.length);
            }
            compressed
                .add(file, ino, extents, &mut self.search)
                .map_err(Unknown::Compressed)?;
            if last.has(FileExtent::LAST) || last.end() <= start {
                break;
            }
            start = last.end();
        }
        Ok((shared, compressed))
    }
}

fn is_unchanged(before: &Stat, after: &Stat) -> bool {
    let facts = |stat: &Stat| {
        (
            stat.st_blocks,
            stat.st_size,
            stat.st_ctime,
            stat.st_ctime_nsec,
        )
    };
    facts(before) == facts(after)
}

fn sharing_of(file: &OwnedFd) -> Result<Sharing, Errno> {
    let found = magic::of(file)?;
    if UNSHARED.contains(&found) {
        return Ok(Sharing::Unshared);
    }
    if [magic::XFS, magic::BTRFS].contains(&found) {
        return Ok(Sharing::Shared);
    }
    let mut stat = Statx::default();
    let mask = StatxFlags::MNT_ID.bits();
    statx(file, c"", AtFlags::EMPTY_PATH, mask, &mut stat)?;
    let id = (stat.stx_mask & mask != 0).then_some(stat.stx_mnt_id);
    // The table of mounts gives a name to the message. Without it the message has the number.
    let mounts = mounts::read().unwrap_or_default();
    let mount = mounts.into_iter().find(|mount| Some(mount.id) == id);
    Ok(Sharing::Unknown(mount.map_or_else(
        || format!("a file system of type {found:#x}"),
        // The user who mounted it chose its type.
        |mount| one_line(mount.file_system.to_string_lossy()).into_owned(),
    )))
}

/// Syncs the file system of a file. Returns false if the file cannot be opened for that. The caller
/// measures that file next, and reports the failure then.
fn sync(file: &impl Openable, metadata: &Metadata) -> Result<bool, Errno> {
    if !matches!(
        metadata.file_type(),
        FileType::Directory | FileType::Regular
    ) {
        return Ok(false);
    }
    match file.open(metadata) {
        Ok(file) => syncfs(file).map(|()| true),
        Err(_) => Ok(false),
    }
}

/// A file that can be opened again.
trait Openable {
    /// Opens the file in any way, whatever it is.
    fn open_with(&self, flags: OFlags) -> Result<OwnedFd, Errno>;

    /// Opens the file for reading if it is the one with this metadata. It is a directory or a
    /// regular file.
    fn open(&self, metadata: &Metadata) -> Result<OwnedFd, Unknown>;
}

impl Openable for BorrowedFd<'_> {
    fn open_with(&self, _: OFlags) -> Result<OwnedFd, Errno> {
        fcntl_dupfd_cloexec(self, 0)
    }

    fn open(&self, _: &Metadata) -> Result<OwnedFd, Unknown> {
        Ok(fcntl_dupfd_cloexec(self, 0)?)
    }
}

/// The file that has the name of an entry.
struct Named<'a, 'b, S> {
    batch: &'a Batch<'b, S>,
    entry: &'a Entry<'b, S>,
}

impl<S> Openable for Named<'_, '_, S> {
    fn open_with(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        let link = if self.entry.is_followed() {
            OFlags::empty()
        } else {
            OFlags::NOFOLLOW
        };
        let directory = self
            .batch
            .fd()
            .map_err(|error| error.errno())?
            .unwrap_or(CWD);
        let flags = flags | link | OFlags::CLOEXEC;
        openat(directory, self.entry.c_name(), flags, Mode::empty())
    }

    fn open(&self, metadata: &Metadata) -> Result<OwnedFd, Unknown> {
        // Another file may have taken its place. With these flags, opening that one has no effect
        // and does not wait.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_with(flags)?;
        let stat = fstat(&file)?;
        let found = Identity {
            dev: stat.st_dev,
            ino: stat.st_ino,
        };
        if metadata.identity() != Some(found) {
            return Err(Unknown::Changing);
        }
        Ok(file)
    }
}
