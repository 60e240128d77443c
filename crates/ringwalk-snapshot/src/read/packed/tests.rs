use super::*;
use proptest::prelude::*;

/// Packs numbers with `width` bits each, bit by bit from the lowest one.
fn pack(numbers: &[u64], width: u32) -> Vec<u8> {
    let bits = numbers
        .iter()
        .flat_map(|number| (0..width).map(move |bit| number >> bit & 1));
    let bits: Vec<_> = bits.collect();
    bits.chunks(8)
        .map(|byte| {
            (0_u8..)
                .zip(byte)
                .fold(0, |sum, (at, bit)| sum | u8::from(*bit > 0) << at)
        })
        .collect()
}

proptest! {
    #[test]
    fn numbers_of_every_width_are_unpacked(
        numbers in prop::collection::vec(any::<u64>(), 1..200),
        width in 0_u32..=64,
    ) {
        let mask = 1_u64.unbounded_shl(width).wrapping_sub(1);
        let numbers: Vec<_> = numbers.iter().map(|number| number & mask).collect();
        let bytes = pack(&numbers, width);
        let (mut packed, mut found, mut block) = (&bytes[..], Vec::new(), [0; BLOCK]);
        while found.len() < numbers.len() {
            let most = numbers.len() - found.len();
            found.extend_from_slice(unpack(&mut packed, width, most, &mut block));
        }
        prop_assert_eq!(found, numbers);
        prop_assert!(packed.is_empty());
    }
}

#[test]
fn runs_of_both_kinds_follow_each_other() {
    // A run of three sevens, and two groups of eight numbers of three bits of which nine count.
    let groups = pack(&[0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7], 3);
    let bytes = [&[3 << 1, 7, 2 << 1 | 1][..], &groups].concat();
    let mut found = Vec::new();
    let each = |run: Run<'_>| {
        match run {
            Run::Same(number, times) => found.extend(std::iter::repeat_n(number, times)),
            Run::Packed(numbers) => found.extend_from_slice(numbers),
        }
        Some(())
    };
    assert_eq!(runs(&bytes, 3, 12, each), Some(()));
    assert_eq!(found, [7, 7, 7, 0, 1, 2, 3, 4, 5, 6, 7, 0]);
    assert_eq!(runs(&bytes[..4], 3, 12, |_| Some(())), None);
}
