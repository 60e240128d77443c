//! The rows of a snapshot as files of the inventory.

use crate::inventory::{Device, DirId, FoundFile, Inventory, KNOWN, RootRecord, TooMany};
use ringwalk::FileType;
use ringwalk_hash::{FileVersion, is_kernel_type};
use ringwalk_snapshot::{Column, FileSystemInfo, ReadError, Snapshot, timestamp};
use std::collections::HashMap;
use std::path::PathBuf;

/// Why a snapshot cannot be used.
#[derive(Debug)]
pub(crate) enum SavedError {
    Read(ReadError),
    /// It has no hashes.
    NoHashes,
    TooMany,
}

impl From<ReadError> for SavedError {
    fn from(error: ReadError) -> Self {
        Self::Read(error)
    }
}

impl From<TooMany> for SavedError {
    fn from(TooMany: TooMany) -> Self {
        Self::TooMany
    }
}

const COLUMNS: [Column; 18] = [
    Column::Root,
    Column::Dir,
    Column::SelfDir,
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Size,
    Column::Mtime,
    Column::Ctime,
    Column::Btime,
    Column::Ino,
    Column::Fs,
    Column::Nlink,
    Column::Rdev,
    Column::Target,
    Column::Errno,
    Column::Skipped,
    Column::Hash,
];

/// Adds the files of `snapshot`, the one with the number `number`, of at least `min` bytes.
pub(crate) fn add(
    inventory: &mut Inventory,
    snapshot: &Snapshot,
    number: usize,
    min: u64,
    with_directories: bool,
) -> Result<(), SavedError> {
    if !snapshot.has(Column::Hash) {
        return Err(SavedError::NoHashes);
    }
    let info = snapshot.info();
    let first_root = u32::try_from(inventory.roots().len()).map_err(|_| TooMany)?;
    for root in &info.roots {
        inventory.push_root(RootRecord {
            path: root.path.0.clone(),
            real: PathBuf::new(),
            snapshot: Some(number),
        });
    }
    let mut rows = Rows {
        inventory,
        number,
        first_root,
        file_systems: &info.file_systems,
        devices: HashMap::new(),
        directories: HashMap::new(),
        min,
        with_directories,
    };
    let mut scan = snapshot.scan(0..snapshot.rows(), &COLUMNS)?;
    while let Some(chunk) = scan.next_chunk()? {
        for at in 0..chunk.len() {
            rows.add(chunk, at)?;
        }
    }
    Ok(())
}

struct Rows<'r> {
    inventory: &'r mut Inventory,
    number: usize,
    first_root: u32,
    file_systems: &'r [FileSystemInfo],
    devices: HashMap<i64, u16>,
    /// The directories by their numbers in the snapshot. What is in a directory comes before its
    /// own row, so a directory has a place here before its name is known.
    directories: HashMap<i64, DirId>,
    min: u64,
    with_directories: bool,
}

