use super::*;

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
        atime: false,
        xattrs: false,
        hash: false,
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
