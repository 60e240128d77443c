use super::*;

const SECOND: i128 = 1_000_000_000;

fn moment(real: i128, ahead: i128) -> Moment {
    Moment { real, ahead }
}

#[test]
fn changes_within_the_clocks_grain_count() {
    let read = moment(100 * SECOND + 500_000_000, 0);
    let ctime = |secs, nanos| Timestamp { secs, nanos };
    assert!(read.is_after_change(ctime(100, 400_000_000), read));
    assert!(!read.is_after_change(ctime(100, 490_000_000), read));
    assert!(!read.is_after_change(ctime(100, 600_000_000), read));
    assert!(read.is_after_change(ctime(99, 999_999_999), read));
    // A time stamp of whole seconds may mean any time in that second.
    assert!(!read.is_after_change(ctime(100, 0), read));
    assert!(!read.is_after_change(ctime(99, 0), read));
    assert!(read.is_after_change(ctime(98, 0), read));
}

#[test]
fn a_clock_set_back_proves_nothing() {
    let read = moment(100 * SECOND, 50 * SECOND);
    let old = Timestamp { secs: 1, nanos: 1 };
    assert!(read.is_after_change(old, moment(101 * SECOND, 50 * SECOND)));
    assert!(read.is_after_change(old, moment(201 * SECOND, 90 * SECOND)));
    assert!(!read.is_after_change(old, moment(90 * SECOND, 40 * SECOND)));
}
