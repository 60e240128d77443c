use super::*;
use ringwalk_snapshot::Text;

fn fs(uuid: &str, kind: &str, mount_point: &str, device: u64) -> FileSystemInfo {
    let mut fs = FileSystemInfo::default();
    fs.uuid = (!uuid.is_empty()).then(|| uuid.to_owned());
    fs.kind = (!kind.is_empty()).then(|| kind.to_owned());
    fs.mount_point = (!mount_point.is_empty()).then(|| Text::from(mount_point.as_bytes()));
    fs.device = device;
    fs
}

fn numbers(old: &[FileSystemInfo], new: &[FileSystemInfo]) -> Vec<i64> {
    let numbers = Numbers::of(old, new);
    assert_eq!(numbers.old, (0..).take(old.len()).collect::<Vec<_>>());
    numbers.new
}

#[test]
fn the_uuid_is_the_file_system_wherever_it_is_mounted() {
    let old = [fs("u1", "ext4", "/", 1), fs("u2", "ext4", "/a", 2)];
    let new = [fs("u2", "ext4", "/b", 1), fs("u1", "ext4", "/", 2)];
    assert_eq!(numbers(&old, &new), [1, 0]);
    assert_eq!(
        numbers(&old, &[fs("u3", "ext4", "/", 1)]),
        [2],
        "another disk"
    );
}

#[test]
fn without_a_uuid_type_and_mount_point_are() {
    let old = [fs("", "tmpfs", "/tmp", 1), fs("", "nfs", "/n", 2)];
    let new = [fs("", "nfs", "/n", 9), fs("", "nfs", "/tmp", 1)];
    assert_eq!(numbers(&old, &new), [1, 2]);
}

#[test]
fn of_imported_files_only_the_device_may_be_known() {
    let old = [fs("", "", "", 1), fs("", "", "", 2)];
    let new = [
        fs("", "", "", 2),
        fs("", "", "", 3),
        fs("u", "ext4", "/", 1),
    ];
    let numbers = Numbers::of(&old, &new);
    assert_eq!(numbers.old, [UNKNOWN, 1]);
    assert_eq!(numbers.new, [1, UNKNOWN, 3]);
}

#[test]
fn a_uuid_that_one_snapshot_could_not_read_is_no_difference() {
    let old = [fs("", "ext4", "/", 1)];
    assert_eq!(numbers(&old, &[fs("u", "ext4", "/", 1)]), [0]);
    assert_eq!(numbers(&old, &[fs("u", "ext4", "/mnt", 1)]), [1]);
}

#[test]
fn subvolumes_with_one_uuid_are_told_apart() {
    let old = [
        fs("u", "btrfs", "/", 1),
        fs("u", "btrfs", "/home", 2),
        fs("u", "btrfs", "/", 3),
    ];
    assert_eq!(numbers(&old, &old), [0, 1, 2]);
    let later = [fs("u", "btrfs", "/home", 8), fs("u", "btrfs", "/", 9)];
    assert_eq!(
        numbers(&old, &later),
        [1, 3],
        "two are at /, and no device tells which"
    );
}

#[test]
fn subvolumes_are_known_by_number_whatever_their_devices_are() {
    let subvolume = |number, device| {
        let mut fs = fs("u", "btrfs", "/b", device);
        fs.subvolume = Some(number);
        fs
    };
    let old = [subvolume(256, 41), subvolume(257, 42), subvolume(5, 40)];
    // A mount has given out the device numbers in another order.
    let new = [
        subvolume(5, 41),
        subvolume(257, 40),
        subvolume(258, 43),
        subvolume(256, 42),
    ];
    assert_eq!(numbers(&old, &new), [2, 1, 3, 0]);
    assert_eq!(
        numbers(&[subvolume(5, 40)], &new),
        [0, 1, 2, 3],
        "most subvolumes are new"
    );
}

#[test]
fn a_name_comes_before_a_place() {
    // The disk at /a has moved to /b, where the UUID could not be read before.
    let old = [fs("", "ext4", "/b", 1), fs("u", "ext4", "/a", 2)];
    let new = [fs("v", "ext4", "/b", 1), fs("u", "ext4", "/b", 2)];
    assert_eq!(numbers(&old, &new), [0, 1]);
    let new = [new[1].clone(), new[0].clone()];
    assert_eq!(numbers(&old, &new), [1, 0]);
}

#[test]
fn copies_of_a_disk_are_told_apart_by_place_then_device() {
    let old = [fs("u", "xfs", "/1", 1), fs("u", "xfs", "/2", 2)];
    // Loop devices are given out anew.
    let new = [fs("u", "xfs", "/2", 1), fs("u", "xfs", "/1", 2)];
    assert_eq!(numbers(&old, &new), [1, 0]);
    let old = [fs("u", "xfs", "/1", 1), fs("u", "xfs", "/1", 2)];
    let new = [fs("u", "xfs", "/1", 2), fs("u", "xfs", "/1", 1)];
    assert_eq!(numbers(&old, &new), [1, 0]);
    assert_eq!(
        numbers(&old[..1], &[fs("u", "xfs", "/9", 1)]),
        [0],
        "one disk, wherever it is mounted"
    );
}

#[test]
fn what_inode_numbers_prove_depends_on_both_file_systems() {
    let old = [
        fs("u", "ext4", "/", 1),
        fs("", "overlay", "/o", 2),
        fs("", "overlay", "/o", 3),
        fs("", "", "/x", 4),
    ];
    let new = [fs("v", "xfs", "/", 1), fs("", "overlay", "/o", 9)];
    let numbers = Numbers::of(&old, &new);
    assert_eq!(numbers.new, [4, 5], "no partner");
    let version = |fs: Option<i64>| {
        let mut version = Version::new(0, 0, b"a"[..].into(), ringwalk::FileType::Regular);
        version.set(Column::Fs, fs);
        version
    };
    let between = |a, b| numbers.trust_between(&version(a), &version(b));
    let trust = |kind| Some(IdentityTrust::of_type(kind));
    assert_eq!(between(Some(0), Some(0)), trust("ext4"));
    assert_eq!(between(Some(0), Some(4)), None, "another disk");
    assert_eq!(between(Some(0), Some(5)), None, "another type");
    assert_eq!(between(Some(1), Some(5)), trust("overlay"), "a layer of it");
    assert_eq!(between(Some(3), Some(4)), trust("unknown"));
    assert_eq!(between(None, Some(4)), trust("unknown"));
}
