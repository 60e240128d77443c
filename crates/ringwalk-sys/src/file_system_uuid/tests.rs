use super::*;
use std::fs::File;

#[test]
fn the_code_is_that_of_the_kernel() {
    // _IOR(0x15, 0, struct fsuuid2)
    assert_eq!(GETFSUUID, 0x8011_1500);
}

#[test]
fn a_file_system_without_one() {
    let file = File::open("/proc/self").unwrap();
    assert_eq!(file_system_uuid(file), Err(Errno::NOTTY));
}

#[test]
fn no_identity_without_uuid() {
    let file = File::open("/proc/self").unwrap();
    assert_eq!(FileSystemIdentity::of(file), FileSystemIdentity::default());
}

#[test]
fn identity_agrees_with_the_single_calls() {
    let file = File::open(".").unwrap();
    let identity = FileSystemIdentity::of(&file);
    let uuid = file_system_uuid(&file).ok();
    assert_eq!(
        identity.uuid,
        uuid.filter(|bytes| *bytes != vec![0; bytes.len()])
    );
    assert_eq!(identity.subvolume, btrfs::tree_of(&file).ok());
}
