//! Checksums as ext4 uses them: without the complement at the end, so each can be the seed of the
//! next.

/// Returns the crc32c (`ext4_chksum`) of `bytes`, continued from `seed`.
#[inline]
pub(crate) fn crc32c(seed: u32, bytes: &[u8]) -> u32 {
    !crc32c::crc32c_append(!seed, bytes)
}

/// Returns the crc32c of a number, continued from `seed`.
#[inline]
pub(crate) fn crc32c_of_u32(seed: u32, number: u32) -> u32 {
    crc32c(seed, &number.to_le_bytes())
}

/// Returns the CRC-16/ARC (reflected polynomial 0xA001, as the kernel's `crc16`) of `bytes`,
/// continued from `seed`. This works bit by bit: a group has 32 to 64 bytes, and only file systems
/// older than `metadata_csum` use it.
pub(crate) fn crc16(seed: u16, bytes: &[u8]) -> u16 {
    let step = |crc: u16| (crc >> 1) ^ if crc & 1 == 1 { 0xA001 } else { 0 };
    bytes.iter().fold(seed, |crc, &byte| {
        (0..8).fold(crc ^ u16::from(byte), |crc, _| step(crc))
    })
}

#[cfg(test)]
mod tests {
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
}
