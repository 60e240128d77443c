//! Sweeps the inode tables of ext2, ext3 and ext4 on the block device.
//!
//! The threads read the parts of the tables that have been in use, in the order of the disk. They
//! take pieces in turn, so any number of threads reads neighbouring pieces. An inode is in use if
//! it has links. An inode without links is deleted, even if a process still has it open, and no
//! walk would see it.

use crate::block::{BlockReader, ReaderOptions, Request};
use crate::sources::ext4::torn::read_settled;
use crate::sources::ext4::{Ext4, is_unsure, to_metadata};
use crate::sources::sweep::handle::ask;
use crate::sources::sweep::{Inventory, Turns};
use crate::sources::volume::{OpenMount, Refused};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_ext4::{FileSystem, InodeTable, ROOT_INODE};
use ringwalk_sys::FileHandle;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes of a piece: 1024 inodes of 256 bytes. At the end, a thread waits for the others no longer
/// than one piece takes.
const PIECE: u32 = 256 * 1024;

/// How many inodes are decoded and passed on at a time: their metadata stays in the nearest cache
/// of a CPU.
const AT_ONCE: usize = 64;

/// How many pieces a thread has in flight: enough to keep a disk busy, and few enough that all of
/// them are neighbours.
const DEPTH: u32 = 8;

/// The most inodes that are read for each inode in use.
const LEAST_SHARE: u64 = 64;

/// After this many files that had to be asked for, the sweep checks whether it saves work.
const MANY_ASKED: u64 = 1000;

/// A piece of a table.
#[derive(Clone, Copy, Debug)]
struct TablePiece {
    offset: u64,
    first: u32,
    count: u32,
}

/// The tables of one file system.
struct InodeTables {
    ext4: Ext4,
    fields: Fields,
    pieces: Vec<TablePiece>,
    /// Files that the tables describe, and files that the kernel had to be asked for.
    sure: AtomicU64,
    asked: AtomicU64,
}

/// Opens the file system of `mounted`.
///
/// # Errors
///
/// If it cannot be read past the VFS, or a walk is likely to be faster.
pub(crate) fn open(mounted: Arc<OpenMount>, fields: Fields) -> Result<Box<dyn Inventory>, Refused> {
    let ext4 = Ext4::open(mounted)?;
    if ext4.mounted.metadata.ino != u64::from(ROOT_INODE) {
        return Err(Refused::because("only a part of it is mounted"));
    }
    let tables = read_settled(|| ext4.file_system.inode_tables(&*ext4.device))
        .map_err(|why| Refused::because(why.to_string()))?;
    check_share(&ext4, &tables)?;
    let inode_size = u32::from(ext4.file_system.superblock().inode_size);
    let pieces = tables
        .iter()
        .flat_map(|table| cut(table, inode_size))
        .collect();
    Ok(Box::new(InodeTables {
        ext4,
        fields,
        pieces,
        sure: AtomicU64::new(0),
        asked: AtomicU64::new(0),
    }))
}

/// Refuses tables that are nearly empty. File systems without `uninit_bg` have such tables, because
/// they do not record which inodes have been in use.
fn check_share(ext4: &Ext4, tables: &[InodeTable]) -> Result<(), Refused> {
    let read: u64 = tables.iter().map(|table| u64::from(table.count)).sum();
    let stat = rustix::fs::fstatvfs(ext4.mounted.directory())
        .map_err(|errno| Refused::because(errno.to_string()))?;
    let used = stat.f_files.saturating_sub(stat.f_ffree);
    if read / LEAST_SHARE > used {
        return Err(Refused::because(format!(
            "its inode tables are nearly empty: {used} of {read} are in use"
        )));
    }
    Ok(())
}

fn cut(table: &InodeTable, inode_size: u32) -> impl Iterator<Item = TablePiece> + use<> {
    let at_once = PIECE / inode_size;
    let (first, count, offset) = (table.first, table.count, table.offset);
    (0..count)
        .step_by(at_once as usize)
        .map(move |start| TablePiece {
            offset: offset + u64::from(start) * u64::from(inode_size),
            first: first + start,
            count: at_once.min(count - start),
        })
}

impl Inventory for InodeTables {
    fn pieces(&self) -> usize {
        self.pieces.len()
    }

    fn sweep(&self, turns: &Turns, files: &mut dyn FnMut(&[Metadata])) -> Result<(), Refused> {
        let options = ReaderOptions {
            depth: DEPTH,
            buffer_size: PIECE,
            ..ReaderOptions::default()
        };
        let reader = BlockReader::new(Arc::clone(&self.ext4.device), &options);
        let mut reader = reader.map_err(|why| Refused::because(why.to_string()))?;
        let inode_size = u32::from(self.ext4.file_system.superblock().inode_size);
        let requests = std::iter::from_fn(|| {
            let index = turns.take()?;
            let piece = self.pieces.get(index)?;
            Some(Request {
                offset: piece.offset,
                len: piece.count * inode_size,
                tag: index as u64,
            })
        });
        let mut found = Vec::new();
        let mut refused = None;
        // The stream ends early only after a refusal: the reader passes on each request, failed or
        // not.
        let _ = reader.read_stream(requests, |request, bytes| {
            // The tag is an index of `pieces`.
            let piece = self.pieces[usize::try_from(request.tag).unwrap_or(usize::MAX)];
            let given = bytes
                .map_err(|why| Refused::because(format!("its device: {why}")))
                .and_then(|bytes| self.give(piece, bytes, &mut found, files));
            match given {
                Ok(()) => ControlFlow::Continue(()),
                Err(why) => {
                    refused = Some(why);
                    ControlFlow::Break(())
                }
            }
        });
        refused.map_or(Ok(()), Err)
    }
}

