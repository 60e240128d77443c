use super::*;

#[test]
fn entries_are_spread_over_time() {
    let begin = Instant::now();
    let limit = Limit {
        per_second: NonZeroU64::new(100).unwrap(),
        free: Mutex::new(begin),
    };
    let at = |seconds| begin + Duration::from_secs(seconds);
    assert_eq!(limit.reserve(100, begin), None);
    assert_eq!(limit.reserve(50, begin), Some(Duration::from_secs(1)));
    assert_eq!(limit.reserve(50, at(1)), Some(Duration::from_millis(500)));
    // Time in which nothing was asked for is not saved up.
    assert_eq!(limit.reserve(100, at(60)), None);
    assert_eq!(limit.reserve(1, at(60)), Some(Duration::from_secs(1)));
}

#[test]
fn a_limit_of_one_and_none_at_all() {
    let one = RateLimit::new(NonZeroU64::new(1));
    assert_eq!(one.most_at_once(), 1);
    let none = RateLimit::new(None);
    assert!(none.is_unlimited() && none.most_at_once() == usize::MAX);
    assert_eq!(none.reserve(usize::MAX), None);
}
