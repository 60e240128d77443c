//! Unit tests of `at_hand.rs`.

use super::*;
use ringwalk_sys::magic;
use std::fs;

#[test]
fn file_systems_made_by_the_kernel_are_local() {
    let proc = fs::File::open("/proc").unwrap();
    assert!(is_local("/proc"));
    assert!(is_local_file(&proc));
    assert!(!is_local("/proc/nothing of this name"));
}

#[test]
fn the_mount_of_a_file_decides() {
    let table = b"30 1 0:40 / / rw - btrfs /dev/sda rw\n31 30 0:41 / /f rw - fuse.x x rw\n";
    let mounts = mounts::parse(table).unwrap();
    let mut found = known(fs::File::open("/").unwrap()).unwrap();
    // The device number of a subvolume, which no line of the table has.
    found.dev = 52;
    for (id, local) in [(30, Some(true)), (31, Some(false)), (32, None)] {
        found.mnt_id = id;
        assert_eq!(has_local_mount(&mounts, &found), local, "{id}");
    }
}

#[test]
fn types_are_those_of_the_targets_of_links() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink(".", dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
    let ask = |name: &str| type_of(dir.path().join(name).as_os_str().as_bytes());
    // These calls bring the paths into memory.
    fs::metadata(dir.path().join("link")).unwrap();
    fs::metadata(dir.path().join("dangling")).unwrap_err();
    // A renaming elsewhere at the same moment is a reason for EAGAIN too.
    let answer = (0..1000)
        .map(|_| ask("link"))
        .find(|answer| *answer != Err(Errno::AGAIN));
    // XFS never reads a link without waiting (fs/xfs/xfs_iops.c, `xfs_vn_get_link`).
    let opened = fs::File::open(dir.path()).unwrap();
    if answer.is_some() || magic::of(&opened).unwrap() != magic::XFS {
        assert_eq!(answer, Some(Ok(Some(FileType::Directory))));
    }
    assert!(matches!(ask("dangling"), Ok(None) | Err(Errno::AGAIN)));
}
