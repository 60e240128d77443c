//! Unit tests of `item.rs`.

use super::*;

fn dir_item(objectid: u64, kind: u8, name: &[u8], file_type: u8) -> Vec<u8> {
    let mut data = objectid.to_le_bytes().to_vec();
    data.push(kind);
    data.extend([0; 16]);
    data.extend([0, 0]);
    data.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
    data.push(file_type);
    data.extend(name);
    data
}

#[test]
fn names_with_the_same_hash_share_an_item() {
    let mut data = dir_item(300, kind::INODE_ITEM, b"a", 1);
    data.extend(dir_item(258, kind::ROOT_ITEM, b"subvolume", 2));
    let entries: Vec<_> = DirItems(&data).collect();
    let expected = [
        Ok(DirItem {
            name: b"a".as_slice(),
            file_type: FileType::Regular,
            location: Location::Inode(300),
        }),
        Ok(DirItem {
            name: b"subvolume",
            file_type: FileType::Directory,
            location: Location::Subvolume(258),
        }),
    ];
    assert_eq!(entries, expected);
}

#[test]
fn bytes_that_are_not_an_entry_are_damage() {
    let whole = dir_item(300, kind::INODE_ITEM, b"name", 1);
    for length in 1..whole.len() {
        let entries: Vec<_> = DirItems(&whole[..length]).collect();
        assert_eq!(entries, [Err(Damaged)], "{length} bytes");
    }
    for (objectid_kind, name, file_type) in [
        (kind::DIR_ITEM, b"name".as_slice(), 1),
        (kind::INODE_ITEM, b"", 1),
        (kind::INODE_ITEM, b"a/b", 1),
        (kind::INODE_ITEM, b"a\0b", 1),
        (kind::INODE_ITEM, b"name", 8),
        (kind::INODE_ITEM, b"name", 0x81),
    ] {
        let data = dir_item(300, objectid_kind, name, file_type);
        assert_eq!(DirItems(&data).next(), Some(Err(Damaged)));
    }
}

#[test]
fn references_name_their_inode() {
    let mut data = Vec::new();
    for name in [b"first".as_slice(), b"second"] {
        data.extend(7_u64.to_le_bytes());
        data.extend(u16::try_from(name.len()).unwrap().to_le_bytes());
        data.extend(name);
    }
    assert!(has_name(&data, b"first") && has_name(&data, b"second"));
    assert!(!has_name(&data, b"firs") && !has_name(&data, b""));
    assert!(!has_name(&data[..data.len() - 1], b"second"));
}

#[test]
fn a_device_number_is_the_kernels() {
    assert_eq!(kernel_device(0x80_0123), makedev(8, 0x123));
}
