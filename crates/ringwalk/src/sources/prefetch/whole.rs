//! Reads a whole file system ahead: inode tables, and then the directories in them, in the order of
//! the disk.

use super::Plan;
use super::fetch::{BlockKind, Ended, Fetcher};
use super::map::Mapper;
use super::ranges::{ByteRange, GAP, sort_and_merge};
use super::tables::NumberedTables;
use ringwalk_ext4::{Extent, FileSystem, InodeTable};

/// Bytes of tables that are read before their directories are. At 256 bytes an inode, these are a
/// quarter of a million inodes: if all were directories, the ranges of their blocks would take 16
/// MiB.
const TABLES_AT_A_TIME: u64 = 64 << 20;

/// The file type bits in the upper byte of a mode, and their value for a directory (inode(7)).
const TYPE: u8 = 0xf0;
const DIRECTORY: u8 = 0x40;

/// Reads the parts of `tables` that have been in use, and the blocks of every directory found in
/// them.
pub(super) fn read_whole(
    plan: &Plan<'_>,
    tables: &[InodeTable],
    fetcher: &mut Fetcher<'_>,
) -> Result<(), Ended> {
    let inode_size = u64::from(plan.file_system.superblock().inode_size);
    let mut mapper = Mapper::new(plan.file_system, fetcher.bytes_left());
    let numbered = NumberedTables::new(plan.file_system);
    let mut order: Vec<_> = tables.iter().collect();
    order.sort_unstable_by_key(|table| table.offset);
    let mut rest = order.as_slice();
    while !rest.is_empty() {
        let mut bytes = 0;
        let enough = rest.iter().position(|table| {
            let before = bytes;
            bytes += u64::from(table.count) * inode_size;
            before > 0 && bytes > TABLES_AT_A_TIME
        });
        let (now, later) = rest.split_at(enough.unwrap_or(rest.len()));
        rest = later;
        let mut places = read_tables(plan.file_system, now, fetcher, &mut mapper)?;
        mapper.resolve(fetcher, &numbered, |_, extents| {
            add_places(plan.file_system, &extents, &mut places);
        })?;
        sort_and_merge(&mut places, GAP);
        fetcher.fetch(&places, BlockKind::Directories, |_, _| ())?;
    }
    Ok(())
}

/// Reads tables, and returns the byte ranges of the directories in them.
fn read_tables(
    file_system: &FileSystem,
    tables: &[&InodeTable],
    fetcher: &mut Fetcher<'_>,
    mapper: &mut Mapper<'_>,
) -> Result<Vec<ByteRange>, Ended> {
    let superblock = file_system.superblock();
    let inode_size = usize::from(superblock.inode_size);
    let ranges: Vec<_> = tables
        .iter()
        .map(|table| {
            let bytes = u64::from(table.count) * u64::from(superblock.inode_size);
            let whole = bytes.next_multiple_of(u64::from(superblock.block_size));
            ByteRange::new(table.offset, whole)
        })
        .collect();
    let device = fetcher.device;
    let mut places = Vec::new();
    let mut current = 0;
    fetcher.fetch(&ranges, BlockKind::Inodes, |offset, bytes| {
        while ranges[current].end <= offset {
            current += 1;
        }
        let table = tables[current];
        let first = (offset - table.offset) / u64::from(superblock.inode_size);
        let Ok(first) = u32::try_from(first) else {
            return;
        };
        for (index, raw) in (first..table.count).zip(bytes.chunks_exact(inode_size)) {
            // Few inodes are directories. The mode is the first field, in little endian.
            if raw[1] & TYPE != DIRECTORY {
                continue;
            }
            if let Ok(Some(inode)) = file_system.inode(table.first + index, raw)
                && let Some(extents) = mapper.map(device, &inode)
            {
                add_places(file_system, &extents, &mut places);
            }
        }
    })?;
    Ok(places)
}

fn add_places(file_system: &FileSystem, extents: &[Extent], places: &mut Vec<ByteRange>) {
    let block_size = u64::from(file_system.superblock().block_size);
    places.extend(extents.iter().map(|extent| {
        ByteRange::new(
            extent.physical * block_size,
            u64::from(extent.blocks) * block_size,
        )
    }));
}
