use super::*;

fn known(kind: &'static str, uuid: &'static str, device: u64) -> KnownFileSystem<'static> {
    KnownFileSystem {
        kind: Some(kind),
        uuid: Some(uuid).filter(|uuid| !uuid.is_empty()),
        device,
        mount_point: Some(b"/mnt"),
        ..KnownFileSystem::default()
    }
}

#[test]
fn names_and_numbers_of_a_type_agree() {
    for (number, names, trust) in TYPES {
        for name in names {
            assert_eq!(IdentityTrust::of_type(name), trust, "{name}");
        }
        let rows = TYPES.iter().filter(|row| row.0 == number);
        assert_eq!(rows.count(), 1, "{names:?}");
    }
    assert_eq!(IdentityTrust::of_type("fuse.bindfs"), NO_TRUST);
    assert_eq!(IdentityTrust::of_type("bcachefs"), NO_TRUST);
}

#[test]
fn an_open_file_has_the_trust_of_its_type() {
    let proc = std::fs::File::open("/proc/self/mountinfo").unwrap();
    assert_eq!(IdentityTrust::of(&proc), NO_TRUST);
    let devices = TrustOfDevices::default();
    assert_eq!(devices.of(1, || None::<std::fs::File>), NO_TRUST);
    devices.0.write().unwrap().insert(1, ON_DISK);
    assert_eq!(devices.of(1, || Some(&proc)), ON_DISK);
}

#[test]
fn a_copy_of_a_device_has_the_name_but_not_the_device() {
    let origin = known("ext4", "u", 7);
    assert_eq!(origin.compare(&known("ext4", "u", 7)), Sameness::Same);
    assert_eq!(origin.compare(&known("ext4", "u", 8)), Sameness::SameName);
    assert_eq!(origin.compare(&known("ext2", "u", 7)), Sameness::Same);
    assert_eq!(origin.compare(&known("ext4", "v", 7)), Sameness::Different);
}

#[test]
fn only_types_and_names_that_stay_prove_that_it_is_another_one() {
    let other = |a: KnownFileSystem<'_>, b| a.is_surely_other(&b);
    assert!(other(known("ext4", "", 7), known("xfs", "", 7)));
    assert!(other(known("ext4", "u", 7), known("ext4", "v", 7)));
    assert!(!other(known("ext3", "u", 7), known("ext4", "u", 8)));
    assert!(!other(known("nfs", "", 7), known("nfs4", "", 8)));
    // A tree has another UUID each time that it is mounted.
    assert!(!other(known("overlay", "u", 7), known("overlay", "v", 7)));
    let nothing = KnownFileSystem::default();
    assert!(!other(known("ext4", "u", 7), nothing) && !other(nothing, known("ext4", "u", 7)));
    let subvolume = |number| KnownFileSystem {
        subvolume: Some(number),
        ..known("btrfs", "u", 40)
    };
    assert!(other(subvolume(5), subvolume(256)) && !other(subvolume(5), subvolume(5)));
    assert_eq!(
        known("ext4", "", 7).compare(&known("xfs", "", 7)),
        Sameness::Different
    );
}

#[test]
fn subvolumes_are_told_apart_by_number_and_not_by_device() {
    let subvolume = |number, device| KnownFileSystem {
        subvolume: Some(number),
        ..known("btrfs", "u", device)
    };
    assert_eq!(subvolume(5, 40).compare(&subvolume(5, 41)), Sameness::Same);
    assert_eq!(
        subvolume(5, 40).compare(&subvolume(256, 40)),
        Sameness::Different
    );
    let unknown = known("btrfs", "u", 40);
    assert_eq!(subvolume(5, 40).compare(&unknown), Sameness::SamePlace);
}

#[test]
fn without_a_uuid_only_the_place_is_the_same() {
    let tmpfs = known("tmpfs", "", 40);
    assert_eq!(tmpfs.compare(&known("tmpfs", "", 41)), Sameness::SamePlace);
    assert_eq!(
        tmpfs.compare(&known("ext4", "u", 40)),
        Sameness::Different,
        "another type"
    );
    let elsewhere = KnownFileSystem {
        mount_point: Some(b"/other"),
        ..tmpfs
    };
    assert_eq!(tmpfs.compare(&elsewhere), Sameness::Different);
    let imported = KnownFileSystem {
        device: 40,
        ..KnownFileSystem::default()
    };
    assert_eq!(imported.compare(&imported), Sameness::SamePlace);
    assert_eq!(
        imported.compare(&KnownFileSystem {
            device: 41,
            ..imported
        }),
        Sameness::Different
    );
}
