//! The promises to visitors: the order of calls for a directory, the numbers of its batches, and a
//! panic of one worker that ends the walk of all.

mod support;

use ringwalk::{Batch, Dir, Entry, Fields, Flow, Left, Order, Visitor};
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Barrier, Mutex};
use std::time::{Duration, Instant};
use support::{Random, grow};

/// A test whose result depends on the faster worker tries again for this long.
const LIMIT: Duration = Duration::from_secs(120);

/// The calls that were made for a directory.
#[derive(Default)]
struct Called {
    entered: AtomicBool,
    /// Subdirectories of it, found and left.
    found: AtomicUsize,
    gone: AtomicUsize,
    left: AtomicBool,
}

struct Checks;

impl Visitor for Checks {
    type State = Called;

    fn enter(&mut self, dir: &Dir<Called>) -> Flow {
        assert!(!dir.state().entered.swap(true, Ordering::SeqCst));
        Flow::Continue
    }

    fn batch(&mut self, batch: &Batch<'_, Called>) -> Flow {
        if let Some(dir) = batch.dir() {
            assert!(dir.state().entered.load(Ordering::SeqCst), "no enter");
            assert!(!dir.state().left.load(Ordering::SeqCst), "left too early");
            let below = batch.entries().filter(Entry::will_descend).count();
            dir.state().found.fetch_add(below, Ordering::SeqCst);
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Left<'_, Called>) {
        let called = dir.state();
        assert!(!called.left.swap(true, Ordering::SeqCst), "left twice");
        let (found, gone) = (&called.found, &called.gone);
        assert_eq!(found.load(Ordering::SeqCst), gone.load(Ordering::SeqCst));
        if let Some(parent) = dir.parent() {
            assert!(!parent.state().left.load(Ordering::SeqCst));
            parent.state().gone.fetch_add(1, Ordering::SeqCst);
        }
    }
}

#[test]
fn a_directory_is_left_once_and_after_everything_below_it() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(3), 4000);
    for workers in 1..=8 {
        for fields in [Fields::empty(), Fields::SIZE] {
            let outcome = support::walk(dir.path())
                .fields(fields)
                .buffer_size(Some(1024))
                .workers(NonZeroUsize::new(workers))
                .run(|_| Checks);
            assert!(outcome.summary.is_complete());
        }
    }
}

/// Number and names of a batch.
type Numbered = (u64, Vec<Vec<u8>>);

struct Numbers<'a>(&'a Mutex<Vec<Numbered>>);

impl Visitor for Numbers<'_> {
    type State = ();

    fn enter(&mut self, dir: &Dir<()>) -> Flow {
        if dir.name() == b"wide" {
            // The other workers have nothing to do meanwhile, so they get parts.
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        Flow::Continue
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        if batch.dir().is_some_and(|dir| dir.name() == b"wide") {
            let names = batch.entries().map(|entry| entry.name().to_vec());
            let numbered = (batch.numbers().start, names.collect());
            self.0.lock().unwrap().push(numbered);
        }
        Flow::Continue
    }
}

#[test]
fn numbers_of_batches_tell_the_order_of_reading() {
    let dir = tempfile::tempdir().unwrap();
    // There are enough directories for all workers to be started.
    for number in 0..50 {
        std::fs::create_dir(dir.path().join(number.to_string())).unwrap();
    }
    let wide = dir.path().join("wide");
    std::fs::create_dir(&wide).unwrap();
    for number in 0..20_000 {
        std::fs::write(wide.join(format!("file {number}")), b"").unwrap();
    }
    let read = |workers| {
        let batches = Mutex::new(Vec::new());
        support::walk(dir.path())
            .fields(Fields::SIZE)
            .order(Order::Listed)
            .buffer_size(Some(256 * 1024))
            .workers(NonZeroUsize::new(workers))
            .run(|_| Numbers(&batches));
        let mut batches = batches.into_inner().unwrap();
        batches.sort();
        assert!(
            batches.windows(2).all(|two| two[0].0 < two[1].0),
            "a number twice"
        );
        let count = batches.len();
        let names: Vec<_> = batches.into_iter().flat_map(|batch| batch.1).collect();
        (names, count)
    };
    let (expected, whole) = read(1);
    assert_eq!(expected.len(), 20_000);
    // Batches that come with metadata are not cut into parts. Other batches are, for workers that
    // have nothing to do. On a busy machine that may take some rounds.
    let mut cut = std::env::var_os("RINGWALK_TEST_SOURCE").is_some();
    let begin = Instant::now();
    let mut rounds = 0;
    while rounds == 0 || (!cut && begin.elapsed() < LIMIT) {
        rounds += 1;
        for workers in [2, 3, 8] {
            let (names, count) = read(workers);
            assert!(names == expected, "{workers} workers");
            cut |= count > whole;
        }
    }
    assert!(cut, "no batch was ever cut into parts");
}

#[test]
fn a_panic_on_one_worker_ends_the_walk_of_all() {
    /// The second worker panics when both are inside a directory. The first worker has all other
    /// directories still to read.
    struct Panics<'a>(usize, &'a AtomicUsize, &'a Barrier);
    impl Visitor for Panics<'_> {
        type State = ();
        fn enter(&mut self, dir: &Dir<()>) -> Flow {
            if dir.depth() == 1 && self.1.fetch_add(1, Ordering::SeqCst) < 2 {
                self.2.wait();
                assert!(self.0 != 1, "the visitor's own");
            }
            Flow::Continue
        }
        fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
            Flow::Continue
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let roots = ["a", "b", "c", "d"].map(|name| dir.path().join(name));
    for root in &roots {
        std::fs::create_dir_all(root.join("both")).unwrap();
    }
    let (entered, both) = (AtomicUsize::new(0), Barrier::new(2));
    let panicked = catch_unwind(AssertUnwindSafe(|| {
        support::walks(roots)
            .workers(NonZeroUsize::new(2))
            .run(|index| Panics(index, &entered, &both))
    }));
    assert!(panicked.is_err());
}

#[test]
fn directories_with_none_below_them_get_all_workers() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..400 {
        let below = dir.path().join(number.to_string());
        std::fs::create_dir(&below).unwrap();
        std::fs::write(below.join("file"), b"").unwrap();
    }
    let outcome = support::walk(dir.path())
        .workers(NonZeroUsize::new(4))
        .run(|_| Checks);
    assert_eq!(outcome.summary.workers, 4);
}
