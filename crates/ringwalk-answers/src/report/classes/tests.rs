//! Unit tests of `classes.rs`.

use super::*;

const START: i64 = 1_700_000_000 * SECOND;

fn age(days: i64, nanoseconds: i64) -> AgeClass {
    AgeClass::of(
        Some(START - days * DAY - nanoseconds),
        START,
        START + SECOND,
    )
}

#[test]
fn each_age_class_begins_where_the_one_before_ends() {
    for class in AgeClass::ALL {
        let Some(days) = class.least_days() else {
            continue;
        };
        assert_eq!(age(days, 0), class);
        assert_eq!(age(days, 1), class);
        if days > 0 {
            assert_eq!(age(days, -1) as usize, class as usize - 1);
        }
    }
    assert_eq!(age(5 * 365, 0), AgeClass::Older);
}

#[test]
fn only_times_behind_the_end_are_in_the_future() {
    let of = |mtime| AgeClass::of(Some(mtime), START, START + SECOND);
    assert_eq!(of(START), AgeClass::Day);
    assert_eq!(of(START + SECOND), AgeClass::Day);
    assert_eq!(of(START + SECOND + 1), AgeClass::Future);
    assert_eq!(of(i64::MAX), AgeClass::Future);
    assert_eq!(of(i64::MIN), AgeClass::Older);
    assert_eq!(AgeClass::of(None, START, START), AgeClass::Unknown);
}

#[test]
fn a_clock_that_was_set_back_makes_no_future() {
    assert_eq!(AgeClass::of(Some(START), START, START - DAY), AgeClass::Day);
}

#[test]
fn each_size_class_begins_where_the_one_before_ends() {
    for class in SizeClass::ALL {
        let Some(least) = class.least_bytes() else {
            continue;
        };
        let least = u64::try_from(least).unwrap();
        assert_eq!(SizeClass::of(Some(least)), class, "{least}");
        if least > 0 {
            let before = SizeClass::of(Some(least - 1));
            assert_eq!(before as usize, class as usize - 1, "{least}");
        }
    }
    assert_eq!(SizeClass::of(Some(u64::MAX)), SizeClass::Larger);
    assert_eq!(SizeClass::of(None), SizeClass::Unknown);
}

#[test]
fn labels_name_the_limits() {
    assert_eq!(SizeClass::of(Some(4095)).label(), "< 4K");
    assert_eq!(SizeClass::of(Some(4096)).label(), "< 64K");
    assert_eq!(SizeClass::of(Some((1 << 40) - 1)).label(), "< 1T");
    assert_eq!(SizeClass::of(Some(1 << 40)).label(), "1T and more");
    assert_eq!(age(29, 0).label(), "< 1 month");
    assert_eq!(age(89, 0).label(), "< 3 months");
}
