//! Lists directories, and looks up the inodes of their entries.

use super::Ext4;
use super::inodes::InodePieces;
use super::metadata::{is_unsure, to_metadata};
use crate::raw_batch::{Known, RawBatch};
use crate::stat::Wanted;
use crate::volume::{Position, Reader, Refused, Wanting};
use ringwalk_ext4::{DirEntry, Error, Inode, InodeFlags};
use ringwalk_sys::{RawFileType as FileType, Records};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A directory with more bytes than this is left to system calls: it would have to be held in memory whole, to be one
/// snapshot. Half a million names of 100 bytes fit.
const LARGEST: u64 = 64 << 20;

/// Directories with more bytes than this come in batches.
const AT_ONCE: usize = 128 << 10;

/// Entries of a batch of a large directory, about: so many that other workers find something to do.
const ENTRIES_AT_ONCE: usize = 2048;

/// How often a directory that changes while it is read is tried.
const TRIES: usize = 4;

/// One worker's reader.
pub(super) struct Ext4Reader {
    volume: Arc<Ext4>,
    inodes: InodePieces,
    /// The inode of the directory at hand.
    own: Vec<u8>,
    /// The same, read again.
    again: Vec<u8>,
    /// Its blocks.
    blocks: Vec<u8>,
    /// The directory listed last, and when it was last changed.
    listed: Option<(u64, i64)>,
}

fn refused(why: &Error) -> Refused {
    Refused::because(why.to_string())
}

impl Ext4Reader {
    pub(super) fn new(volume: Arc<Ext4>) -> Self {
        Self {
            volume,
            inodes: InodePieces::new(),
            own: Vec::new(),
            again: Vec::new(),
            blocks: Vec::new(),
            listed: None,
        }
    }

    fn inode_size(&self) -> usize {
        usize::from(self.volume.file_system.superblock().inode_size)
    }

    /// Reads the whole directory until nothing changes meanwhile, into `own` and `blocks`.
    fn read_snapshot(&mut self, ino: u32) -> Result<(), Refused> {
        let volume = Arc::clone(&self.volume);
        let file_system = &volume.file_system;
        let offset = file_system.inode_offset(ino).map_err(|why| refused(&why))?;
        let size = self.inode_size();
        self.inodes.after_change(Some(i64::MIN));
        self.own.clear();
        let kept = self.inodes.get(&volume.device, offset, size)?;
        self.own.extend_from_slice(kept);
        self.again.resize(size, 0);
        let mut last = None;
        for _ in 0..TRIES {
            let blocks = self.read_blocks(ino);
            volume
                .device
                .read_exact_at(&mut self.again, offset)
                .map_err(|error| Refused::because(format!("its device: {error}")))?;
            if self.own == self.again {
                match blocks.and_then(|()| self.check_blocks(ino)) {
                    Ok(()) => return Ok(()),
                    // Torn, perhaps: a block is changed before its directory's inode is.
                    Err(why) => last = Some(why),
                }
            }
            std::mem::swap(&mut self.own, &mut self.again);
        }
        Err(last.unwrap_or_else(|| Refused::because("it changes all the time")))
    }

    /// Reads what `own` says are its blocks.
    fn read_blocks(&mut self, ino: u32) -> Result<(), Refused> {
        self.blocks.clear();
        let file_system = &self.volume.file_system;
        let inode = directory(file_system, ino, &self.own)?;
        if inode.flags().contains(InodeFlags::INLINE_DATA) {
            return Ok(());
        }
        let size = inode.size();
        let block_size = u64::from(file_system.superblock().block_size);
        if size > LARGEST || size % block_size != 0 {
            return Err(Refused::because("it is too large to be read at one go"));
        }
        let length = usize::try_from(size).unwrap_or(usize::MAX);
        let most = usize::try_from(size / block_size).unwrap_or(usize::MAX);
        let extents = file_system
            .extents(&*self.volume.device, &inode, most)
            .map_err(|why| refused(&why))?;
        self.blocks.resize(length, 0);
        let mut next = 0;
        for extent in extents {
            if extent.logical != next {
                return Err(Refused::because("it has a hole"));
            }
            next += u64::from(extent.blocks);
            let start = usize::try_from(extent.logical * block_size).unwrap_or(usize::MAX);
            let end = usize::try_from(next * block_size).unwrap_or(usize::MAX);
            // Blocks beyond its size may be reserved for it.
            let end = end.min(length);
            let room = self
                .blocks
                .get_mut(start..end)
                .ok_or_else(|| Refused::because("it has blocks beyond its size"))?;
            self.volume
                .device
                .read_exact_at(room, extent.physical * block_size)
                .map_err(|error| Refused::because(format!("its device: {error}")))?;
        }
        if next * block_size < size {
            return Err(Refused::because("it has a hole at its end"));
        }
        Ok(())
    }

