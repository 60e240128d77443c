//! Lists directories, and looks up the inodes of their entries.

use super::Ext4;
use super::inodes::InodeLookup;
use super::metadata::{is_unsure, to_metadata};
use super::places::{self, Places};
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::volume::{
    DirectoryCopy, DirectoryKey, OpenMount, Position, Reader, Refused, Share, listed_type,
};
use crate::sources::wanted::Wanted;
use ringwalk_ext4::{DirEntry, Error, Inode, InodeFlags};
use ringwalk_sys::{RawFileType as FileType, Records};
use std::os::unix::fs::FileExt;
use std::sync::Arc;

/// A directory with more bytes than this is delivered in several batches.
const AT_ONCE: usize = 128 << 10;

/// About how many entries a batch of a large directory has: few enough to give other workers work
/// early.
const ENTRIES_AT_ONCE: usize = 2048;

/// How often the reader tries to read a directory that changes meanwhile.
const TRIES: usize = 4;

/// One worker's reader.
pub(super) struct Ext4Reader {
    volume: Arc<Ext4>,
    inodes: InodeLookup,
    /// The inode of the current directory.
    own: Vec<u8>,
    /// The same inode, read again.
    again: Vec<u8>,
    /// The blocks of the directory.
    blocks: Vec<u8>,
    /// The share of the memory for copies that the blocks of a large directory take.
    share: Option<Share>,
    /// The last block, read before the others.
    last_block: Vec<u8>,
}

fn refused(why: &Error) -> Refused {
    Refused::because(why.to_string())
}

impl Ext4Reader {
    pub(super) fn new(volume: Arc<Ext4>) -> Self {
        Self {
            volume,
            inodes: InodeLookup::default(),
            own: Vec::new(),
            again: Vec::new(),
            blocks: Vec::new(),
            share: None,
            last_block: Vec::new(),
        }
    }

    fn inode_size(&self) -> usize {
        usize::from(self.volume.file_system.superblock().inode_size)
    }

    /// Reads the whole directory into `own` and `blocks`, until it does not change during a read.
    fn read_copy(&mut self, ino: u32) -> Result<(), Refused> {
        let volume = Arc::clone(&self.volume);
        let file_system = &volume.file_system;
        let offset = file_system.inode_offset(ino).map_err(|why| refused(&why))?;
        let size = self.inode_size();
        self.own.resize(size, 0);
        self.again.resize(size, 0);
        read_exact(&volume, &mut self.own, offset)?;
        let mut last = None;
        for _ in 0..TRIES {
            let blocks = self.read_blocks(ino);
            read_exact(&volume, &mut self.again, offset)?;
            if self.own == self.again {
                let whole = blocks.and_then(|()| self.read_blocks_again(ino));
                match whole.and_then(|()| self.check_blocks(ino)) {
                    Ok(()) => return Ok(()),
                    // Perhaps the read was torn: a block is changed before its directory's inode
                    // is.
                    Err(why) => last = Some(why),
                }
            }
            std::mem::swap(&mut self.own, &mut self.again);
        }
        Err(last.unwrap_or_else(|| Refused::because("it changes all the time")))
    }

    /// Reads the blocks once more, if they have no checksums. A block that was read while it was
    /// written then looks like any other, and only a second read shows the difference.
    fn read_blocks_again(&mut self, ino: u32) -> Result<(), Refused> {
        let has_checksums = self.volume.file_system.superblock().has_checksums;
        if has_checksums || self.volume.mounted.mount.is_read_only() {
            return Ok(());
        }
        let volume = Arc::clone(&self.volume);
        let inode = directory(&volume.file_system, ino, &self.own)?;
        if inode.flags().contains(InodeFlags::INLINE_DATA) {
            return Ok(());
        }
        let changes = || Refused::because("its blocks change all the time");
        let places = Places::of(&volume, &inode, self.blocks.len())?;
        self.read_last_block(&places)?;
        if !self.blocks.ends_with(&self.last_block) {
            return Err(changes());
        }
        // The blocks are read in pieces, as memory may not hold the whole directory twice.
        let mut piece = vec![0; AT_ONCE.min(self.blocks.len())];
        places.each(|range, mut offset| {
            for before in self.blocks[range].chunks(AT_ONCE) {
                let now = &mut piece[..before.len()];
                read_exact(&volume, now, offset)?;
                if now != before {
                    return Err(changes());
                }
                offset += before.len() as u64;
            }
            Ok(())
        })
    }

