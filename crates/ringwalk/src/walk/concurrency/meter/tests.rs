use super::*;

#[test]
fn fast_calls_are_timed_now_and_then_and_slow_ones_always() {
    let concurrency = ConcurrencyController::new(None, 1);
    let mut meter = Meter::new();
    let mut timed = 0;
    for _ in 0..1000 {
        let begin = meter.begin();
        timed += u32::from(begin.is_some());
        meter.note(&concurrency, 1000, begin);
    }
    // A machine that is busy with other things may make some of them slow.
    assert!((FAST_FOR_A_WHILE..900).contains(&timed), "{timed}");
    let long_ago = Instant::now().checked_sub(Duration::from_secs(1));
    meter.note(&concurrency, 1, long_ago);
    assert_eq!(meter.fast, 0);
    meter.skip = 0;
    assert!((0..FAST_FOR_A_WHILE).all(|_| meter.begin().is_some()));
}
