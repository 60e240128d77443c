//! Unit tests of `lookup.rs`.

use super::*;

#[test]
#[cfg_attr(miri, ignore = "Miri has no ioctls")]
fn another_file_system_refuses() {
    let proc = std::fs::File::open("/proc").unwrap();
    assert_eq!(tree_of(&proc), Err(Errno::NOTTY));
    assert_eq!(super::super::start_commit(&proc), Err(Errno::NOTTY));
    assert_eq!(super::super::wait_for_commit(&proc, 1), Err(Errno::NOTTY));
}
