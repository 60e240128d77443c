//! The visitor of a walk that fills the inventory.

use crate::inventory::{DirId, FoundFile, Inventory, TooMany};
use ringwalk::identity::{IdentityTrust, TrustOfDevices};
use ringwalk::{Batch, Entry, Error, Fields, FileType, Flow, Identity, Metadata, Visitor};
use ringwalk_hash::{FileVersion, kernel_file_system};
use ringwalk_sys::sync::lock;
use rustix::fs::{Mode, OFlags, open, readlinkat};
use std::collections::HashMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// What the search wants from the walk.
#[derive(Debug)]
pub(crate) struct Wanted {
    /// The smallest size of a file in bytes.
    pub(crate) min: u64,
    /// Directories are compared, too: files of all sizes and types are needed.
    pub(crate) directories: bool,
    /// Directories whose files are never changed, with their paths without symbolic links.
    pub(crate) references: HashMap<Identity, Vec<PathBuf>>,
}

/// The metadata that the visitor needs.
pub(crate) const FIELDS: Fields = FileVersion::FIELDS.union(Fields::NLINK);

/// What all workers share.
pub(crate) struct Scan<'s> {
    pub(crate) inventory: Mutex<Inventory>,
    pub(crate) wanted: &'s Wanted,
    pub(crate) report: &'s (dyn Fn(ScanError<'_>) + Sync),
    pub(crate) has_too_many: AtomicBool,
    pub(crate) stop: &'s AtomicBool,
    pub(crate) trust: TrustOfDevices,
    /// Paths of directories that were not read completely.
    pub(crate) partial: Mutex<Vec<Vec<u8>>>,
}

/// What went wrong during a scan.
#[derive(Clone, Copy, Debug)]
pub enum ScanError<'e> {
    /// A file or directory could not be read.
    Walk(&'e Error),
    /// A root is neither a directory nor a regular file.
    Root(&'e [u8]),
}

/// What is kept of a directory while it is walked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct State(Option<Place>);

#[derive(Clone, Copy, Debug)]
struct Place {
    id: DirId,
    dev: Option<u64>,
    is_reference: bool,
}

/// The visitor of one worker.
pub(crate) struct LiveVisitor<'s> {
    scan: &'s Scan<'s>,
}

impl<'s> LiveVisitor<'s> {
    pub(crate) fn new(scan: &'s Scan<'s>) -> Self {
        Self { scan }
    }

    /// Returns how far identities can be trusted on the device of an entry.
    fn trust(&self, entry: &Entry<'_, State>, dev: u64) -> IdentityTrust {
        let link = if entry.depth() == 0 {
            OFlags::empty()
        } else {
            OFlags::NOFOLLOW
        };
        // The entry itself: what holds it can be on another device.
        let flags = OFlags::PATH | OFlags::CLOEXEC | link;
        let file = || open(entry.path(), flags, Mode::empty()).ok();
        self.scan.trust.of(dev, file)
    }

    /// Returns true if a directory is a reference. Also returns true if its path cannot be found
    /// out: then nothing in it is changed.
    fn is_reference(&self, entry: &Entry<'_, State>, identity: Identity, is_unique: bool) -> bool {
        let Some(paths) = self.scan.wanted.references.get(&identity) else {
            return false;
        };
        let path = OsString::from_vec(entry.path());
        is_unique || std::fs::canonicalize(path).map_or(true, |path| paths.contains(&path))
    }

