use super::*;
use crate::civil::Civil;
use ringwalk::Timestamp as FileTime;

fn civil(secs: i64, zone: &str) -> Civil {
    let time = FileTime { secs, nanos: 5 };
    Civil::new(time, &Zone::named(zone)).unwrap()
}

#[test]
fn zones() {
    let rule = civil(1_706_933_106, "EST5EDT");
    assert_eq!((rule.hour, rule.offset), (23, -18_000));
    assert_eq!(rule.zone, "EST");
    let summer = civil(1_720_000_000, "EST5EDT");
    assert_eq!((summer.offset, summer.zone.as_str()), (-14_400, "EDT"));
    let unknown = civil(0, "nonsense/zone");
    assert_eq!((unknown.offset, unknown.zone.as_str()), (0, "nonsense"));
    assert_eq!(civil(0, "ab").zone, "");
    assert_eq!(civil(0, "").zone, "UTC");
    let far = civil(99_999_999_999_999, "EST5EDT");
    assert_eq!(far.offset, -18_000);
}

#[test]
fn rules_without_dates_are_those_of_the_united_states() {
    let zone = Zone::named("XYZ5ABC");
    assert_eq!(zone.abbreviation(1_720_000_000), "ABC");
    assert_eq!(zone.offset(1_706_933_106), -18_000);
}

#[test]
fn paths() {
    let absolute = Zone::named("/usr/share/zoneinfo/Asia/Tokyo");
    assert_eq!(absolute.offset(0), 9 * 3600);
    assert_eq!(Zone::named("../zoneinfo/Asia/Tokyo").offset(0), 0);
    assert_eq!(Zone::named("/dev/zero").abbreviation(0), "");
}

#[test]
fn far_from_the_present() {
    let berlin = Zone::named("Europe/Berlin");
    // Before the first railway clocks went by the sun, in all years.
    let past = -67_768_040_609_740_800;
    assert_eq!(
        (berlin.offset(past), berlin.abbreviation(past)),
        (3208, "LMT".to_owned())
    );
    for cycles in [20, 1000] {
        let summer = 1_720_000_000 + cycles * CYCLE;
        assert!(berlin.is_summer(summer) && !berlin.is_summer(summer + CYCLE / 800));
    }
    for edge in [-SPAN - 1, -SPAN, SPAN - 1, SPAN, i64::MIN, i64::MAX] {
        assert_eq!((near(edge).as_second() - edge % CYCLE) % CYCLE, 0);
    }
}
