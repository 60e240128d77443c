//! The parser of dates on arbitrary bytes, at arbitrary moments in zones of every kind.
//!
//! The parser must not panic, and must end. Its result has less than a second in nanoseconds. A
//! comment, space and capital letters change nothing. Seconds since 1970, written in full, are read
//! exactly.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk::Timestamp;
use ringwalk_find::date::{end_of_day, parse};
use ringwalk_gnu::civil::Zone;
use std::sync::LazyLock;

/// Read once: reading the zone database for each input would take most of the time.
static ZONES: LazyLock<Vec<Zone>> = LazyLock::new(|| {
    let names = [
        "UTC0",
        "EST5EDT,M3.2.0,M11.1.0",
        "AAA-12BBB,J1/0,J300/24",
        "Europe/Berlin",
    ];
    names.map(Zone::named).into()
});

fuzz_target!(|input: (i64, u32, u8, &[u8])| {
    let (secs, nanos, zone, text) = input;
    let zone = &ZONES[usize::from(zone) % ZONES.len()];
    let now = Timestamp {
        secs,
        nanos: nanos % 1_000_000_000,
    };
    let read = |text: &[u8]| parse(text, now, zone).map(|time| (time.secs, time.nanos));
    let time = read(text);
    assert!(time.is_none_or(|(_, nanos)| nanos < 1_000_000_000));
    // A name of a zone at the beginning keeps its case, and nothing may precede it.
    if !text.contains(&b'"') {
        let with = [b" (a(b)c)\t", text].concat();
        assert_eq!(read(&with), time);
        assert_eq!(read(&text.to_ascii_uppercase()), time);
        assert_eq!(read(&text.to_ascii_lowercase()), time);
    }
    let end = end_of_day(now, zone);
    if secs.unsigned_abs() < 1 << 60 {
        assert!((1..=86_400).contains(&(end.secs - secs)));
    }
    let exact = format!("@{}.{:09}", now.secs, now.nanos);
    if secs >= 0 {
        assert_eq!(read(exact.as_bytes()), Some((now.secs, now.nanos)));
    }
});
