use super::*;
use crate::info::Text;

fn fs(uuid: &str, kind: &str, mount_point: &str, device: u64) -> FileSystemInfo {
    FileSystemInfo {
        uuid: (!uuid.is_empty()).then(|| uuid.to_owned()),
        kind: (!kind.is_empty()).then(|| kind.to_owned()),
        mount_point: (!mount_point.is_empty()).then(|| Text::from(mount_point.as_bytes())),
        subvolume: None,
        device,
    }
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
