//! Sweeps a whole XFS by BULKSTAT.
//!
//! INUMBERS returns which inodes are in use, 64 to a record. The sweep cuts the allocation groups
//! into pieces with about the same number of files. Reading an inode from the disk locks its
//! allocation group. So the list of pieces takes from each group in turn, and threads that take one
//! piece after the other mostly work in different groups. With a cold cache, two threads on pieces
//! of one group took 1.6 times the CPU time.

#[cfg(test)]
mod tests;

use crate::sources::sweep::handle::ask;
use crate::sources::sweep::{Inventory, Turns};
use crate::sources::volume::{OpenMount, Refused};
use crate::sources::xfs::{Xfs, is_unsure, to_metadata};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{FileHandle, XfsBulk, XfsBulkstat, XfsInodeChunk, open_by_handle};
use rustix::fs::OFlags;
use rustix::io::Errno;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// About how many files a piece has. With 256 the sweep takes a tenth to a fifth more CPU time;
/// with 4096 threads wait for the last one.
const PIECE: u32 = 1024;

/// How many records of INUMBERS one call asks for.
const CHUNKS: u32 = 4096;

/// How many more files a call asks for, if a piece has more files than when it was cut.
const FEW: u32 = 64;

/// After this many unsure files, their share is checked.
const MANY_UNSURE: u64 = 2000;

/// One file of so many may be unsure. A file asked for by handle takes 2.1 us more, any file 0.5
/// us, and a walk 1.3 us a file (Linux 6.18, from cache).
const LEAST_SURE: u64 = 3;

/// A piece: some inodes of one allocation group.
#[derive(Clone, Copy, Debug)]
struct InodeGroupPiece {
    group: u32,
    /// The first and the last inode number in use.
    first: u64,
    last: u64,
    /// How many inodes are in use.
    count: u32,
}

struct Groups {
    xfs: Xfs,
    pieces: Vec<InodeGroupPiece>,
    files: AtomicU64,
    unsure: AtomicU64,
}

/// Opens the file system of `mounted`.
///
/// # Errors
///
/// If BULKSTAT refuses, or the file system is not mounted as a whole.
pub(crate) fn open(mounted: Arc<OpenMount>) -> Result<Box<dyn Inventory>, Refused> {
    if mounted.mount.root != Path::new("/") {
        return Err(Refused::because("only a part of it is mounted"));
    }
    let xfs = Xfs::open(mounted)?;
    let handle = FileHandle::xfs(xfs.mounted.metadata.ino, xfs.generation);
    match open_by_handle(xfs.mounted.directory(), &handle, OFlags::PATH) {
        Ok(_) => {}
        Err(Errno::PERM) => return Err(Refused::because("CAP_DAC_READ_SEARCH is missing")),
        Err(errno) => {
            return Err(Refused::because(format!(
                "its files cannot be opened by handle: {errno}"
            )));
        }
    }
    let groups = (0..xfs.geometry.agcount).map(|group| cut(&xfs, group));
    let pieces = in_turn(groups.collect::<Result<_, _>>()?);
    Ok(Box::new(Groups {
        xfs,
        pieces,
        files: AtomicU64::new(0),
        unsure: AtomicU64::new(0),
    }))
}

/// Returns the pieces of an allocation group.
fn cut(xfs: &Xfs, group: u32) -> Result<Vec<InodeGroupPiece>, Refused> {
    let mut bulk = XfsBulk::<XfsInodeChunk>::default();
    let mut pieces: Vec<InodeGroupPiece> = Vec::new();
    let mut first = 0;
    loop {
        first = bulk
            .read(xfs.mounted.directory(), Some(group), first, CHUNKS)
            .map_err(|errno| Refused::because(format!("XFS_IOC_INUMBERS: {errno}")))?;
        let chunks = bulk.records();
        for chunk in chunks.iter().filter(|chunk| chunk.allocmask != 0) {
            add(&mut pieces, group, *chunk);
        }
        if chunks.len() < CHUNKS as usize {
            return Ok(pieces);
        }
    }
}

