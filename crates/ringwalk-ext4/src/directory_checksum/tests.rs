//! Unit tests of `directory_checksum.rs`.

use super::*;
use crate::test_image::set;

/// Returns whether the checksum of `block` is right. `logical` 1 may be a node other than the root.
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
