//! Space that belongs to a file alone, for `--exclusive`.
//!
//! What a file takes (`st_blocks`) less its extents that something else refers to as well: another file, a snapshot, or
//! the file itself a second time. So a file that shares nothing counts as it does without the option, except that compressed
//! extents of btrfs count as what they take on the disk, where `st_blocks` has what they would take uncompressed.
//!
//! | file system | what it shares | how that is told |
//! |---|---|---|
//! | ext2, ext3, ext4, tmpfs and others | nothing | |
//! | XFS | extents (reflinks) | FIEMAP's flag |
//! | btrfs | extents (reflinks, snapshots) | FIEMAP's flag |
//! | all others | | not at all, and that is an error |
//!
//! Extents are those on the disk: one of XFS that is to be copied on write is shared up to then, and a new one of btrfs does not
//! exist. So each file system is synced when it is met, and each file when it is asked for. A file that changes
//! meanwhile is asked again, a few times.

use std::fmt;
use std::os::fd::OwnedFd;
use std::sync::Mutex;

use ringwalk::shown::one_line;
use ringwalk::{Batch, Entry, Errno, FileType, Metadata, mounts};
use ringwalk_sys::btrfs::TreeSearch;
use ringwalk_sys::{ExtentMap, FileExtent};
use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Stat, StatxFlags, fstat, fstatfs, openat, statx, syncfs,
};

use super::compressed::Compressed;
use super::state::State;
use super::totals::lock;
use crate::console;

/// How often a file that changes is asked again.
const ATTEMPTS: usize = 4;

/// File systems of which no two files share any space, by `f_type` (`include/uapi/linux/magic.h` and statfs(2)).
const UNSHARED: [u64; 20] = [
    0xef53,      // ext2, ext3, ext4
    0x0102_1994, // tmpfs
    0x8584_58f6, // ramfs
    0x9584_58f6, // hugetlbfs
    0x4d44,      // FAT
    0x2011_bab0, // exFAT
    0x9fa0,      // proc
    0x6265_6572, // sysfs
    0x1cd1,      // devpts
    0x0027_e0eb, // cgroup
    0x6367_7270, // cgroup2
    0x6462_6720, // debugfs
    0x7472_6163, // tracefs
    0x7363_6673, // securityfs
    0x6265_6570, // configfs
    0x1980_0202, // mqueue
    0x6165_676c, // pstore
    0xcafe_4a11, // bpf
    0x4249_4e4d, // binfmt_misc
    0xde5e_81e4, // efivarfs
];
const XFS: u64 = 0x5846_5342;
const BTRFS: u64 = 0x9123_683e;

/// Why it cannot be told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unknown {
    /// The file system does not tell what is shared; its type.
    FileSystem(String),
    /// It is compressed, and how much it takes on the disk is not told.
    Compressed(Errno),
    /// It changed each time it was asked.
    Changing,
    /// The call failed.
    Failed(Errno),
}

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FileSystem(name) => write!(f, "{name} does not tell which space files share"),
            Self::Compressed(Errno::PERM) => f.write_str(
                "it is compressed, and only the administrator (CAP_SYS_ADMIN) is told the space that takes",
            ),
            Self::Compressed(errno) => write!(
                f,
                "it is compressed, and the space that takes cannot be told: {}",
                console::reason(&(*errno).into())
            ),
            Self::Changing => f.write_str("it changes while it is looked at"),
            Self::Failed(errno) => f.write_str(&console::reason(&(*errno).into())),
        }
    }
}

impl From<Errno> for Unknown {
    fn from(errno: Errno) -> Self {
        Self::Failed(errno)
    }
}

/// What a file system does.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Kind {
    /// Nothing is shared.
    Unshared,
    /// Extents are, and are told.
    Shared,
    /// Not known; its type.
    Unknown(String),
}

/// The devices met by all workers; mostly one, but each subvolume of btrfs is one.
#[derive(Debug, Default)]
pub(crate) struct Devices(Mutex<Vec<(u64, Kind)>>);

