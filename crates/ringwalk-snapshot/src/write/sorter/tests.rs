use super::*;

/// Returns numbers without an order.
fn numbers(count: u64) -> impl Iterator<Item = u64> {
    (0..count).map(|number| number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20)
}

#[test]
fn records_are_sorted_in_memory_and_in_the_file() {
    // A run of 64 KiB has 2048 records.
    for count in [0, 1, 2047, 2048, 2049, 60_000] {
        for memory in [0, usize::MAX] {
            let spill = Spill::default();
            let mut collected = Sorter::<4>::new(&spill, memory);
            let record = |number| [number % 7, number, 5, !number];
            for number in numbers(count) {
                collected.push(record(number)).unwrap();
            }
            let mut expected: Vec<_> = numbers(count).map(record).collect();
            expected.sort_unstable();
            let mut sorted = collected.into_sorted().unwrap();
            let mut all = Vec::new();
            while let Some(record) = sorted.next().unwrap() {
                all.push(record);
            }
            assert!(all == expected, "{count} records, {memory} bytes");
        }
    }
}
