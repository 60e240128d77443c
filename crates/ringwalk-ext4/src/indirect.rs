//! The block map of ext2 and ext3: 12 block numbers in the inode, then a block of block numbers, a
//! block of such blocks, and a block of those.

use crate::bytes::u32_at;
use crate::inode::Inode;
use crate::mapping::{Extent, Mapped};
use crate::{Error, ReadAt};

/// Number of block numbers in the inode that point to data.
const DIRECT: usize = 12;

/// Collects the extents of an inode. Block maps have no checksums.
pub(crate) fn collect(
    mapped: &mut Mapped<'_>,
    device: &(impl ReadAt + ?Sized),
    inode: &Inode<'_>,
) -> Result<(), Error> {
    let (direct, indirect) = inode.block_map().split_at(DIRECT * 4);
    data(mapped, direct, 0)?;
    let mut first = DIRECT as u64;
    for level in 1..=3_u32 {
        // The map of an inode always has 60 bytes.
        let block = u32_at(indirect, (level as usize - 1) * 4).unwrap_or(0);
        if block != 0 {
            visit(mapped, device, level, block, first)?;
        }
        first += span(mapped, level);
    }
    Ok(())
}

/// Returns the number of blocks of a file that a block of numbers covers, `level` steps from the
/// data.
fn span(mapped: &Mapped<'_>, level: u32) -> u64 {
    let numbers = u64::from(mapped.superblock.block_size / 4);
    // At most 2^14 numbers, and 3 levels.
    numbers.pow(level)
}

/// Visits a block of numbers and the blocks below it, which cover the file from block `first` on.
fn visit(
    mapped: &mut Mapped<'_>,
    device: &(impl ReadAt + ?Sized),
    level: u32,
    block: u32,
    first: u64,
) -> Result<(), Error> {
    mapped.count_pointers()?;
    let bytes = mapped.superblock.read_block(device, block.into())?;
    let Some(below @ 1..) = level.checked_sub(1) else {
        return data(mapped, &bytes, first);
    };
    let span = span(mapped, below);
    for (logical, number) in (first..).step_by(as_index(span)).zip(numbers(&bytes)) {
        if number != 0 {
            visit(mapped, device, below, number, logical)?;
        }
    }
    Ok(())
}

/// Converts a span, which is at most 2^28 blocks.
fn as_index(span: u64) -> usize {
    usize::try_from(span).unwrap_or(usize::MAX)
}

/// Adds the numbers of blocks with data. Contiguous blocks become one extent, and 0 is a hole.
fn data(mapped: &mut Mapped<'_>, bytes: &[u8], first: u64) -> Result<(), Error> {
    let mut run: Option<Extent> = None;
    for (logical, number) in (first..).zip(numbers(bytes)) {
        let physical = u64::from(number);
        match &mut run {
            Some(run) if number != 0 && run.physical + u64::from(run.blocks) == physical => {
                run.blocks += 1;
            }
            _ => {
                flush(mapped, run.take())?;
                run = (number != 0).then_some(Extent {
                    logical,
                    physical,
                    blocks: 1,
                });
            }
        }
    }
    flush(mapped, run)
}

fn flush(mapped: &mut Mapped<'_>, run: Option<Extent>) -> Result<(), Error> {
    let Some(run) = run else {
        return Ok(());
    };
    mapped.count()?;
    mapped.add(run)
}

fn numbers(bytes: &[u8]) -> impl Iterator<Item = u32> {
    bytes
        .as_chunks()
        .0
        .iter()
        .map(|number| u32::from_le_bytes(*number))
}
