//! Finds out whether a file system is in memory.

use super::map::Mapper;
use ringwalk_ext4::{FileSystem, InodeTable};
use ringwalk_sys::cachestat;
use rustix::io::{Errno, ReadWriteFlags, preadv2};
use std::fs::File;
use std::io::IoSliceMut;
use std::os::unix::fs::FileExt;

/// How many samples of the inode tables are checked; for each sample, its directories are checked
/// too.
const SAMPLES: u64 = 32;

/// Bytes of a sample: one page, on machines with 4 KiB pages.
const SAMPLE: u64 = 4096;
const PAGE: [u8; 4096] = [0; 4096];

/// The file type bits in the upper byte of a mode, and their value for a directory (inode(7)).
const TYPE: u8 = 0xf0;
const DIRECTORY: u8 = 0x40;

/// Returns true if the disk would have to be read for blocks in use: if at least one in eight of
/// the samples is missing from memory. The samples are parts of `tables` and first blocks of
/// directories. Returns `None` if the kernel does not say.
///
/// Linux 6.5 answers by cachestat(2), which reads nothing. Older kernels answer by preadv2(2) with
/// `RWF_NOWAIT`: that starts reading missing blocks, and some devices refuse it.
pub(crate) fn is_cold(
    device: &File,
    file_system: &FileSystem,
    tables: &[InodeTable],
) -> Option<bool> {
    let inode_size = u64::from(file_system.superblock().inode_size.max(1));
    let inodes: u64 = tables.iter().map(|table| u64::from(table.count)).sum();
    let step = (inodes / SAMPLES).max(SAMPLE.div_ceil(inode_size));
    let mut look = Look {
        device,
        file_system,
        // No bound is needed: maps that are outside the inodes are not followed.
        mapper: Mapper::new(file_system, u64::MAX),
        looked_at: 0,
        missing: 0,
    };
    let (mut next, mut before) = (0, 0);
    for table in tables {
        let end = before + u64::from(table.count);
        while next < end {
            look.at_table(table, next - before)?;
            next += step;
        }
        before = end;
    }
    (look.looked_at > 0).then_some(look.missing >= look.looked_at.div_ceil(8))
}

struct Look<'a> {
    device: &'a File,
    file_system: &'a FileSystem,
    mapper: Mapper<'a>,
    looked_at: u32,
    missing: u32,
}

impl Look<'_> {
    /// Checks the page of the inode `index` of a table. If the page is in memory, also checks the
    /// directories in it.
    fn at_table(&mut self, table: &InodeTable, index: u64) -> Option<()> {
        let inode_size = u64::from(self.file_system.superblock().inode_size.max(1));
        let per_page = (SAMPLE / inode_size).max(1);
        let first = index - index % per_page;
        let offset = table.offset + first * inode_size;
        if !self.at(offset)? {
            return Some(());
        }
        let mut page = PAGE;
        self.device.read_exact_at(&mut page, offset).ok()?;
        let raws = page.chunks_exact(usize::try_from(inode_size).ok()?);
        for (index, raw) in (first..u64::from(table.count)).zip(raws) {
            if raw[1] & TYPE != DIRECTORY {
                continue;
            }
            let ino = table.first + u32::try_from(index).ok()?;
            let block_size = u64::from(self.file_system.superblock().block_size);
            if let Ok(Some(inode)) = self.file_system.inode(ino, raw)
                && let Some(extents) = self.mapper.map(self.device, &inode)
                && let Some(extent) = extents.first()
            {
                self.at(extent.physical * block_size)?;
            }
        }
        Some(())
    }

    /// Returns true if the page at `offset` is in memory, and counts the page.
    fn at(&mut self, offset: u64) -> Option<bool> {
        let cached = is_cached(self.device, offset - offset % SAMPLE).ok()?;
        self.looked_at += 1;
        self.missing += u32::from(!cached);
        Some(cached)
    }
}

fn is_cached(device: &File, offset: u64) -> Result<bool, Errno> {
    match cachestat(device, offset, SAMPLE) {
        Ok(found) => return Ok(found.cached > 0),
        Err(Errno::NOSYS | Errno::PERM) => (),
        Err(errno) => return Err(errno),
    }
    let mut bytes = [0];
    let mut into = [IoSliceMut::new(&mut bytes)];
    match preadv2(device, &mut into, offset, ReadWriteFlags::NOWAIT) {
        Ok(_) => Ok(true),
        Err(Errno::AGAIN) => Ok(false),
        Err(errno) => Err(errno),
    }
}
