//! Unit tests of `mode.rs`.

use super::*;

/// Returns how many of the next directories are put in flight before one is read by call.
fn in_flight(mode: &mut Mode) -> u32 {
    (0..100).find(|_| mode.next_is_call()).unwrap()
}

#[test]
fn calls_until_they_wait_and_again_when_they_no_longer_do() {
    let mut mode = Mode::Calls;
    mode.called(None, 1);
    assert!(mode.next_is_call() && !mode.is_in_flight());
    mode.wait();
    let long_ago = Instant::now().checked_sub(Duration::from_secs(1));
    for round in 0..20 {
        assert_eq!(in_flight(&mut mode), PROBE_EVERY, "{round}");
        // Now and then a call is answered from memory.
        mode.called(
            if round % 4 == 0 {
                Some(Instant::now())
            } else {
                long_ago
            },
            1000,
        );
    }
    for _ in 0..FAST_IN_A_ROW {
        assert!(mode.is_in_flight());
        assert_eq!(in_flight(&mut mode), PROBE_EVERY);
        mode.called(Some(Instant::now()), 1000);
    }
    assert!(!mode.is_in_flight() && mode.next_is_call());
}
