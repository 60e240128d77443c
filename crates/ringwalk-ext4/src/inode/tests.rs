//! Unit tests of `inode.rs`.

use super::*;
use crate::test_image::{inode, inode_bytes, set, superblock};

#[test]
fn free_inodes_are_none_before_anything_else() {
    let format = InodeFormat {
        seed: Some(0),
        ..InodeFormat::new(&superblock())
    };
    assert!(matches!(Inode::decode(&format, 12, &[0; 256]), Ok(None)));
    assert!(Inode::decode(&format, 12, &[0; 255]).is_err());
    let used = inode_bytes(0o100_644);
    assert!(matches!(
        Inode::decode(&format, 12, &used),
        Err(Error::Checksum(_))
    ));
}

#[test]
fn times_have_as_many_bits_as_the_inode_has_room_for() {
    let superblock = superblock();
    let mut bytes = inode_bytes(0o100_644);
    set(&mut bytes, 0x10, &(-2_i32).to_le_bytes());
    set(&mut bytes, 0x88, &(5_u32 << 2 | 1).to_le_bytes());
    set(&mut bytes, 0x90, &3_u32.to_le_bytes());
    set(&mut bytes, 0x94, &(6_u32 << 2).to_le_bytes());
    let long = Timestamp {
        secs: (1 << 32) - 2,
        nanos: 5,
    };
    let short = Timestamp { secs: -2, nanos: 0 };
    let birth = |nanos| Some(Timestamp { secs: 3, nanos });
    for (extra_size, mtime, btime) in [
        // An extra size of 0 stands for the known fields, as in the kernel.
        (0, long, birth(6)),
        (8, short, None),
        (12, long, None),
        (20, long, birth(0)),
        (24, long, birth(6)),
    ] {
        bytes[0x80] = extra_size;
        let inode = inode(&superblock, &bytes);
        assert_eq!(
            (inode.mtime(), inode.btime()),
            (mtime, btime),
            "{extra_size}"
        );
    }
    for extra_size in [2, 132] {
        bytes[0x80] = extra_size;
        let format = InodeFormat::new(&superblock);
        assert!(Inode::decode(&format, 12, &bytes).is_err(), "{extra_size}");
    }
}

#[test]
fn blocks_are_in_sectors() {
    let mut superblock = superblock();
    let mut bytes = inode_bytes(0o100_644);
    set(&mut bytes, 0x1C, &5_u32.to_le_bytes());
    set(&mut bytes, 0x74, &[1, 0]);
    set(&mut bytes, 0x4, &1025_u32.to_le_bytes());
    assert_eq!(inode(&superblock, &bytes).blocks(), 5);
    superblock.features.ro_compat = ro_compat::HUGE_FILE;
    assert_eq!(inode(&superblock, &bytes).blocks(), (1 << 32) + 5);
    set(&mut bytes, 0x20, &HUGE_FILE.to_le_bytes());
    assert_eq!(inode(&superblock, &bytes).blocks(), ((1 << 32) + 5) * 2);
    set(&mut bytes, 0x20, &InodeFlags::INLINE_DATA.to_le_bytes());
    assert_eq!(inode(&superblock, &bytes).blocks(), (1 << 32) + 5 + 3);
    bytes[1] = 0o040_000_u16.to_le_bytes()[1];
    assert_eq!(
        inode(&superblock, &bytes).blocks(),
        (1 << 32) + 5,
        "a directory"
    );
}

#[test]
fn sizes_beyond_4_gib_are_of_files_and_large_directories() {
    let mut superblock = superblock();
    for (mode, plain, large) in [(0o100_644, 1 << 32, 1 << 32), (0o040_755, 0, 1 << 32)] {
        let mut bytes = inode_bytes(mode);
        set(&mut bytes, 0x6C, &[1]);
        superblock.features.incompat = 0;
        assert_eq!(inode(&superblock, &bytes).size(), plain);
        superblock.features.incompat = incompat::LARGE_DIR;
        assert_eq!(inode(&superblock, &bytes).size(), large);
    }
}

#[test]
fn devices_are_numbered_in_two_ways() {
    let superblock = superblock();
    for (first, second, device) in [
        (0x0511, 0, (5, 17)),
        (0, 0x1234_5678, (0x456, 0x1_2378)),
        (0x1_0000, 0x1234_5678, (0, 0)),
    ] {
        let mut bytes = inode_bytes(0o020_644);
        set(&mut bytes, 0x28, &u32::to_le_bytes(first));
        set(&mut bytes, 0x2C, &u32::to_le_bytes(second));
        assert_eq!(inode(&superblock, &bytes).device(), device);
        bytes[1] = 0o010_000_u16.to_le_bytes()[1];
        assert_eq!(inode(&superblock, &bytes).device(), (0, 0), "a FIFO");
    }
}

#[test]
fn projects_are_a_feature() {
    let mut superblock = superblock();
    let mut bytes = inode_bytes(0o100_644);
    set(&mut bytes, 0x9C, &99_u32.to_le_bytes());
    assert_eq!(inode(&superblock, &bytes).project(), None);
    superblock.features.ro_compat = ro_compat::PROJECT;
    assert_eq!(inode(&superblock, &bytes).project(), Some(99));
    bytes[0x80] = 28;
    assert_eq!(inode(&superblock, &bytes).project(), Some(0), "no room");
}