    fn add_batch(&self, batch: &Batch<'_, State>) -> Result<(), TooMany> {
        let place = batch.dir().and_then(|dir| dir.state().0);
        let mut inventory = lock(&self.scan.inventory);
        for entry in batch.entries() {
            // The directories of roots come first in the inventory.
            #[expect(
                clippy::cast_possible_truncation,
                reason = "roots have numbers of 32 bits"
            )]
            let dir = place.map_or(DirId(entry.root_index() as u32), |place| place.id);
            let Some(metadata) = entry.metadata() else {
                // The error is reported.
                inventory.directories[dir.0 as usize].is_partial = true;
                entry.prune();
                continue;
            };
            match metadata.file_type() {
                FileType::Directory => {
                    self.add_directory(&entry, metadata, place, dir, &mut inventory)?;
                }
                FileType::Regular => self.add_file(&entry, metadata, place, dir, &mut inventory)?,
                _ if place.is_none() => (self.scan.report)(ScanError::Root(entry.name())),
                file_type if self.scan.wanted.directories => {
                    match other_contents(batch, &entry, metadata, file_type) {
                        Some(contents) => inventory.add_other(dir, entry.name(), contents),
                        None => inventory.directories[dir.0 as usize].is_partial = true,
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn add_directory(
        &self,
        entry: &Entry<'_, State>,
        metadata: &Metadata,
        above: Option<Place>,
        dir: DirId,
        inventory: &mut Inventory,
    ) -> Result<(), TooMany> {
        let is_new_device = above.is_some_and(|above| above.dev != metadata.dev());
        if !entry.will_descend() || (is_new_device && kernel_file_system(&entry.path()).is_some()) {
            inventory.directories[dir.0 as usize].is_partial = true;
            entry.prune();
            return Ok(());
        }
        let identity = metadata.identity();
        let is_unique = identity.is_some_and(|known| self.trust(entry, known.dev).is_unique);
        let is_reference = above.is_some_and(|above| above.is_reference)
            || identity.is_none_or(|identity| self.is_reference(entry, identity, is_unique));
        let id = match above {
            Some(above) => inventory.add_directory(above.id, entry.name())?,
            None => dir,
        };
        inventory.directories[id.0 as usize].identity = identity.filter(|_| is_unique);
        if is_reference {
            inventory.mark_reference(id);
        }
        entry.descend_with(State(Some(Place {
            id,
            dev: metadata.dev(),
            is_reference,
        })));
        Ok(())
    }

    fn add_file(
        &self,
        entry: &Entry<'_, State>,
        metadata: &Metadata,
        above: Option<Place>,
        dir: DirId,
        inventory: &mut Inventory,
    ) -> Result<(), TooMany> {
        // Every source gives these fields, or an error.
        let (Some(version), Some(nlink)) = (FileVersion::of(metadata), metadata.nlink()) else {
            inventory.directories[dir.0 as usize].is_partial = true;
            return Ok(());
        };
        if version.size < self.scan.wanted.min && !self.scan.wanted.directories {
            return Ok(());
        }
        let trust = || self.trust(entry, version.dev);
        let device = inventory.live_device(version.dev, trust)?;
        let found = FoundFile {
            version,
            nlink,
            device,
            dir,
        };
        let name = if above.is_some() { entry.name() } else { b"" };
        inventory.add_file(&found, name)?;
        Ok(())
    }
}

/// Returns what makes two files that are neither regular files nor directories the same. Returns
/// `None` if it could not be found out.
fn other_contents(
    batch: &Batch<'_, State>,
    entry: &Entry<'_, State>,
    metadata: &Metadata,
    file_type: FileType,
) -> Option<u128> {
    let mut text = vec![file_type as u8];
    match file_type {
        FileType::Symlink => {
            let directory = batch.fd().ok()??;
            let target = readlinkat(directory, entry.c_name(), Vec::new()).ok()?;
            text.extend_from_slice(target.as_bytes());
        }
        FileType::BlockDevice | FileType::CharacterDevice => {
            text.extend_from_slice(&metadata.rdev()?.to_le_bytes());
        }
        _ => {}
    }
    Some(ringwalk_hash::quick_hash(&text))
}

impl Visitor for LiveVisitor<'_> {
    type State = State;

    fn batch(&mut self, batch: &Batch<'_, State>) -> Flow {
        if self.scan.stop.load(Ordering::Relaxed) {
            return Flow::Stop;
        }
        if self.add_batch(batch).is_err() {
            self.scan.has_too_many.store(true, Ordering::Relaxed);
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        // A directory that has vanished may have been moved: its files are missing here.
        if self.scan.wanted.directories {
            lock(&self.scan.partial).push(error.path().as_os_str().as_encoded_bytes().to_vec());
        }
        (self.scan.report)(ScanError::Walk(error));
    }
}
