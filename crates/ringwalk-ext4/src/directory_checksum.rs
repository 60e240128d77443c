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
mod tests {
    use super::*;
    use crate::test_image::set;

    /// Returns whether the checksum of `block` is right. `logical` 1 may be a node other than the
    /// root.
    fn is_right(block: &[u8], has_index: bool, logical: u64) -> bool {
        check(block, 7, has_index, logical).is_ok()
    }

    /// Checks that the checksum covers each of these bytes: a change makes the block wrong.
    fn assert_covered(block: &[u8], logical: u64, covered: impl IntoIterator<Item = usize>) {
        for at in covered {
            let mut block = block.to_vec();
            block[at] ^= 0x40;
            assert!(!is_right(&block, true, logical), "{at}");
        }
    }

    /// Returns an index at `start` with 3 entries and room for 123.
    fn index(start: usize, head: &[u8]) -> Vec<u8> {
        let mut block = vec![0x55; 1024];
        set(&mut block, 0, head);
        set(&mut block, start, &[123, 0, 3, 0]);
        let tail = start + 123 * 8;
        let sum = crc32c(7, &block[..start + 24]);
        let sum = crc32c(crc32c(sum, &block[tail..tail + 4]), &[0; 4]);
        set(&mut block, tail + 4, &sum.to_le_bytes());
        block
    }

    #[test]
    fn blocks_of_entries_end_with_the_checksum() {
        let mut block = vec![0x55; 1024];
        set(&mut block, 4, &[100, 0]);
        set(&mut block, 1012, &TAIL_START);
        let sum = crc32c(7, &block[..1012]);
        set(&mut block, 1020, &sum.to_le_bytes());
        assert!(is_right(&block, false, 0) && is_right(&block, true, 1));
        assert_covered(&block, 1, 0..1024);
        assert!(check(&block, 8, false, 0).is_err(), "of another inode");
        assert!(check(&[], 7, true, 0).is_err());
    }

    #[test]
    fn nodes_of_an_index_have_it_behind_the_entries() {
        let node = index(8, &[0, 0, 0, 0, 0, 4, 0, 0]);
        assert!(is_right(&node, true, 1) && !is_right(&node, false, 1));
        assert_covered(&node, 1, (0..32).chain(992..1000));
        let mut wrong = node.clone();
        // More entries than room, and more room than the block has.
        for count in [[123, 0, 124, 0], [255, 255, 3, 0]] {
            set(&mut wrong, 8, &count);
            assert!(!is_right(&wrong, true, 1));
        }
    }

    #[test]
    fn the_root_of_an_index_begins_with_two_entries() {
        let dot = [2, 0, 0, 0, 12, 0, 1, 2, b'.', 0, 0, 0];
        let parent = [2, 0, 0, 0, 0xF4, 3, 2, 2, b'.', b'.', 0, 0];
        let about = [0, 0, 0, 0, 1, 8, 0, 0];
        let root = index(32, &[&dot[..], &parent, &about].concat());
        assert!(is_right(&root, true, 0));
        assert!(!is_right(&root, true, 1), "it is the first block only");
        assert_covered(&root, 0, (0..56).chain(1016..1024));
    }
}
