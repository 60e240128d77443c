//! Parts of file systems for unit tests: a superblock of 4096 blocks of 1 KiB in two groups,
//! without features.

use crate::inode::{Inode, InodeFormat};
use crate::superblock::Superblock;

/// Returns the bytes of the superblock.
pub(crate) fn superblock_bytes() -> [u8; 1024] {
    let mut bytes = [0; 1024];
    for (at, word) in [
        (0x0, 512),
        (0x4, 4096),
        (0x14, 1),
        (0x20, 2048),
        (0x28, 256),
        (0x4C, 1),
        (0x54, 11),
        (0x58, 256),
    ] {
        set(&mut bytes, at, &u32::to_le_bytes(word));
    }
    set(&mut bytes, 0x38, &[0x53, 0xEF]);
    bytes
}

/// Returns the decoded superblock.
pub(crate) fn superblock() -> Superblock {
    match Superblock::decode(&superblock_bytes()) {
        Ok(superblock) => superblock,
        Err(error) => panic!("{error}"),
    }
}

/// Returns an inode of 256 bytes with one link, of the type and permissions `mode`.
pub(crate) fn inode_bytes(mode: u16) -> Vec<u8> {
    let mut bytes = vec![0; 256];
    set(&mut bytes, 0, &mode.to_le_bytes());
    set(&mut bytes, 0x1A, &[1, 0]);
    set(&mut bytes, 0x80, &[32, 0]);
    bytes
}

/// Decodes `bytes` as inode 12 of a file system with `superblock`.
pub(crate) fn inode<'b>(superblock: &Superblock, bytes: &'b [u8]) -> Inode<'b> {
    match Inode::decode(&InodeFormat::new(superblock), 12, bytes) {
        Ok(Some(inode)) => inode,
        other => panic!("{other:?}"),
    }
}

/// Writes `value` at `at`.
pub(crate) fn set(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}
