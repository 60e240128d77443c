//! What reports do to the number of workers.

use super::*;

fn wait_out_trial(regime: &Regime) {
    let mut climb = regime.climb.lock().unwrap();
    climb.since -= TRIAL + SETTLED;
}

#[test]
fn waiting_raises_the_number_and_cache_lowers_it() {
    let regime = Regime::new(None, 1000);
    regime.there_is_more_work();
    let cpus = regime.target();
    assert!(regime.report(1000, true));
    assert_eq!(regime.target(), 2 * cpus);
    for _ in 0..20 * MOST_WORKERS {
        regime.report(1000, false);
    }
    assert_eq!(regime.target(), cpus);
}

#[test]
fn the_number_is_bounded_while_more_helps() {
    let regime = Regime::new(None, 1000);
    let mut calls = 1000;
    for _ in 0..20 {
        wait_out_trial(&regime);
        regime.report(calls, true);
        calls *= 4;
    }
    assert_eq!(regime.target(), MOST_WORKERS);
}

#[test]
fn what_does_not_help_is_not_done_further() {
    let regime = Regime::new(None, 1000);
    regime.report(1_000_000, true);
    let doubled = regime.target();
    wait_out_trial(&regime);
    regime.report(4 * MOST_WORKERS as u64, true);
    assert!(regime.target() < doubled);
}

#[test]
fn a_report_that_was_overtaken_decides_nothing() {
    let regime = Regime::new(None, 1000);
    regime.report(1000, true);
    let target = regime.target();
    wait_out_trial(&regime);
    // As it was counted before the report above, by a worker that then had to wait for its CPU.
    regime.climb(999);
    assert_eq!(regime.target(), target);
}

#[test]
fn a_given_number_stays() {
    let regime = Regime::new(NonZeroUsize::new(3), 1000);
    regime.there_is_more_work();
    regime.report(1000, true);
    assert_eq!(regime.target(), 3);
    let bounded = Regime::new(NonZeroUsize::new(3), 2);
    assert_eq!(bounded.target(), 2);
}