    /// Whether all blocks of a directory that comes in several batches are sound, as nothing that was given can be taken back.
    fn check_blocks(&self, ino: u32) -> Result<(), Refused> {
        if self.blocks.len() <= AT_ONCE {
            return Ok(());
        }
        let file_system = &self.volume.file_system;
        let inode = directory(file_system, ino, &self.own)?;
        let block_size = file_system.superblock().block_size as usize;
        for (logical, block) in (0..).zip(self.blocks.chunks_exact(block_size)) {
            file_system
                .directory_block(&inode, logical, block, |_| {})
                .map_err(|why| refused(&why))?;
        }
        Ok(())
    }

    /// Settles the types of entries that the directory does not tell.
    fn find_types(&mut self, batch: &mut RawBatch) -> Result<(), Refused> {
        if !batch.records.has_type(FileType::Unknown) {
            return Ok(());
        }
        let size = self.inode_size();
        let volume = Arc::clone(&self.volume);
        self.inodes
            .after_change(self.listed.map(|(_, changed)| changed));
        for index in 0..batch.records.len() {
            if batch.records.file_type(index) != FileType::Unknown {
                continue;
            }
            let ino = u32::try_from(batch.records.ino(index)).unwrap_or(0);
            let offset = volume
                .file_system
                .inode_offset(ino)
                .map_err(|why| refused(&why))?;
            let raw = self.inodes.get(&volume.device, offset, size)?;
            let inode = volume
                .file_system
                .inode(ino, raw)
                .map_err(|why| refused(&why))?;
            let inode = inode.ok_or_else(|| Refused::because("an entry has been deleted"))?;
            batch
                .records
                .set_file_type(index, FileType::from_mode(inode.mode()));
        }
        Ok(())
    }

    /// Metadata of one entry, if it is sure.
    #[inline]
    fn look_up(&mut self, volume: &Ext4, ino: u64, listed: FileType, wanted: Wanted) -> Known {
        let size = self.inode_size();
        let Ok(ino) = u32::try_from(ino) else {
            return Known::Nothing;
        };
        let Ok(offset) = volume.file_system.inode_offset(ino) else {
            return Known::Nothing;
        };
        let Ok(raw) = self.inodes.get(&volume.device, offset, size) else {
            return Known::Nothing;
        };
        let Ok(Some(inode)) = volume.file_system.inode(ino, raw) else {
            return Known::Nothing;
        };
        let file_type = FileType::from_mode(inode.mode());
        let followed = wanted.follows() && file_type == FileType::Symlink;
        if file_type != listed || followed || is_unsure(&inode, &volume.mounted) {
            return Known::Nothing;
        }
        Known::Metadata(to_metadata(&inode, &volume.mounted, wanted.fields()))
    }
}

/// The inode of a directory whose names can be read.
fn directory<'r>(
    file_system: &ringwalk_ext4::FileSystem,
    ino: u32,
    raw: &'r [u8],
) -> Result<Inode<'r>, Refused> {
    let inode = file_system.inode(ino, raw).map_err(|why| refused(&why))?;
    let inode = inode.ok_or_else(|| Refused::because("it has been deleted"))?;
    if FileType::from_mode(inode.mode()) != FileType::Directory {
        return Err(Refused::because("it is no directory any more"));
    }
    if inode.flags().contains(InodeFlags::ENCRYPTED) {
        return Err(Refused::because("its names are encrypted"));
    }
    Ok(inode)
}

