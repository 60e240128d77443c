use super::*;

fn read(data: &[u8], at: &mut usize) -> u64 {
    let end = *at + size_of::<u64>();
    let number = data[*at..end].try_into().map(u64::from_le_bytes);
    *at = end;
    number.unwrap()
}

#[test]
fn a_spool_returns_records_in_the_order_of_writing() {
    let spill = Spill::default();
    for count in [0, 1, 8192, 8193, 50_000] {
        let (mut spool, mut other) = (Spool::default(), Spool::default());
        for number in 0_u64..count {
            let write = |spool: &mut Spool| {
                let buffer = spool.buffer(&spill).unwrap();
                buffer.extend_from_slice(&number.to_le_bytes());
                assert!(buffer.len() <= CHUNK + size_of::<u64>());
            };
            write(&mut spool);
            write(&mut other);
        }
        for spool in [&mut spool, &mut other] {
            spool.rewind(&spill).unwrap();
            for number in 0..count {
                assert_eq!(spool.next(&spill, read).unwrap(), number);
            }
        }
    }
}
