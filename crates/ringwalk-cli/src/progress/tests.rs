use super::*;

#[test]
fn a_line_tells_entries_rate_and_a_harmless_path() {
    let sample = Sample {
        done: 12,
        path: Some(b"a/\x1b[2J".to_vec()),
        ..Sample::default()
    };
    assert_eq!(line(&sample, 3.6), "12 entries, 4/s, a/?[2J");
    assert_eq!(line(&Sample::default(), 0.0), "0 entries, 0/s");
    let rows = Sample {
        done: 3,
        total: Some(12),
        path: None,
    };
    assert_eq!(line(&rows, 2.0), "3 of 12 rows, 2/s");
}

#[test]
fn lines_are_cut_by_columns_not_by_bytes() {
    assert_eq!(cut("abc", 3), "abc");
    assert_eq!(cut("abcd", 3), "abc");
    assert_eq!(cut("\u{e9}\u{e9}\u{e9}", 2), "\u{e9}\u{e9}");
    // Wide characters take two columns each, and half of one cannot be shown.
    assert_eq!(cut("\u{6f22}\u{5b57}", 3), "\u{6f22}");
    assert_eq!(cut("abc", 0), "");
}

#[test]
fn the_rate_follows_the_entries() {
    let begin = Instant::now();
    let mut rate = Rate::new(begin);
    assert!((rate.update(100, begin + Duration::from_secs(1)) - 100.0).abs() < 1e-6);
    let slower = rate.update(150, begin + Duration::from_secs(2));
    assert!(slower > 50.0 && slower < 100.0, "{slower}");
    assert!(
        (rate.update(150, begin + Duration::from_secs(2)) - slower).abs() < 1e-6,
        "no time, no change"
    );
}

#[test]
fn the_end_does_not_wait_for_the_interval() {
    let begin = Instant::now();
    drop(Progress::start(ProgressWhen::Always, Sample::default));
    assert!(begin.elapsed() < Duration::from_millis(400));
}
