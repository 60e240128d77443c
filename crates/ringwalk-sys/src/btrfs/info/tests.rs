//! Unit tests of `info.rs`.

use super::*;
use std::fs::File;

#[test]
fn the_code_is_that_of_the_kernel() {
    // _IOR(0x94, 31, struct btrfs_ioctl_fs_info_args)
    assert_eq!(opcode::read::<Info>(MAGIC, 31), 0x8400_941f);
}

#[test]
fn other_file_systems_refuse() {
    let file = File::open("/proc/self").unwrap();
    assert_eq!(uuid(file), Err(Errno::NOTTY));
}
