use super::*;

const MILLISECOND: i128 = 1_000_000;
const START: i64 = 1_700_000_000;

fn moment(real: i128, ahead: i128) -> Moment {
    Moment { real, ahead }
}

/// Returns the moment so many milliseconds after the start.
fn after(milliseconds: i128) -> Moment {
    moment(i128::from(START) * SECOND + milliseconds * MILLISECOND, 0)
}

fn stamp(secs: i64, nanos: u32) -> Timestamp {
    Timestamp {
        secs: START + secs,
        nanos,
    }
}

/// Returns the milliseconds for which a file is unsure.
fn unsure(at: Moment, ctime: Timestamp, mtime: Timestamp, clock: StampClock) -> Option<u128> {
    let unsure = StampsSeen::new(at, ctime, mtime, || clock).unsure_for();
    unsure.map(|time| time.as_millis())
}

#[test]
fn stamps_show_their_step() {
    let on = |clock| move |secs, nanos| step(Timestamp { secs, nanos }, clock);
    let nanoseconds = on(StampClock::Other);
    assert_eq!(nanoseconds(7, 123_456_789), 1);
    assert_eq!(nanoseconds(7, 123_456_700), 100);
    assert_eq!(nanoseconds(7, 120_000_000), 10 * MILLISECOND);
    assert_eq!(nanoseconds(7, 500_000_000), 100 * MILLISECOND);
    assert_eq!(nanoseconds(7, 0), SECOND);
    assert_eq!(nanoseconds(8, 0), 2 * SECOND);
    assert_eq!(nanoseconds(-1, 0), SECOND);
    // FAT has no clock of this machine.
    assert_eq!(on(StampClock::Own)(8, 0), SECOND);
}

#[test]
fn a_stamp_of_this_machine_is_sure_a_step_later() {
    let unsure = |at, ctime| unsure(at, ctime, ctime, StampClock::Own);
    // Nanoseconds.
    assert_eq!(unsure(after(5), stamp(0, 1)), Some(15));
    assert_eq!(unsure(after(20), stamp(0, 1)), Some(0));
    assert_eq!(unsure(after(21), stamp(0, 1)), None);
    assert_eq!(unsure(after(-10), stamp(0, 1)), Some(30));
    // Seconds.
    assert_eq!(unsure(after(1999), stamp(1, 0)), Some(21));
    assert_eq!(unsure(after(2020), stamp(1, 0)), None);
    assert_eq!(unsure(after(999), stamp(0, 0)), Some(21));
    assert_eq!(unsure(after(1020), stamp(0, 0)), None);
    // Times that are far away.
    assert_eq!(unsure(after(0), stamp(100, 1)), None);
    for secs in [i64::MIN, i64::MAX] {
        assert_eq!(unsure(after(0), Timestamp { secs, nanos: 0 }), None);
    }
}

#[test]
fn a_program_can_set_mtime() {
    for mtime in [stamp(0, 0), stamp(1000, 0), stamp(-1000, 0)] {
        let found = unsure(after(5), stamp(0, 1), mtime, StampClock::Own);
        assert_eq!(found, Some(15));
    }
}

#[test]
fn stamps_of_another_clock_are_sure_a_step_after_they_were_seen() {
    let day = 24 * 60 * 60;
    let unsure = |ctime, mtime| unsure(after(0), ctime, mtime, StampClock::Other);
    for secs in [-3600, -3, -1, 3601] {
        assert_eq!(unsure(stamp(secs, 1), stamp(secs, 1)), Some(20), "{secs}");
    }
    assert_eq!(unsure(stamp(-3601, 0), stamp(-3601, 0)), Some(1020));
    assert_eq!(unsure(stamp(-3600, 0), stamp(-3600, 0)), Some(2020));
    assert_eq!(unsure(stamp(-day, 0), stamp(-day, 0)), None);
    // A server without `ctime`.
    assert_eq!(unsure(Timestamp::default(), stamp(-1, 0)), Some(1020));
}

#[test]
fn only_young_files_ask_for_the_clock() {
    let old = stamp(-100_000, 0);
    let seen = StampsSeen::new(after(0), old, old, || panic!("it does not matter"));
    assert_eq!(seen.unsure_for(), None);
}

#[test]
fn a_change_can_hide_if_the_clock_meets_the_stamp() {
    let hides = |ctime, from, to, clock| {
        let seen = StampsSeen::new(from, ctime, ctime, || clock);
        seen.may_hide_change(to)
    };
    let own = |ctime, from, to| hides(ctime, from, to, StampClock::Own);
    assert!(!own(stamp(0, 0), after(1020), after(9000)));
    // A stamp of the future, which the clock reaches or not.
    assert!(own(stamp(5, 0), after(0), after(5000)));
    assert!(!own(stamp(5, 0), after(0), after(4999)));
    assert!(!hides(
        stamp(5, 0),
        after(0),
        after(5000),
        StampClock::Other
    ));
    // The clock was set back by ten seconds, behind the stamp or not.
    let set_back = moment(after(9000).real - 10 * SECOND, -10 * SECOND);
    assert!(own(stamp(-5, 0), after(0), set_back));
    assert!(!own(stamp(-15, 0), after(0), set_back));
    // It was set forward.
    let forward = moment(after(9000).real + 10 * SECOND, 10 * SECOND);
    assert!(!own(stamp(-5, 0), after(0), forward));
}

#[test]
fn changes_within_the_clocks_grain_count() {
    let read = moment(100 * SECOND + 500_000_000, 0);
    let ctime = |secs, nanos| Timestamp { secs, nanos };
    assert!(read.is_after_change(ctime(100, 400_000_001), read));
    assert!(!read.is_after_change(ctime(100, 490_000_001), read));
    assert!(!read.is_after_change(ctime(100, 600_000_001), read));
    assert!(read.is_after_change(ctime(99, 999_999_999), read));
    // A time stamp of whole seconds may mean any time in its step.
    assert!(!read.is_after_change(ctime(100, 0), read));
    assert!(read.is_after_change(ctime(99, 0), read));
    let read = moment(100 * SECOND + 15_000_000, 0);
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

#[test]
fn a_busy_machine_does_not_look_like_a_clock_that_was_set_back() {
    let ahead = || {
        let all = (0..20_000).map(|_| Moment::now().ahead);
        all.fold((i128::MAX, i128::MIN), |(least, most), ahead| {
            (least.min(ahead), most.max(ahead))
        })
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..64).map(|_| scope.spawn(ahead)).collect();
        for thread in threads {
            let (least, most) = thread.join().unwrap();
            assert!(most - least <= JITTER, "{} ns", most - least);
        }
    });
}
