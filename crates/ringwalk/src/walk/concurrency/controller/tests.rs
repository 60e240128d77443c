use super::*;

fn calls(calls: u64) -> Made {
    Made {
        calls,
        timed: calls,
        took: Duration::from_nanos(calls),
    }
}

fn wait_out_trial(concurrency: &ConcurrencyController) {
    concurrency.decisions.lock().unwrap().since -= Duration::from_secs(10);
}

#[test]
fn waiting_raises_the_number_and_cache_lowers_it() {
    let concurrency = ConcurrencyController::new(None, 1000);
    concurrency.there_is_more_work();
    let cpus = concurrency.target();
    let first = Decision {
        first_wait: true,
        raised: true,
    };
    assert_eq!(concurrency.report(calls(1000), true), first);
    assert_eq!(concurrency.target(), 2 * cpus);
    for _ in 0..20 * MOST_WORKERS {
        assert_eq!(concurrency.report(calls(1000), false), Decision::default());
    }
    assert_eq!(concurrency.target(), cpus);
}

#[test]
fn the_number_is_bounded_while_more_helps() {
    let concurrency = ConcurrencyController::new(None, 1000);
    let mut made = 1000;
    for _ in 0..40 {
        wait_out_trial(&concurrency);
        concurrency.report(calls(made), true);
        made *= 2;
    }
    assert_eq!(concurrency.target(), MOST_WORKERS);
}

#[test]
fn a_report_that_was_overtaken_decides_nothing() {
    let concurrency = ConcurrencyController::new(None, 1000);
    concurrency.report(calls(1000), true);
    let target = concurrency.target();
    wait_out_trial(&concurrency);
    // This report was counted before the one above. Its worker then had to wait for its CPU.
    assert!(!concurrency.decide(999));
    assert_eq!(concurrency.target(), target);
}

#[test]
fn a_given_number_stays() {
    let concurrency = ConcurrencyController::new(NonZeroUsize::new(3), 1000);
    concurrency.there_is_more_work();
    assert!(!concurrency.report(calls(1000), true).raised);
    assert_eq!(concurrency.target(), 3);
    let bounded = ConcurrencyController::new(NonZeroUsize::new(3), 2);
    assert_eq!(bounded.target(), 2);
    let large = ConcurrencyController::new(NonZeroUsize::new(700), 1000);
    assert_eq!((large.target(), large.most()), (700, 700));
}