impl Rows<'_> {
    fn add(&mut self, chunk: &ringwalk_snapshot::Chunk, at: usize) -> Result<(), SavedError> {
        let root = chunk.integer(Column::Root, at).unwrap_or(0);
        let root = self.first_root + u32::try_from(root).map_err(|_| TooMany)?;
        let above = match chunk.integer(Column::Dir, at) {
            Some(above) => Some(self.directory(above, root)?),
            None => None,
        };
        let is_unknown = chunk.integer(Column::Errno, at).is_some()
            || chunk.bytes(Column::Skipped, at).is_some();
        match chunk.file_type(at) {
            FileType::Directory => {
                let Some(own) = chunk.integer(Column::SelfDir, at) else {
                    // It was not read.
                    self.mark(above);
                    return Ok(());
                };
                let own = self.directory(own, root)?;
                let name = self.inventory.add_name(chunk.name(at));
                let record = &mut self.inventory.directories[own.0 as usize];
                record.parent = above.unwrap_or(own);
                record.is_partial |= is_unknown;
                if above.is_some() {
                    record.name = name;
                }
            }
            _ if is_unknown => self.mark(above),
            FileType::Regular => self.add_file(chunk, at, above, root)?,
            file_type if self.with_directories => {
                let mut text = vec![file_type as u8];
                if let Some(target) = chunk.bytes(Column::Target, at) {
                    text.extend_from_slice(target);
                }
                if let Some(device) = chunk.integer(Column::Rdev, at) {
                    text.extend_from_slice(&device.to_le_bytes());
                }
                if let Some(above) = above {
                    let contents = ringwalk_hash::quick_hash(&text);
                    self.inventory.add_other(above, chunk.name(at), contents);
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn add_file(
        &mut self,
        chunk: &ringwalk_snapshot::Chunk,
        at: usize,
        above: Option<DirId>,
        root: u32,
    ) -> Result<(), SavedError> {
        let number = |column| chunk.integer(column, at);
        let (Some(size), Some(ino)) = (number(Column::Size), number(Column::Ino)) else {
            self.mark(above);
            return Ok(());
        };
        let (size, ino) = (size.cast_unsigned(), ino.cast_unsigned());
        if size < self.min && !self.with_directories {
            return Ok(());
        }
        if size == 0 && self.may_say_wrong_sizes(number(Column::Fs)) {
            // A snapshot has no hash of a file of size 0, so its contents are not known.
            self.mark(above);
        }
        let dir = match above {
            Some(above) => above,
            // The root itself is a file. It gets a directory of its own, without a name.
            None => self.inventory.add_top(root)?,
        };
        let device = self.device(number(Column::Fs).unwrap_or(-1))?;
        let time = |column| timestamp(number(column).unwrap_or(0));
        let found = FoundFile {
            version: FileVersion {
                dev: 0,
                ino,
                size,
                mtime: time(Column::Mtime),
                ctime: time(Column::Ctime),
                btime: number(Column::Btime).map(timestamp),
            },
            nlink: number(Column::Nlink).map_or(0, |links| u32::try_from(links).unwrap_or(0)),
            device,
            dir,
        };
        let name = if above.is_some() { chunk.name(at) } else { b"" };
        let id = self.inventory.add_file(&found, name)?;
        if let Some(hash) = chunk.hash(at) {
            let place = u32::try_from(self.inventory.known.len()).map_err(|_| TooMany)?;
            if place >= KNOWN - 1 {
                return Err(SavedError::TooMany);
            }
            self.inventory.known.push(*hash);
            self.inventory.file(id).set_known(place);
        }
        Ok(())
    }

    /// Returns true if files on a file system may have contents and say that they are empty, or if
    /// it is not known.
    fn may_say_wrong_sizes(&self, index: Option<i64>) -> bool {
        let index = index.and_then(|index| usize::try_from(index).ok());
        let info = index.and_then(|index| self.file_systems.get(index));
        let kind = info.and_then(|info| info.kind.as_deref());
        kind.is_none_or(|kind| {
            kind.starts_with("fuse") || kind == "virtiofs" || is_kernel_type(kind)
        })
    }

    fn mark(&mut self, dir: Option<DirId>) {
        if let Some(dir) = dir {
            self.inventory.directories[dir.0 as usize].is_partial = true;
        }
    }

    fn directory(&mut self, number: i64, root: u32) -> Result<DirId, TooMany> {
        if let Some(known) = self.directories.get(&number) {
            return Ok(*known);
        }
        let id = self.inventory.add_top(root)?;
        self.directories.insert(number, id);
        Ok(id)
    }

    fn device(&mut self, index: i64) -> Result<u16, TooMany> {
        if let Some(known) = self.devices.get(&index) {
            return Ok(*known);
        }
        let info = usize::try_from(index)
            .ok()
            .and_then(|index| self.file_systems.get(index));
        let device = Device {
            number: None,
            snapshot: Some((self.number, index)),
            trust: info.map(FileSystemInfo::known).unwrap_or_default().trust(),
            info: info.cloned(),
        };
        let place = self.inventory.device(device)?;
        self.devices.insert(index, place);
        Ok(place)
    }
}
