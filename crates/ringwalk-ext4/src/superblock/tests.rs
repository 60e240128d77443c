//! Unit tests of `superblock.rs`.

use super::*;
use crate::test_image::{set, superblock_bytes};

/// Returns the result of decoding the superblock with `value` at `at`.
fn with(at: usize, value: u32) -> Result<Superblock, Error> {
    let mut bytes = superblock_bytes();
    set(&mut bytes, at, &value.to_le_bytes());
    Superblock::decode(&bytes)
}

#[test]
fn geometry_is_read() {
    let superblock = with(0x10, 77).unwrap();
    assert_eq!((superblock.block_size, superblock.inode_size), (1024, 256));
    assert_eq!((superblock.inodes, superblock.inodes_per_group), (512, 256));
    assert_eq!((superblock.free_inodes, superblock.groups), (77, 2));
    assert!(!superblock.has_checksums && !superblock.has_file_types);
    assert!(superblock.has_blocks(2, 4094) && !superblock.has_blocks(2, 4095));
    assert!(!superblock.has_blocks(1, 1) && !superblock.has_blocks(2, u64::MAX));
}

#[test]
fn the_first_revision_has_fixed_sizes() {
    let mut bytes = superblock_bytes();
    set(&mut bytes, 0x4C, &[0; 16]);
    let superblock = Superblock::decode(&bytes).unwrap();
    assert_eq!((superblock.inode_size, superblock.first_inode), (128, 11));
}

#[test]
fn numbers_that_cannot_be_are_errors() {
    for (at, value) in [
        (0x0, 513),
        (0x0, 0),
        (0x4, 0),
        (0x4, 1),
        (0x4, u32::MAX),
        (0x14, 2),
        (0x14, u32::MAX),
        (0x18, 1),
        (0x18, 7),
        (0x18, u32::MAX),
        (0x20, 0),
        (0x20, 8193),
        (0x28, 0),
        (0x28, 8193),
        (0x54, 10),
        (0x58, 0),
        (0x58, 64),
        (0x58, 192),
        (0x58, 2048),
        // 64bit, with descriptors of size 0.
        (0x60, 0x80),
        // bigalloc, with clusters of size 0.
        (0x64, 0x200),
    ] {
        assert!(
            matches!(with(at, value), Err(Error::Corrupt(_))),
            "{at:#x} {value}"
        );
    }
    assert!(matches!(with(0x38, 0), Err(Error::NotExt4)));
    assert!(matches!(with(0x60, 8), Err(Error::Unsupported(_))));
    assert!(matches!(with(0x64, 0x400), Err(Error::Checksum(_))));
    assert_eq!(
        with(0x64, 0x8000_0400 - 0x400).unwrap().unknown_features,
        1 << 31
    );
}

#[test]
fn a_checksum_that_is_no_crc32c_is_unknown() {
    let mut bytes = superblock_bytes();
    set(&mut bytes, 0x64, &[0, 4]);
    for (kind, is_known) in [(1, true), (2, false)] {
        bytes[0x175] = kind;
        let sum = crc32c(!0, &bytes[..0x3FC]);
        set(&mut bytes, 0x3FC, &sum.to_le_bytes());
        match Superblock::decode(&bytes) {
            Ok(superblock) => assert!(is_known && superblock.has_checksums),
            Err(Error::Unsupported(_)) => assert!(!is_known),
            Err(error) => panic!("{error}"),
        }
    }
    bytes[0] ^= 1;
    assert!(matches!(
        Superblock::decode(&bytes),
        Err(Error::Checksum(_))
    ));
}
