use super::*;
use crate::info::Text;
use crate::schema::Contents;

fn part(host: &str, root: u64) -> PartFacts {
    PartFacts {
        version: 1,
        task: 1,
        host: host.to_owned(),
        root_devices: vec![root],
        directories: 0,
        left: 0,
        resumed: None,
        failures: 0,
        contents: Contents::default(),
    }
}

fn file_system(device: u64, uuid: Option<&str>) -> FileSystemInfo {
    FileSystemInfo {
        device,
        uuid: uuid.map(str::to_owned),
        ..FileSystemInfo::default()
    }
}

#[test]
fn machines_number_the_same_file_systems_differently() {
    let mut devices = Devices::default();
    let one = [file_system(40, None), file_system(41, Some("a"))];
    assert_eq!(devices.add(&part("one", 40), &one), [40, 41]);
    // The root is at 41 there, and another file system at 40.
    let two = [
        file_system(41, None),
        file_system(7, Some("a")),
        file_system(40, Some("b")),
    ];
    assert_eq!(devices.add(&part("two", 41), &two), [40, 41, 42]);
    assert_eq!(devices.add(&part("two", 41), &two[1..]), [41, 42]);
    assert_eq!(devices.into_known().len(), 3);
}

/// Copies of a file system have the same UUID, and one machine can have mounted both.
#[test]
fn one_machine_has_two_file_systems_with_the_same_uuid() {
    let mut devices = Devices::default();
    let both = [file_system(1, Some("a")), file_system(2, Some("a"))];
    assert_eq!(devices.add(&part("one", 1), &both), [1, 2]);
    assert_eq!(devices.add(&part("two", 1), &both), [1, 2]);
}

#[test]
fn parts_complete_each_other() {
    let mut devices = Devices::default();
    devices.add(&part("one", 1), &[file_system(1, None)]);
    devices.add(&part("one", 1), &[file_system(1, Some("a"))]);
    let known = devices.into_known();
    assert_eq!(known.len(), 1);
    assert_eq!(known[0].uuid.as_deref(), Some("a"));
}

/// tmpfs numbers its inodes from the same beginning on every machine.
#[test]
fn a_place_is_the_same_file_system_only_where_inode_numbers_last() {
    let at = |device, kind: &str| FileSystemInfo {
        kind: Some(kind.to_owned()),
        mount_point: Some(Text::from(&b"/mnt"[..])),
        ..file_system(device, None)
    };
    let numbers = |kind| {
        let mut devices = Devices::default();
        devices.add(&part("one", 9), &[at(5, kind)]);
        devices.add(&part("two", 9), &[at(5, kind)])
    };
    assert_eq!(numbers("nfs4"), [5]);
    for kind in ["tmpfs", "overlay", "fuse.sshfs", "unheard-of"] {
        assert_eq!(numbers(kind), [6], "{kind}");
    }
    // Equal device numbers of two machines say nothing.
    let mut devices = Devices::default();
    devices.add(&part("one", 9), &[file_system(5, None)]);
    assert_eq!(devices.add(&part("two", 9), &[file_system(5, None)]), [6]);
}

#[test]
fn subvolumes_are_the_same_by_their_numbers() {
    let subvolume = |device, number| FileSystemInfo {
        kind: Some("btrfs".to_owned()),
        subvolume: Some(number),
        ..file_system(device, Some("u"))
    };
    let mut devices = Devices::default();
    devices.add(&part("one", 9), &[subvolume(40, 5), subvolume(41, 256)]);
    let two = [subvolume(40, 256), subvolume(41, 5), subvolume(42, 257)];
    assert_eq!(devices.add(&part("two", 9), &two), [41, 40, 42]);
}
