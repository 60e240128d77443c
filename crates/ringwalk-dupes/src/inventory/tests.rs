use super::*;

#[test]
fn names_of_any_length_are_kept() {
    let mut inventory = Inventory::default();
    let names: Vec<Vec<u8>> = [0, 1, 254, 255, 256, 765, 4095]
        .into_iter()
        .map(|len| vec![b'n'; len])
        .collect();
    let places: Vec<u64> = names.iter().map(|name| inventory.add_name(name)).collect();
    for (place, name) in places.into_iter().zip(&names) {
        assert_eq!(inventory.name_at(place), name);
    }
}

/// Adds names of one inode number with two links each.
fn linked(names: usize, kind: &str) -> Inventory {
    let mut inventory = Inventory::default();
    let device = Device {
        number: Some(1),
        snapshot: None,
        trust: IdentityTrust::of_type(kind),
        info: None,
    };
    let device = inventory.device(device).unwrap();
    let dir = inventory.add_top(0).unwrap();
    let time = ringwalk::Timestamp { secs: 1, nanos: 0 };
    let version = ringwalk_hash::FileVersion {
        dev: 1,
        ino: 12,
        size: 5,
        mtime: time,
        ctime: time,
        btime: None,
    };
    let found = FoundFile {
        version,
        nlink: 2,
        device,
        dir,
    };
    for name in 0..names {
        let name = name.to_string();
        inventory.add_file(&found, name.as_bytes()).unwrap();
    }
    inventory.sort();
    inventory
}

#[test]
fn more_names_than_links_are_those_of_several_files() {
    for (names, kind, expected) in [(2, "fuse", 1), (4, "fuse", 4), (4, "ext4", 1)] {
        let inventory = linked(names, kind);
        let class = inventory.classes().next().unwrap();
        let files = inventory.inodes(class).count();
        assert_eq!(files, expected, "{names} names on {kind}");
    }
}
