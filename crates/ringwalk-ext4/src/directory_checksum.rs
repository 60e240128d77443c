//! Checksums of directory blocks. A block of entries has its checksum in a record of its own at the
//! end; a node of the index has it after the index's entries.

use crate::Error;
use crate::bytes::{Fixed, u16_at, u32_at};
use crate::checksum::crc32c;
use crate::directory::record_length;

/// Bytes of the last record: no inode, a length of 12 bytes, no name, a type that no file has
/// (`EXT4_FT_DIR_CSUM`), and the checksum.
const TAIL: usize = 12;
const TAIL_START: [u8; 8] = [0, 0, 0, 0, 12, 0, 0, 0xDE];
/// Bytes of an entry of the index. The limit and the count take the place of the first entry.
const INDEX_ENTRY: usize = 8;

/// Checks the block numbered `logical` of a directory whose checksums begin with `seed`. If the
/// directory has an index, the first block is the root, and any other block may be a node.
pub(crate) fn check(block: &[u8], seed: u32, has_index: bool, logical: u64) -> Result<(), Error> {
    let entries = if has_index {
        index_start(block, logical)
    } else {
        None
    };
    let is_right = match entries {
        Some(start) => is_right_index(block, seed, start),
        None => is_right_leaf(block, seed),
    };
    match is_right {
        Some(true) => Ok(()),
        _ => Err(Error::Checksum("a directory's block")),
    }
}

fn is_right_leaf(block: &[u8], seed: u32) -> Option<bool> {
    let (entries, tail) = block.split_at_checked(block.len().checked_sub(TAIL)?)?;
    let sum = u32_at(tail, TAIL_START.len())?;
    Some(tail.starts_with(&TAIL_START) && crc32c(seed, entries) == sum)
}

/// Returns the offset of the limit and the count if `block` is a node of the index. The root has
/// them after `.`, `..` and 8 bytes about the index. Other nodes have them after a record without
/// an inode whose length is the whole block.
fn index_start(block: &[u8], logical: u64) -> Option<usize> {
    let header = |at: usize| block.get(at..)?.first_chunk().map(Fixed::<8>);
    match record_length(header(0)?, block.len()) {
        length if length == block.len() => Some(8),
        12 if logical == 0 => {
            let parent = record_length(header(12)?, block.len());
            let about = block.get(24..32)?;
            let is_root = parent == block.len() - 12 && about[..4] == [0; 4] && about[5] == 8;
            is_root.then_some(32)
        }
        _ => None,
    }
}

/// Returns whether the checksum is right; `None` if the numbers are invalid. The checksum covers
/// the entries in use and the tail, which follows the space for entries. The tail has 4 unused
/// bytes and the checksum, which counts as 0.
fn is_right_index(block: &[u8], seed: u32, start: usize) -> Option<bool> {
    let limit = usize::from(u16_at(block, start)?);
    let count = usize::from(u16_at(block, start + 2)?);
    if count > limit {
        return None;
    }
    let tail = block
        .get(start + limit * INDEX_ENTRY..)?
        .first_chunk::<8>()?;
    let sum = crc32c(seed, block.get(..start + count * INDEX_ENTRY)?);
    let sum = crc32c(crc32c(sum, &tail[..4]), &[0; 4]);
    Some(sum == Fixed(tail).u32::<4>())
}

#[cfg(test)]
mod tests;
