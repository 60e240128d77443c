//! Unit tests of `xattr.rs`.

use super::*;
use crate::test_image::{inode, inode_bytes, set, superblock_bytes};

/// Returns an entry of the namespace `user`.
fn entry(name: &[u8], offset: u16, holder: u32, size: u32) -> Vec<u8> {
    let mut bytes = vec![u8::try_from(name.len()).unwrap(), 1];
    bytes.extend(offset.to_le_bytes());
    bytes.extend(holder.to_le_bytes());
    bytes.extend(size.to_le_bytes());
    bytes.extend([0; 4]);
    bytes.extend(name);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// Returns the attributes of an inode that has `room` after its fields.
fn read_room(room: &[u8]) -> Result<Vec<Xattr>, Error> {
    let mut image = vec![0; 4096 * 1024];
    set(&mut image, 1024, &superblock_bytes());
    set(&mut image, 2048 + 8, &[10]);
    set(&mut image, 2048 + 32 + 8, &[100]);
    let file_system = FileSystem::open(&image[..])?;
    let mut bytes = inode_bytes(0o100_644);
    set(&mut bytes, 160, &MAGIC.to_le_bytes());
    set(&mut bytes, 164, room);
    let inode = inode(file_system.superblock(), &bytes);
    read(&file_system, &image[..], &inode)
}

#[test]
fn attributes_are_read() {
    let mut room = [entry(b"name", 80, 0, 5), entry(b"none", 0, 0, 0)].concat();
    room.resize(80, 0);
    room.extend(b"value");
    let expected = [
        Xattr {
            name: b"user.name".to_vec(),
            value: b"value".to_vec(),
        },
        Xattr {
            name: b"user.none".to_vec(),
            value: Vec::new(),
        },
    ];
    assert_eq!(read_room(&room).unwrap(), expected);
    assert!(read_room(&[]).unwrap().is_empty());
}

#[test]
fn blocks_have_checksums() {
    let mut image = vec![0; 4096 * 1024];
    set(&mut image, 1024, &superblock_bytes());
    set(&mut image, 2048 + 8, &[10]);
    set(&mut image, 2048 + 32 + 8, &[100]);
    let mut file_system = FileSystem::open(&image[..]).unwrap();
    file_system.superblock.has_checksums = true;
    let mut block = vec![0x55; 1024];
    set(&mut block, 0, &MAGIC.to_le_bytes());
    set(&mut block, 8, &[1, 0, 0, 0]);
    set(&mut block, 0x10, &[0; 4]);
    let sum = crc32c(file_system.superblock.seed, &99_u64.to_le_bytes());
    let sum = crc32c(sum, &block);
    set(&mut block, 0x10, &sum.to_le_bytes());
    assert!(check_block(&file_system, 99, &block).is_ok());
    assert!(
        check_block(&file_system, 98, &block).is_err(),
        "it is another one's"
    );
    for at in 0..block.len() {
        block[at] ^= 0x40;
        assert!(check_block(&file_system, 99, &block).is_err(), "{at}");
        block[at] ^= 0x40;
    }
}

#[test]
fn what_cannot_be_is_an_error() {
    for room in [
        entry(b"name", 90, 0, 5),
        entry(b"name", 0, 0, u32::MAX),
        entry(b"name", u16::MAX, 0, 1),
        // The values overlap. The sum of their sizes is larger than the room.
        [entry(b"a", 0, 0, 60), entry(b"b", 0, 0, 60)].concat(),
        // A value in another inode, without the feature `ea_inode`.
        entry(b"name", 0, 12, 5),
        // A name that continues past the end.
        [vec![1; 88], vec![255; 4]].concat(),
    ] {
        assert!(read_room(&room).is_err(), "{room:?}");
    }
}
