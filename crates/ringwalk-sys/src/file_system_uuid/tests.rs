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