impl InodeTables {
    /// Passes the files of one piece to `files`, some at a time. `found` is a buffer for them.
    fn give(
        &self,
        piece: TablePiece,
        bytes: &[u8],
        found: &mut Vec<Metadata>,
        files: &mut dyn FnMut(&[Metadata]),
    ) -> Result<(), Refused> {
        let inode_size = usize::from(self.ext4.file_system.superblock().inode_size);
        let firsts = (piece.first..).step_by(AT_ONCE);
        for (first, bytes) in firsts.zip(bytes.chunks(AT_ONCE * inode_size)) {
            self.take(first, bytes, found)?;
            files(found);
        }
        Ok(())
    }

    /// Puts the files into `found` whose inodes, from the number `first` on, are in `bytes`.
    fn take(&self, first: u32, bytes: &[u8], found: &mut Vec<Metadata>) -> Result<(), Refused> {
        let Ext4 {
            file_system,
            mounted,
            ..
        } = &self.ext4;
        let inode_size = usize::from(file_system.superblock().inode_size);
        found.clear();
        let mut asked = 0;
        for (ino, raw) in (first..).zip(bytes.chunks_exact(inode_size)) {
            let inode = match file_system.inode(ino, raw) {
                Ok(None) => continue,
                Ok(Some(inode)) => inode,
                // Perhaps the read was torn.
                Err(_) => {
                    self.read_again(ino, found)?;
                    continue;
                }
            };
            if file_system.is_hidden(&inode) {
                continue;
            }
            if is_unsure(&inode, mounted) {
                asked += 1;
                found.extend(ask(
                    mounted,
                    ino.into(),
                    &FileHandle::ext4(ino, inode.generation()),
                )?);
            } else {
                found.push(to_metadata(&inode, mounted, self.fields));
            }
        }
        self.check_worth(found.len() as u64 - asked.min(found.len() as u64), asked)
    }

    /// Refuses to continue if most files have to be asked for, for example just after the whole
    /// tree was written. A walk asks faster, by names.
    fn check_worth(&self, sure: u64, asked: u64) -> Result<(), Refused> {
        let sure = self.sure.fetch_add(sure, Ordering::Relaxed) + sure;
        let asked = self.asked.fetch_add(asked, Ordering::Relaxed) + asked;
        if asked >= MANY_ASKED && asked > sure {
            return Err(Refused::because("most files were changed lately"));
        }
        Ok(())
    }

    /// Reads an inode again that was read while it was written, or is damaged.
    #[cold]
    fn read_again(&self, ino: u32, found: &mut Vec<Metadata>) -> Result<(), Refused> {
        let Ext4 {
            file_system,
            mounted,
            device,
            ..
        } = &self.ext4;
        let raw = read_inode(file_system, device, ino)?;
        let inode = file_system
            .inode(ino, &raw)
            .map_err(|why| Refused::because(format!("inode {ino}: {why}")))?;
        match inode {
            Some(inode) if !file_system.is_hidden(&inode) => {
                found.extend(ask(
                    mounted,
                    ino.into(),
                    &FileHandle::ext4(ino, inode.generation()),
                )?);
            }
            _ => {}
        }
        Ok(())
    }
}

fn read_inode(
    file_system: &FileSystem,
    device: &std::fs::File,
    ino: u32,
) -> Result<Vec<u8>, Refused> {
    let failed = |why: String| Refused::because(format!("inode {ino}: {why}"));
    let offset = file_system
        .inode_offset(ino)
        .map_err(|why| failed(why.to_string()))?;
    let mut raw = vec![0; usize::from(file_system.superblock().inode_size)];
    std::os::unix::fs::FileExt::read_exact_at(device, &mut raw, offset)
        .map_err(|why| failed(why.to_string()))?;
    Ok(raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_cut_without_gap_or_overlap() {
        let table = InodeTable {
            first: 8193,
            count: 2500,
            offset: 1 << 20,
        };
        let pieces: Vec<_> = cut(&table, 256).collect();
        let counts: Vec<_> = pieces.iter().map(|piece| piece.count).collect();
        assert_eq!(counts, [1024, 1024, 452]);
        for pair in pieces.windows(2) {
            assert_eq!(pair[0].first + pair[0].count, pair[1].first);
            let bytes = u64::from(pair[0].count) * 256;
            assert_eq!(pair[0].offset + bytes, pair[1].offset);
        }
        assert_eq!((pieces[0].first, pieces[0].offset), (8193, 1 << 20));
    }
}
