//! Unit tests of `timestamp.rs`.

use super::*;

#[test]
fn extra_bits_are_epochs_and_nanoseconds() {
    let time = |secs, nanos| Timestamp { secs, nanos };
    let before = (-2_i32).cast_unsigned();
    assert_eq!(Timestamp::new(before, None), time(-2, 0));
    assert_eq!(Timestamp::new(before, Some(5 << 2)), time(-2, 5));
    assert_eq!(Timestamp::new(before, Some(1)), time((1 << 32) - 2, 0));
    assert_eq!(
        Timestamp::new(u32::MAX >> 1, Some(u32::MAX)),
        time((1 << 31) - 1 + (3 << 32), (1 << 30) - 1)
    );
}
