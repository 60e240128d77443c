use super::*;

#[test]
fn sums() {
    let time = |secs| Some(Timestamp { secs, nanos: 0 });
    let mut sum = Totals::default();
    sum += Totals {
        size: 5,
        inodes: 1,
        time: time(-7),
    };
    assert_eq!(sum.time, time(-7), "a time before 1970 is later than none");
    sum += Totals {
        size: u64::MAX - 1,
        inodes: 2,
        time: time(-9),
    };
    assert_eq!((sum.size, sum.inodes, sum.time), (u64::MAX, 3, time(-7)));
}
