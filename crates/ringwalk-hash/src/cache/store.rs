//! The file of a cache: opening, the lock, the header, and its replacement.

use super::record::BLOCK;
use super::{CacheError, CacheErrorKind};
use ringwalk_output::{Place, Unpublished};
use rustix::fs::{FlockOperation, Mode, OFlags, flock};
use rustix::io::Errno;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};

/// What each cache begins with.
const MAGIC: &[u8; 16] = b"ringwalk hashes\n";

/// The format that this program reads and writes.
const VERSION: u32 = 1;

/// Bytes of the header that its checksum covers. The rest of its block is zero.
const CHECKED: usize = 28;

/// How often a file is opened anew because another process replaces it at this moment.
const MOST_ATTEMPTS: usize = 100;

/// The permissions of a new cache. Hashes say much about contents.
const MODE: Mode = Mode::from_raw_mode(0o600);

/// The open and locked file of a cache.
#[derive(Debug)]
pub(super) struct Store {
    pub(super) file: File,
    /// The path, symbolic links resolved.
    pub(super) path: PathBuf,
    /// Where the appended section begins.
    pub(super) appended: u64,
    /// Number of blocks of the sorted section that are in the file.
    pub(super) blocks: u64,
    /// True if the file is shorter than its sorted section.
    pub(super) is_short: bool,
}

impl Store {
    /// Opens the file, or creates it.
    pub(super) fn open(path: &Path) -> Result<Self, CacheError> {
        let failed = |kind| CacheError::new(path, kind);
        let file = open_locked(path).map_err(failed)?;
        let resolved = fs::canonicalize(path).map_err(|error| failed(Open(error)))?;
        let length = file.metadata().map_err(|error| failed(Open(error)))?.len();
        let blocks = if length == 0 {
            begin(&file).map_err(|error| failed(Write(error)))?;
            0
        } else {
            read_header(&file).map_err(failed)?
        };
        let there = length.saturating_sub(BLOCK as u64) / BLOCK as u64;
        // No file is longer.
        let appended = blocks
            .checked_add(1)
            .and_then(|blocks| blocks.checked_mul(BLOCK as u64))
            .filter(|appended| i64::try_from(*appended).is_ok());
        Ok(Self {
            file,
            path: resolved,
            appended: appended.ok_or_else(|| failed(Damaged))?,
            blocks: blocks.min(there),
            is_short: there < blocks,
        })
    }

    /// Puts a new file into the place of this one. `fill` writes the sorted section behind the
    /// header, and returns the number of its blocks.
    pub(super) fn replace(&self, fill: impl FnOnce(&File) -> io::Result<u64>) -> io::Result<()> {
        let new = Unpublished::with_mode(&self.path, MODE)?;
        let blocks = fill(new.file())?;
        new.file().write_all_at(&header(blocks), 0)?;
        // A user who may not open the new cache gets an error.
        new.publish().map(|_| ())
    }
}

use CacheErrorKind::{Damaged, InUse, NotACache, Open, OtherVersion, Read, Write};

fn open_locked(path: &Path) -> Result<File, CacheErrorKind> {
    for _ in 0..MOST_ATTEMPTS {
        let opened = Place::of(path).and_then(|place| place.open(OFlags::empty(), MODE));
        let file = match opened.map_err(|error| (Errno::from_io_error(&error), error)) {
            Ok(file) => file,
            // A socket, or a device without a driver.
            Err((Some(Errno::NXIO | Errno::NODEV), _)) => return Err(NotACache),
            Err((_, error)) => return Err(Open(error)),
        };
        let opened = file.metadata().map_err(Open)?;
        if !opened.is_file() {
            return Err(NotACache);
        }
        match flock(&file, FlockOperation::NonBlockingLockExclusive) {
            Ok(()) => {}
            Err(Errno::WOULDBLOCK) => return Err(InUse),
            Err(errno) => return Err(Open(errno.into())),
        }
        // The lock is worth nothing if the process that had it has replaced the file.
        match fs::metadata(path) {
            Ok(found) if (found.dev(), found.ino()) == (opened.dev(), opened.ino()) => {
                return Ok(file);
            }
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => return Err(Open(error)),
        }
    }
    Err(InUse)
}

/// Makes an empty file an empty cache.
fn begin(file: &File) -> io::Result<()> {
    let written = file.write_all_at(&header(0), 0);
    if written.is_err() {
        // An empty file can become a cache later, a part of a header cannot.
        let _ = file.set_len(0);
    }
    written?;
    file.sync_all()
}

fn header(blocks: u64) -> [u8; BLOCK] {
    let mut bytes = [0; BLOCK];
    bytes[..16].copy_from_slice(MAGIC);
    bytes[16..20].copy_from_slice(&VERSION.to_le_bytes());
    bytes[20..CHECKED].copy_from_slice(&blocks.to_le_bytes());
    let sum = crc32c::crc32c(&bytes[..CHECKED]);
    bytes[CHECKED..CHECKED + 4].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// Returns the number of blocks of the sorted section.
fn read_header(file: &File) -> Result<u64, CacheErrorKind> {
    let mut bytes = [0; BLOCK];
    match file.read_exact_at(&mut bytes, 0) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            let is_cache = bytes.starts_with(MAGIC);
            return Err(if is_cache { Damaged } else { NotACache });
        }
        Err(error) => return Err(Read(error)),
    }
    if !bytes.starts_with(MAGIC) {
        return Err(NotACache);
    }
    let mut version = [0; 4];
    version.copy_from_slice(&bytes[16..20]);
    let version = u32::from_le_bytes(version);
    if version != VERSION {
        return Err(OtherVersion(version));
    }
    let mut blocks = [0; 8];
    blocks.copy_from_slice(&bytes[20..CHECKED]);
    let blocks = u64::from_le_bytes(blocks);
    if bytes != header(blocks) {
        return Err(Damaged);
    }
    Ok(blocks)
}
