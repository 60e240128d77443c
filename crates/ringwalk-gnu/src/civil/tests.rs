use super::*;

fn civil(secs: i64, zone: &str) -> Civil {
    let time = FileTime { secs, nanos: 5 };
    Civil::new(time, &Zone::named(zone)).unwrap()
}

fn day(secs: i64) -> (i64, i64, i64) {
    let civil = civil(secs, "UTC0");
    (civil.year, civil.month, civil.day)
}

#[test]
fn calendar() {
    assert_eq!(day(0), (1970, 1, 1));
    assert_eq!(day(-1), (1969, 12, 31));
    assert_eq!(day(951_782_400), (2000, 2, 29));
    assert_eq!(day(1_709_164_800), (2024, 2, 29));
    assert_eq!(day(1_735_603_200), (2024, 12, 31));
    assert_eq!(day(4_107_542_400), (2100, 3, 1));
    assert_eq!(day(-60_000_000_000), (68, 9, 3));
    assert_eq!(day(-100_000_000_000), (-1199, 2, 15));
    assert_eq!(day(99_999_999_999_999), (3_170_843, 11, 7));
}

#[test]
fn every_day_of_a_cycle_follows_the_one_before() {
    let mut before = date(-1);
    for days in 0..=146_097 {
        let now = date(days);
        let follows = now == (before.0, before.1, before.2 + 1)
            || now == (before.0, before.1 + 1, 1) && before.2 >= 28
            || now == (before.0 + 1, 1, 1) && (before.1, before.2) == (12, 31);
        assert!(follows, "{before:?} {now:?}");
        before = now;
    }
    assert_eq!(before, (2370, 1, 1));
}

#[test]
fn days_of_months_beyond_the_year() {
    assert_eq!(days(1970, 1, 1), 0);
    assert_eq!(days(2020, 14, 1), days(2021, 2, 1));
    assert_eq!(days(2020, 0, 31), days(2019, 12, 31));
    assert_eq!(days(2021, 2, 29), days(2021, 3, 1));
    for day in (-800_000..800_000).step_by(97) {
        let (year, month, of_month) = date(day);
        assert_eq!(days(year, month, of_month), day);
    }
    assert_eq!((days_in_month(2100, 2), days_in_month(2000, 2)), (28, 29));
}

#[test]
fn weeks() {
    let week = |secs| civil(secs, "UTC0").iso_week();
    assert_eq!(week(1_706_933_106), (2024, 5)); // 3 February 2024
    assert_eq!(week(1_104_537_600), (2004, 53)); // 1 January 2005
    assert_eq!(week(1_230_681_600), (2009, 1)); // 31 December 2008
}

#[test]
fn years_that_do_not_fit() {
    let utc = Zone::named("");
    let at = |secs| Civil::new(FileTime { secs, nanos: 0 }, &utc);
    assert!(at(67_768_036_191_676_799).is_some());
    assert!(at(67_768_036_191_676_800).is_none());
    assert!(at(i64::MAX).is_none());
    assert!(at(i64::MIN).is_none());
}
