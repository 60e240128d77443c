use super::*;

fn wait_out_trial(concurrency: &ConcurrencyController) {
    let mut climb = concurrency.climb.lock().unwrap();
    climb.since -= TRIAL + SETTLED;
}

#[test]
fn waiting_raises_the_number_and_cache_lowers_it() {
    let concurrency = ConcurrencyController::new(None, 1000);
    concurrency.there_is_more_work();
    let cpus = concurrency.target();
    assert!(concurrency.report(1000, true));
    assert_eq!(concurrency.target(), 2 * cpus);
    for _ in 0..20 * MOST_WORKERS {
        concurrency.report(1000, false);
    }
    assert_eq!(concurrency.target(), cpus);
}

#[test]
fn the_number_is_bounded_while_more_helps() {
    let concurrency = ConcurrencyController::new(None, 1000);
    let mut calls = 1000;
    for _ in 0..20 {
        wait_out_trial(&concurrency);
        concurrency.report(calls, true);
        calls *= 4;
    }
    assert_eq!(concurrency.target(), MOST_WORKERS);
}

#[test]
fn what_does_not_help_is_not_done_further() {
    let concurrency = ConcurrencyController::new(None, 1000);
    concurrency.report(1_000_000, true);
    let doubled = concurrency.target();
    wait_out_trial(&concurrency);
    concurrency.report(4 * MOST_WORKERS as u64, true);
    assert!(concurrency.target() < doubled);
}

#[test]
fn a_report_that_was_overtaken_decides_nothing() {
    let concurrency = ConcurrencyController::new(None, 1000);
    concurrency.report(1000, true);
    let target = concurrency.target();
    wait_out_trial(&concurrency);
    // This report was counted before the one above. Its worker then had to wait for its CPU.
    concurrency.climb(999);
    assert_eq!(concurrency.target(), target);
}

#[test]
fn a_given_number_stays() {
    let concurrency = ConcurrencyController::new(NonZeroUsize::new(3), 1000);
    concurrency.there_is_more_work();
    concurrency.report(1000, true);
    assert_eq!(concurrency.target(), 3);
    let bounded = ConcurrencyController::new(NonZeroUsize::new(3), 2);
    assert_eq!(bounded.target(), 2);
}
