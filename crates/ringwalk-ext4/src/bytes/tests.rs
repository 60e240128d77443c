//! Unit tests of `bytes.rs`.

use super::*;

#[test]
fn numbers_are_little_endian_and_may_be_missing() {
    let bytes = [1, 2, 3, 4, 5];
    assert_eq!(u16_at(&bytes, 3), Some(0x0504));
    assert_eq!(u16_at(&bytes, 4), None);
    assert_eq!(u32_at(&bytes, 1), Some(0x0504_0302));
    assert_eq!(u32_at(&bytes, 2), None);
    assert_eq!(u32_at(&bytes, usize::MAX), None);
    let fixed = Fixed(&bytes);
    assert_eq!(
        (fixed.u8::<4>(), fixed.u16::<1>(), fixed.u32::<0>()),
        (5, 0x0302, 0x0403_0201)
    );
    assert_eq!(join32(1, 2), 0x2_0000_0001);
    assert_eq!(join16(1, 2), 0x2_0001);
}
