//! Unit tests of `guard.rs`.

use super::*;

#[test]
fn results_and_panics() {
    assert_eq!(guard(|| Ok(1)), 1);
    assert_eq!(guard(|| Err(Errno::BADF)), -libc::EBADF);
    assert_eq!(guard_length(|| Ok(7)), 7);
    assert_eq!(guard_length(|| Err(Errno::INVAL)), -(libc::EINVAL as isize));
    assert_eq!(guard(|| panic!("for the test")), -libc::ENOTRECOVERABLE);
}