/// `EXT4_FT_*` as the types of directory records.
fn file_type(ext4: u8) -> FileType {
    match ext4 {
        1 => FileType::Regular,
        2 => FileType::Directory,
        3 => FileType::CharacterDevice,
        4 => FileType::BlockDevice,
        5 => FileType::Fifo,
        6 => FileType::Socket,
        7 => FileType::Symlink,
        _ => FileType::Unknown,
    }
}

/// Takes entries, and looks whether they are those of the directory that was meant.
struct Taker<'t> {
    records: &'t mut Records,
    wanting: Wanting<'t>,
    moved: bool,
}

impl Taker<'_> {
    #[inline]
    fn take(&mut self, entry: DirEntry<'_>) {
        match entry.name {
            b"." => {}
            b".." => {
                let parent = self.wanting.parent;
                self.moved |= parent.is_some_and(|parent| parent != u64::from(entry.ino));
            }
            name => {
                let ino = u64::from(entry.ino);
                self.records
                    .push_bytes(name, file_type(entry.file_type), ino);
            }
        }
    }
}

impl Reader for Ext4Reader {
    fn list(
        &mut self,
        dir: Wanting<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        self.listed = None;
        let listed = self.list_batch(dir, from, batch);
        if listed.is_err() {
            batch.clear();
        }
        listed
    }

    fn stat(&mut self, dir: Wanting<'_>, batch: &mut RawBatch, wanted: Wanted) {
        let volume = Arc::clone(&self.volume);
        let listed = self.listed.filter(|(ino, _)| *ino == dir.ino);
        self.inodes.after_change(listed.map(|(_, changed)| changed));
        let length = batch.records.len();
        batch.known.clear();
        if length <= ENTRIES_AT_ONCE / 16 {
            for index in 0..length {
                let (ino, listed) = (batch.records.ino(index), batch.records.file_type(index));
                batch.known.push(self.look_up(&volume, ino, listed, wanted));
            }
            return;
        }
        // In the order of the table, so that each piece is read once.
        batch.known.resize(length, Known::Nothing);
        let mut order: Vec<_> = (0..length).collect();
        order.sort_unstable_by_key(|index| batch.records.ino(*index));
        for index in order {
            let (ino, listed) = (batch.records.ino(index), batch.records.file_type(index));
            batch.known[index] = self.look_up(&volume, ino, listed, wanted);
        }
    }
}

impl Ext4Reader {
    fn list_batch(
        &mut self,
        dir: Wanting<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let ino =
            u32::try_from(dir.ino).map_err(|_| Refused::because("its number is too large"))?;
        let held = from.and_then(|position| position.bytes.clone());
        if held.is_none() {
            self.read_snapshot(ino)?;
        }
        let size = self.inode_size();
        let (own, blocks) = match &held {
            Some(bytes) => bytes.split_at_checked(size).unwrap_or_default(),
            None => (&self.own[..], &self.blocks[..]),
        };
        let volume = Arc::clone(&self.volume);
        let inode = directory(&volume.file_system, ino, own)?;
        self.listed = Some((dir.ino, inode.ctime().secs));
        let mut taker = Taker {
            records: &mut batch.records,
            wanting: dir,
            moved: false,
        };
        if inode.flags().contains(InodeFlags::INLINE_DATA) {
            let read = volume
                .file_system
                .inline_directory(&inode, |entry| taker.take(entry));
            read.map_err(|why| refused(&why))?;
        }
        let block_size = volume.file_system.superblock().block_size as usize;
        let first = from.map_or(0, |position| position.at);
        let skipped = usize::try_from(first).unwrap_or(usize::MAX) * block_size;
        let mut next = first;
        for block in blocks
            .get(skipped..)
            .unwrap_or_default()
            .chunks_exact(block_size)
        {
            let read = volume
                .file_system
                .directory_block(&inode, next, block, |entry| taker.take(entry));
            read.map_err(|why| refused(&why))?;
            next += 1;
            if blocks.len() > AT_ONCE && taker.records.len() >= ENTRIES_AT_ONCE {
                break;
            }
        }
        if taker.moved {
            return Err(Refused::because("it has been moved"));
        }
        let position = (next * (block_size as u64) < blocks.len() as u64).then(|| Position {
            at: next,
            bytes: Some(
                held.clone()
                    .unwrap_or_else(|| [own, blocks].concat().into()),
            ),
        });
        self.find_types(batch)?;
        Ok(position)
    }
}
