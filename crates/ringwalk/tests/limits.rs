//! Limits on requests at a time and on entries a second.

mod support;

use ringwalk::{Batch, Dir, Fields, Flow, Visitor};
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

#[derive(Default)]
struct Count<'a> {
    entries: usize,
    /// Counts directories below the root, and stops the walk at the second.
    stops: Option<&'a AtomicUsize>,
}

impl Visitor for Count<'_> {
    type State = ();

    fn enter(&mut self, dir: &Dir<()>) -> Flow {
        match self.stops {
            Some(entered) if dir.depth() > 0 && entered.fetch_add(1, Ordering::Relaxed) == 1 => {
                Flow::Stop
            }
            _ => Flow::Continue,
        }
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        self.entries += batch.len();
        Flow::Continue
    }
}

fn make(dir: &Path, files: usize) {
    std::fs::create_dir(dir).unwrap();
    for number in 0..files {
        std::fs::write(dir.join(number.to_string()), b"").unwrap();
    }
}

#[test]
fn no_more_workers_run_than_requests_are_allowed() {
    let top = tempfile::tempdir().unwrap();
    for number in 0..100 {
        make(&top.path().join(format!("d{number}")), 20);
    }
    for workers in [None, NonZeroUsize::new(8)] {
        let walk = support::walk(top.path())
            .fields(Fields::SIZE)
            .workers(workers);
        let outcome = walk
            .in_flight(NonZeroUsize::new(2))
            .run(|_| Count::default());
        assert!(outcome.summary.workers <= 2, "{}", outcome.summary.workers);
        let entries: usize = outcome.visitors.iter().map(|count| count.entries).sum();
        assert_eq!(entries, 1 + 100 * 21);
    }
}

#[test]
fn a_rate_that_is_not_reached_changes_nothing() {
    let top = tempfile::tempdir().unwrap();
    make(&top.path().join("a"), 3000);
    for fields in [Fields::empty(), Fields::SIZE] {
        let walk = support::walk(top.path()).fields(fields);
        let outcome = walk
            .entries_per_second(NonZeroU64::new(u64::MAX))
            .run(|_| Count::default());
        let entries: usize = outcome.visitors.iter().map(|count| count.entries).sum();
        assert_eq!(entries, 3002);
    }
}

#[test]
fn a_walk_that_is_stopped_does_not_wait_for_its_rate() {
    let top = tempfile::tempdir().unwrap();
    for number in 0..8 {
        make(&top.path().join(number.to_string()), 1000);
    }
    let entered = AtomicUsize::new(0);
    let begin = Instant::now();
    // One worker waits for the files of the first directory, which take more than three minutes.
    // Another comes to the second directory, and stops the walk.
    support::walk(top.path())
        .fields(Fields::SIZE)
        .workers(NonZeroUsize::new(2))
        .entries_per_second(NonZeroU64::new(5))
        .run(|_| Count {
            entries: 0,
            stops: Some(&entered),
        });
    assert_eq!(entered.into_inner(), 2);
    assert!(begin.elapsed() < Duration::from_secs(100));
}
