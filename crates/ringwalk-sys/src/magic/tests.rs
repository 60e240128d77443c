//! Unit tests of `magic.rs`.

use super::*;
use std::fs::File;

#[test]
fn the_kernel_reports_these_numbers() {
    for (path, magic) in [("/proc", PROC), ("/sys", SYSFS)] {
        assert_eq!(of(File::open(path).unwrap()), Ok(magic), "{path}");
    }
}

#[test]
fn a_sign_is_no_part_of_a_number() {
    let mut found = fstatfs(File::open("/proc").unwrap()).unwrap();
    found.f_type = u32::try_from(BTRFS).unwrap().cast_signed().into();
    assert!(found.f_type < 0);
    assert_eq!(of_statfs(&found), BTRFS);
}
