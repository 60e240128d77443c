//! Little-endian numbers in bytes that may be too short.

/// Returns the two bytes at `at`.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(u16::from_le_bytes(*number))
}

/// Returns the four bytes at `at`.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    let number = bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes(*number))
}

/// Joins the two halves of a number that grew from 16 to 32 bits.
#[inline]
pub(crate) fn join32(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

/// Joins the two halves of a number that grew from 32 to 64 bits.
#[inline]
pub(crate) fn join16(low: u16, high: u16) -> u32 {
    u32::from(low) | u32::from(high) << 16
}

/// A record of `N` bytes whose fields are at offsets known at compile time, so that none can be out
/// of bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fixed<'b, const N: usize>(pub(crate) &'b [u8; N]);

impl<const N: usize> Fixed<'_, N> {
    #[inline]
    pub(crate) fn u8<const AT: usize>(self) -> u8 {
        const { assert!(AT < N) };
        self.0[AT]
    }

    #[inline]
    pub(crate) fn u16<const AT: usize>(self) -> u16 {
        const { assert!(AT + 2 <= N) };
        u16::from_le_bytes([self.0[AT], self.0[AT + 1]])
    }

    #[inline]
    pub(crate) fn u32<const AT: usize>(self) -> u32 {
        const { assert!(AT + 4 <= N) };
        let bytes = self.0;
        u32::from_le_bytes([bytes[AT], bytes[AT + 1], bytes[AT + 2], bytes[AT + 3]])
    }
}

#[cfg(test)]
mod tests {
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
}