/// A worker's means to find out.
#[derive(Debug)]
pub(crate) struct Exclusive<'s> {
    map: ExtentMap,
    search: Option<TreeSearch>,
    /// Those that this worker has met.
    devices: Vec<(u64, Kind)>,
    all_devices: &'s Devices,
}

impl<'s> Exclusive<'s> {
    pub(crate) fn new(all_devices: &'s Devices) -> Self {
        Self {
            map: ExtentMap::default(),
            search: None,
            devices: Vec::new(),
            all_devices,
        }
    }

    /// The bytes that belong to an entry alone.
    ///
    /// # Errors
    ///
    /// If that cannot be told exactly.
    pub(crate) fn bytes<'b>(
        &mut self,
        batch: &Batch<'b, State>,
        entry: &Entry<'b, State>,
        metadata: &Metadata,
    ) -> Result<u64, Unknown> {
        let file = Named { batch, entry };
        let bytes = metadata.blocks.saturating_mul(512);
        match self.kind(metadata, &file)? {
            Kind::Unknown(name) => Err(Unknown::FileSystem(name)),
            Kind::Shared if metadata.file_type() == FileType::Regular && bytes > 0 => {
                self.unshared(&file.open(metadata)?)
            }
            Kind::Shared | Kind::Unshared => Ok(bytes),
        }
    }

    fn kind(&mut self, metadata: &Metadata, file: &Named<'_, '_>) -> Result<Kind, Errno> {
        let device = metadata.dev;
        let of_device = |known: &&(u64, Kind)| known.0 == device;
        if let Some((_, kind)) = self.devices.iter().find(of_device) {
            return Ok(kind.clone());
        }
        let mut all = lock(&self.all_devices.0);
        let known = all.iter().find(of_device).map(|(_, kind)| kind.clone());
        let kind = if let Some(kind) = known {
            kind
        } else {
            let kind = kind_of(&file.open_with(OFlags::PATH)?)?;
            // What other files share may be about to change, too.
            if kind == Kind::Shared && !sync(file, metadata)? {
                // The next file that can be opened will do.
                return Ok(kind);
            }
            all.push((device, kind.clone()));
            kind
        };
        self.devices.push((device, kind.clone()));
        Ok(kind)
    }

    /// The bytes of a regular file that it does not share.
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

    /// The bytes that it shares, and what is compressed of the others.
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

fn kind_of(file: &OwnedFd) -> Result<Kind, Errno> {
    // Magic numbers have 32 bits, and a signed field of that size has its sign extended.
    let magic = fstatfs(file)?.f_type.cast_unsigned() & 0xffff_ffff;
    if UNSHARED.contains(&magic) {
        return Ok(Kind::Unshared);
    }
    if [XFS, BTRFS].contains(&magic) {
        return Ok(Kind::Shared);
    }
    let id = statx(file, c"", AtFlags::EMPTY_PATH, StatxFlags::MNT_ID)?.stx_mnt_id;
    // Only its name: without the table of mounts the error has the number.
    let mounts = mounts::read().unwrap_or_default();
    let mount = mounts.into_iter().find(|mount| mount.id == id);
    Ok(Kind::Unknown(mount.map_or_else(
        || format!("a file system of type {magic:#x}"),
        // The user who mounted it chose its type.
        |mount| one_line(mount.file_system.to_string_lossy()).into_owned(),
    )))
}

/// Has the file system that a file is on written back. False if the file is none that can be opened for that, of which is told
/// elsewhere.
fn sync(file: &Named<'_, '_>, metadata: &Metadata) -> Result<bool, Errno> {
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

/// An entry as the file that has its name.
struct Named<'a, 'b> {
    batch: &'a Batch<'b, State>,
    entry: &'a Entry<'b, State>,
}

impl Named<'_, '_> {
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

    /// Opens the file that has this metadata, a directory or a regular one.
    fn open(&self, metadata: &Metadata) -> Result<OwnedFd, Unknown> {
        // Whatever may have taken its place, opening it has no effect and does not wait.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = self.open_with(flags)?;
        let stat = fstat(&file)?;
        if (stat.st_dev, stat.st_ino) != (metadata.dev, metadata.ino) {
            return Err(Unknown::Changing);
        }
        Ok(file)
    }
}
