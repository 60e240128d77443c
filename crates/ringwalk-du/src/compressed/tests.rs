use super::*;

fn item(compression: u8, kind: u8) -> Vec<u8> {
    let mut data = Vec::new();
    data.extend(7_u64.to_le_bytes()); // generation
    data.extend(131_072_u64.to_le_bytes()); // ram_bytes
    data.extend([compression, 0, 0, 0, kind]);
    for number in [1 << 30, 8192, 65536, 4096_u64] {
        data.extend(number.to_le_bytes());
    }
    data
}

#[test]
fn items_are_decoded() {
    let part_of = |data: &[u8]| {
        part(&Item {
            key: Key::first(257, EXTENT_DATA),
            data,
        })
    };
    let expected = Part {
        at: 1 << 30,
        on_disk: 8192,
        length: 4096,
    };
    assert_eq!(item(3, 1).len(), 53, "struct btrfs_file_extent_item");
    assert_eq!(part_of(&item(3, 1)), Some(expected));
    assert_eq!(part_of(&item(0, 1)), None);
    assert_eq!(part_of(&item(3, INLINE)), None);
    assert_eq!(part_of(&item(3, 1)[..52]), None);
    assert_eq!(part_of(&[]), None);
}