    /// Reads the blocks of the directory whose inode is in `own`.
    fn read_blocks(&mut self, ino: u32) -> Result<(), Refused> {
        self.blocks.clear();
        let volume = Arc::clone(&self.volume);
        let inode = directory(&volume.file_system, ino, &self.own)?;
        if inode.flags().contains(InodeFlags::INLINE_DATA) {
            return Ok(());
        }
        let length = places::length(&volume, &inode)?;
        // The inode is appended to the blocks if they are kept.
        let kept = length + self.own.len();
        // Another try may find another size.
        self.share = None;
        self.share = share(&volume, length, kept)?;
        self.blocks.reserve_exact(kept);
        self.blocks.resize(length, 0);
        let places = Places::of(&volume, &inode, length)?;
        places.ask_ahead(&volume);
        self.read_last_block(&places)?;
        places.each(|range, offset| read_exact(&volume, &mut self.blocks[range], offset))?;
        if !self.blocks.ends_with(&self.last_block) {
            return Err(Refused::because("it changes all the time"));
        }
        Ok(())
    }

    /// Reads the last of several blocks. The caller does so before it reads the others, and
    /// compares it with a second read. When the driver splits a block, it copies half of it to a
    /// new block at the end. Then it removes that half from the old block, and only then changes
    /// the inode. So a reader that reads the old block before the split and the new block after it
    /// would have entries twice.
    fn read_last_block(&mut self, places: &Places) -> Result<(), Refused> {
        self.last_block.clear();
        let Some(offset) = places.last_block() else {
            return Ok(());
        };
        let block_size = self.volume.file_system.superblock().block_size;
        self.last_block.resize(block_size as usize, 0);
        read_exact(&self.volume, &mut self.last_block, offset)
    }

    /// Checks that all blocks of a directory that is delivered in several batches are sound,
    /// because delivered entries cannot be taken back.
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

    /// Fills in types that the directory lacks, if their inodes can be read. An entry that was
    /// deleted meanwhile stays without a type, and is asked for by name.
    fn find_types(&mut self, batch: &mut RawBatch) {
        if !batch.records.has_type(FileType::Unknown) {
            return;
        }
        let mut types = vec![FileType::Unknown; batch.records.len()];
        self.inodes
            .each(&self.volume, &batch.records, |index, inode| {
                types[index] = FileType::from_mode(inode.mode());
            });
        for (index, found) in types.into_iter().enumerate() {
            if batch.records.file_type(index) == FileType::Unknown && found != FileType::Unknown {
                batch.records.set_file_type(index, found);
            }
        }
    }

    /// Moves the blocks and the inode of a large directory into a copy, to be kept with the
    /// position. Returns `None` for a directory that is delivered at once. Copies only the inode.
    fn take_copy(&mut self) -> Option<Arc<DirectoryCopy>> {
        let share = self.share.take()?;
        let mut bytes = std::mem::take(&mut self.blocks);
        bytes.extend_from_slice(&self.own);
        Some(Arc::new(DirectoryCopy::new(bytes, share)))
    }

    /// Frees the blocks of a directory that is refused.
    fn forget(&mut self) {
        self.blocks = Vec::new();
        self.share = None;
    }
}

/// Takes `kept` bytes of the walk's memory for copies, for a directory of `length` bytes, if the
/// directory is held in memory until it is delivered.
fn share(volume: &Ext4, length: usize, kept: usize) -> Result<Option<Share>, Refused> {
    if length <= AT_ONCE {
        return Ok(None);
    }
    let share = volume.copies.take(kept);
    let share = share.ok_or_else(|| {
        Refused::because("other large directories are held in memory, as many as may be")
    })?;
    Ok(Some(share))
}

fn read_exact(volume: &Ext4, bytes: &mut [u8], offset: u64) -> Result<(), Refused> {
    let read = volume.device.read_exact_at(bytes, offset);
    read.map_err(|why| Refused::because(format!("its device: {why}")))
}

/// Returns the inode of a directory whose names can be read.
fn directory<'r>(
    file_system: &ringwalk_ext4::FileSystem,
    ino: u32,
    raw: &'r [u8],
) -> Result<Inode<'r>, Refused> {
    let inode = file_system.inode(ino, raw).map_err(|why| refused(&why))?;
    let inode = inode.ok_or_else(|| Refused::because("it has been deleted"))?;
    if FileType::from_mode(inode.mode()) != FileType::Directory {
        return Err(Refused::because("it is no longer a directory"));
    }
    if inode.flags().contains(InodeFlags::ENCRYPTED) {
        return Err(Refused::because("its names are encrypted"));
    }
    Ok(inode)
}

/// Returns true if a directory may have been created since the walk began. If its inode has no time
/// of birth, any change since then counts.
fn is_newborn(inode: &Inode<'_>, mounted: &OpenMount) -> bool {
    let born = inode.btime().unwrap_or_else(|| inode.ctime());
    mounted.is_new(born.secs)
}