/// Adds the inodes in use of `chunk` to the last piece, or to a new one if that is full.
fn add(pieces: &mut Vec<InodeGroupPiece>, group: u32, chunk: XfsInodeChunk) {
    let used = chunk.allocmask;
    let first = chunk.startino + u64::from(used.trailing_zeros());
    let last = chunk.startino + u64::from(used.ilog2());
    match pieces.last_mut() {
        Some(piece) if piece.count < PIECE => {
            piece.last = last;
            piece.count += used.count_ones();
        }
        _ => pieces.push(InodeGroupPiece {
            group,
            first,
            last,
            count: used.count_ones(),
        }),
    }
}

/// Returns the first piece of each group, then the second ones, and so on.
fn in_turn(groups: Vec<Vec<InodeGroupPiece>>) -> Vec<InodeGroupPiece> {
    let mut groups: Vec<_> = groups.into_iter().map(Vec::into_iter).collect();
    let mut pieces = Vec::new();
    while !groups.is_empty() {
        groups.retain_mut(|group| match group.next() {
            Some(piece) => {
                pieces.push(piece);
                true
            }
            None => false,
        });
    }
    pieces
}

impl Inventory for Groups {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn sweep(&self, turns: &Turns, files: &mut dyn FnMut(&[Metadata])) -> Result<(), Refused> {
        let mut bulk = XfsBulk::default();
        let mut found = Vec::new();
        while let Some(piece) = turns.take() {
            self.sweep_piece(self.pieces[piece], &mut bulk, &mut found, files)?;
        }
        Ok(())
    }
}

impl Groups {
    fn sweep_piece(
        &self,
        piece: InodeGroupPiece,
        bulk: &mut XfsBulk<XfsBulkstat>,
        found: &mut Vec<Metadata>,
        files: &mut dyn FnMut(&[Metadata]),
    ) -> Result<(), Refused> {
        let directory = self.xfs.mounted.directory();
        let (mut first, mut most) = (piece.first, piece.count);
        loop {
            first = bulk
                .read(directory, Some(piece.group), first, most)
                .map_err(|errno| Refused::because(format!("XFS_IOC_BULKSTAT: {errno}")))?;
            found.clear();
            self.take(piece, bulk.records(), found)?;
            files(found);
            let is_end = bulk.records().len() < most as usize;
            if is_end || first > piece.last {
                return Ok(());
            }
            // Files were created meanwhile; files that were there before come after them.
            most = FEW;
        }
    }

    /// Puts the metadata of the files of `piece` among `records` into `found`.
    fn take(
        &self,
        piece: InodeGroupPiece,
        records: &[XfsBulkstat],
        found: &mut Vec<Metadata>,
    ) -> Result<(), Refused> {
        let root = self.xfs.mounted.metadata.ino;
        let mut unsure = 0;
        for record in records.iter().filter(|record| record.nlink > 0) {
            if record.ino > piece.last {
                break;
            }
            if record.ino == root {
                found.push(OpenMount::look_at(self.xfs.mounted.directory())?);
            } else if is_unsure(record, &self.xfs) {
                unsure += 1;
                let handle = FileHandle::xfs(record.ino, record.generation);
                found.extend(ask(&self.xfs.mounted, record.ino, &handle)?);
            } else {
                found.push(to_metadata(record, &self.xfs, Fields::STATX));
            }
        }
        self.check_share(found.len() as u64, unsure)
    }

    /// Refuses to continue if many files have to be asked for one by one.
    fn check_share(&self, files: u64, unsure: u64) -> Result<(), Refused> {
        let files = files + self.files.fetch_add(files, Ordering::Relaxed);
        let unsure = unsure + self.unsure.fetch_add(unsure, Ordering::Relaxed);
        if unsure > MANY_UNSURE && files / unsure < LEAST_SURE {
            return Err(Refused::because(format!(
                "{unsure} of {files} files were changed too lately"
            )));
        }
        Ok(())
    }
}
