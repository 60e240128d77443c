//! Unit tests of `inode_checksum.rs`.

use super::*;
use crate::inode::{Inode, InodeFormat};
use crate::test_image::{inode_bytes, set, superblock};

#[test]
fn checksums_cover_all_but_themselves() {
    let mut superblock = superblock();
    superblock.has_checksums = true;
    superblock.is_linux = true;
    superblock.seed = 7;
    let format = InodeFormat::new(&superblock);
    for extra_size in [0, 4, 32] {
        let mut bytes = inode_bytes(0o100_644);
        bytes[0x80] = extra_size;
        // Bytes 0x82 and 0x83 are the upper half of the checksum only if the extra fields include
        // them.
        let sum = crc32c(crc32c(crc32c(7, &12_u32.to_le_bytes()), &[0; 4]), &bytes);
        set(&mut bytes, 0x7C, &sum.to_le_bytes()[..2]);
        if extra_size > 0 {
            set(&mut bytes, 0x82, &sum.to_le_bytes()[2..]);
        }
        let is_used = |ino, bytes: &[u8]| Inode::decode(&format, ino, bytes).is_ok();
        assert!(is_used(12, &bytes), "{extra_size}");
        assert!(!is_used(13, &bytes));
        for at in (0..256).filter(|at| !(0x1A..0x1C).contains(at)) {
            bytes[at] ^= 0x80;
            assert!(!is_used(12, &bytes), "{extra_size} {at:#x}");
            bytes[at] ^= 0x80;
        }
    }
}
