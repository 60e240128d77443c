//! Unit tests of `ranges.rs`.

use super::*;
use std::sync::atomic::AtomicU64;

fn range(first: u64, last: u64) -> InodeRange {
    InodeRange {
        subvolume: 0,
        first,
        last,
        is_tight: true,
    }
}

#[test]
fn halves_are_the_whole() {
    let mut left = range(256, 10_000);
    let half = left.split_off().unwrap();
    assert_eq!((left.first, half.last), (256, 10_000));
    assert_eq!(left.last + 1, half.first);
    assert_eq!(range(256, 256 + LEAST - 1).split_off(), None);
    assert_eq!(range(300, 256).split_off(), None);
}

#[test]
fn every_number_is_worked_on_once_by_some_thread() {
    let ranges = InodeRanges::default();
    let (sum, threads) = (AtomicU64::new(0), AtomicUsize::new(0));
    let work = |mut range: InodeRange| {
        threads.fetch_add(1, Ordering::Relaxed);
        while range.first <= range.last {
            sum.fetch_add(range.first, Ordering::Relaxed);
            range.first += 1;
            if ranges.are_wanted()
                && let Some(half) = range.split_off()
            {
                ranges.give(half);
            }
            std::thread::yield_now();
        }
        Ok(())
    };
    std::thread::scope(|scope| {
        for index in 0..4 {
            let (ranges, work) = (&ranges, &work);
            scope.spawn(move || {
                if index == 0 {
                    ranges.work(|| work(range(1, 200_000))).unwrap();
                }
                while let Some(range) = ranges.wait() {
                    ranges.finish(work(range)).unwrap();
                }
            });
        }
    });
    assert_eq!(sum.into_inner(), 200_000 * 200_001 / 2);
    let shared = ranges.lock();
    assert_eq!(
        (shared.working, shared.waiting, shared.queued.len()),
        (0, 0, 0)
    );
}

#[test]
fn a_failure_ends_all_waiting() {
    let ranges = InodeRanges::default();
    std::thread::scope(|scope| {
        let failing = ranges.work(|| {
            scope.spawn(|| assert_eq!(ranges.wait(), None));
            while !ranges.are_wanted() {
                std::thread::yield_now();
            }
            Err(Refused::because("of a test"))
        });
        assert!(failing.is_err());
    });
    // After the failure no thread gets a range.
    ranges.give(range(1, 1000));
    assert_eq!(ranges.wait(), None);
}
