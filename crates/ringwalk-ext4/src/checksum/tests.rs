//! Unit tests of `checksum.rs`.

use super::*;

// Check values of the digits 1 to 9, from the catalogue of CRCs
// (https://reveng.sourceforge.io/crc-catalogue/).

#[test]
fn crc32c_has_no_complement_and_goes_on() {
    assert_eq!(!crc32c(!0, b"123456789"), 0xE306_9283);
    assert_eq!(crc32c(crc32c(!0, b"1234"), b"56789"), !0xE306_9283);
    assert_eq!(crc32c_of_u32(7, 0x0403_0201), crc32c(7, &[1, 2, 3, 4]));
}

#[test]
fn crc16_is_arc() {
    assert_eq!(crc16(0, b"123456789"), 0xBB3D);
    assert_eq!(crc16(crc16(0, b"1234"), b"56789"), 0xBB3D);
}