/// Passes entries of a directory to `checker`, until there are enough for a batch: those in the
/// inode, and those in the blocks from `first` on. Returns the block to continue with.
fn take_blocks(
    volume: &Ext4,
    inode: &Inode<'_>,
    blocks: &[u8],
    first: u64,
    checker: &mut ListingChecker<'_>,
) -> Result<u64, Refused> {
    let file_system = &volume.file_system;
    if inode.flags().contains(InodeFlags::INLINE_DATA) {
        let read = file_system.inline_directory(inode, |entry| checker.take(entry));
        read.map_err(|why| refused(&why))?;
    }
    let block_size = file_system.superblock().block_size as usize;
    let skipped = usize::try_from(first).unwrap_or(usize::MAX) * block_size;
    let mut next = first;
    // If a listing continues, the blocks come from the copy that it began with.
    let rest = blocks.get(skipped..).unwrap_or_default();
    for block in rest.chunks_exact(block_size) {
        let read = file_system.directory_block(inode, next, block, |entry| checker.take(entry));
        read.map_err(|why| refused(&why))?;
        next += 1;
        if blocks.len() > AT_ONCE && checker.records.len() >= ENTRIES_AT_ONCE {
            break;
        }
    }
    Ok(next)
}

/// Takes the entries of a listing, and checks that they belong to the wanted directory.
struct ListingChecker<'t> {
    records: &'t mut Records,
    key: DirectoryKey<'t>,
    /// True if `..` names another directory than the expected parent.
    moved: bool,
    /// True if the listing has an entry `..`.
    has_parent: bool,
}

impl ListingChecker<'_> {
    /// Refuses a directory that has been moved. `whole` is true if its entries were read from the
    /// first on.
    fn check(&self, whole: bool) -> Result<(), Refused> {
        if self.moved {
            return Err(Refused::because("it has been moved"));
        }
        // Without this check a walk would descend without end into a damaged directory that is
        // below itself.
        if whole && !self.has_parent {
            return Err(Refused::because("it does not name the directory above it"));
        }
        Ok(())
    }

    #[inline]
    fn take(&mut self, entry: DirEntry<'_>) {
        match entry.name {
            b"." => {}
            b".." => {
                self.has_parent = true;
                let parent = self.key.parent;
                self.moved |= parent.is_some_and(|parent| parent != u64::from(entry.ino));
            }
            name => {
                let ino = u64::from(entry.ino);
                self.records
                    .push_bytes(name, listed_type(entry.file_type), ino);
            }
        }
    }
}

impl Reader for Ext4Reader {
    fn list(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let listed = self.list_batch(dir, from, batch);
        if listed.is_err() {
            batch.clear();
            self.forget();
        }
        listed
    }

    fn stat(&mut self, _: DirectoryKey<'_>, batch: &mut RawBatch, wanted: Wanted) {
        let RawBatch { records, known, .. } = batch;
        known.clear();
        known.resize(records.len(), Known::Nothing);
        let (mounted, fields) = (&self.volume.mounted, wanted.fields());
        self.inodes.each(&self.volume, records, |index, inode| {
            let file_type = FileType::from_mode(inode.mode());
            let followed = wanted.follows() && file_type == FileType::Symlink;
            // If the type differs, the number was used again after the directory was read.
            if file_type == records.file_type(index) && !followed && !is_unsure(inode, mounted) {
                known[index] = Known::Metadata(to_metadata(inode, mounted, fields));
            }
        });
    }
}

impl Ext4Reader {
    fn list_batch(
        &mut self,
        dir: DirectoryKey<'_>,
        from: Option<&Position>,
        batch: &mut RawBatch,
    ) -> Result<Option<Position>, Refused> {
        let ino =
            u32::try_from(dir.ino).map_err(|_| Refused::because("its number is too large"))?;
        let mut held = from.and_then(|position| position.bytes.clone());
        if held.is_none() {
            self.read_copy(ino)?;
            held = self.take_copy();
        }
        let (blocks, own) = match &held {
            Some(bytes) => {
                let behind = bytes.len().saturating_sub(self.inode_size());
                bytes.split_at(behind)
            }
            None => (&self.blocks[..], &self.own[..]),
        };
        let volume = Arc::clone(&self.volume);
        let inode = directory(&volume.file_system, ino, own)?;
        if dir.parent.is_some() && is_newborn(&inode, &volume.mounted) {
            // When the parent was read, the number may have belonged to another directory, which
            // had another name here.
            return Err(Refused::because("it was made a moment ago"));
        }
        let mut checker = ListingChecker {
            records: &mut batch.records,
            key: dir,
            moved: false,
            has_parent: false,
        };
        let first = from.map_or(0, |position| position.at);
        let next = take_blocks(&volume, &inode, blocks, first, &mut checker)?;
        checker.check(first == 0)?;
        let block_size = u64::from(volume.file_system.superblock().block_size);
        let position = (next * block_size < blocks.len() as u64).then(|| Position {
            bytes: held.clone(),
            ..Position::at(next)
        });
        self.find_types(batch);
        Ok(position)
    }
}
