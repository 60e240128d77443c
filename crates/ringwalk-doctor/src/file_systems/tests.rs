use super::*;
use crate::place::Device;
use crate::testing::{place, user};
use ringwalk_sys::magic;

fn problems(source: SourceChoice, user: &User, place: &Place) -> Vec<String> {
    obstacles(source, "the reason", user, place)
        .into_iter()
        .map(|obstacle| obstacle.problem)
        .collect()
}

#[test]
fn the_block_device_must_be_there_and_readable() {
    let device = |place: &Place| device(SourceChoice::Ext4, place);
    for name in SourceChoice::Ext4.file_systems() {
        let mut place = place(name);
        let null = device(&place);
        assert!(null[0].problem.contains("/dev/null"), "no file system");
        place.device.unreadable = Some("Permission denied".to_owned());
        assert!(device(&place)[0].remedy.contains("disk"));
        place.device.forbidden = true;
        assert!(device(&place)[0].remedy.contains("device rules"));
        place.device = Device {
            major: 8,
            minor: 1,
            ..Device::default()
        };
        assert!(device(&place)[0].problem.contains("8:1"));
    }
    assert!(device(&place("xfs"))[0].problem.contains("but of xfs"));
}

#[test]
fn an_unknown_feature_is_named() {
    // A superblock (Documentation/filesystems/ext4/globals.rst) of revision 1 that wants
    // `dirdata` to be known.
    let mut image = vec![0; 64 * 1024];
    for (at, value) in [
        (0x38, u32::try_from(magic::EXT4).unwrap()),
        (0x4c, 1),
        (0x60, 0x1000),
    ] {
        image[1024 + at..][..4].copy_from_slice(&value.to_le_bytes());
    }
    let path = std::env::temp_dir().join(format!("ringwalk-dirdata-{}", std::process::id()));
    std::fs::write(&path, image).unwrap();
    let mut place = place("ext4");
    place.device.path = path.to_str().map(str::to_owned);
    let found = device(SourceChoice::Ext4, &place);
    std::fs::remove_file(&path).unwrap();
    assert!(
        found[0].problem.ends_with("unknown feature dirdata"),
        "{found:?}"
    );
    assert!(found[0].remedy.contains("version"));
}

#[test]
fn privileges_must_be_the_hosts() {
    let contained = User {
        initial_namespace: false,
        ..user(true)
    };
    let of = |user: &User| problems(SourceChoice::Xfs, user, &place("xfs"));
    assert_eq!(of(&user(true)), ["the reason"]);
    assert!(of(&user(false))[0].contains("CAP_SYS_ADMIN"));
    assert!(of(&contained)[0].contains("namespace"));
    let both = problems(SourceChoice::Btrfs, &user(false), &place("xfs"));
    assert_eq!(both.len(), 2);
}

#[test]
fn without_the_table_of_mounts_the_reason_is_told() {
    let mut place = place("xfs");
    place.file_system = None;
    let of = |place: &Place| problems(SourceChoice::Xfs, &user(true), place);
    assert!(of(&place)[0].contains("its mount is not in"));
    place.mounts_unread = Some("Too many open files".to_owned());
    assert!(of(&place)[0].ends_with("Too many open files"));
}

#[test]
fn options_of_the_mount_are_named() {
    let line = b"30 27 8:1 / /mnt rw,idmapped - xfs /dev/sda1 rw,lazytime\n";
    let place = Place {
        mount: ringwalk::mounts::parse(line).unwrap().pop(),
        ..place("xfs")
    };
    assert_eq!(
        problems(SourceChoice::Xfs, &user(true), &place),
        ["it is mounted with idmapped", "it is mounted with lazytime"]
    );
}
