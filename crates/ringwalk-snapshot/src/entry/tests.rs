//! What a file says of errors.

use super::*;

#[test]
fn a_number_that_is_no_error_does_not_panic() {
    for number in [i64::MIN, -1, 0, 4096, 1 << 16, (1 << 32) + 2, i64::MAX] {
        assert_eq!(stored_errno(number), None, "{number}");
    }
    assert_eq!(stored_errno(2), Some(Errno::NOENT));
    assert!(stored_errno(4095).is_some());
}
