//! No walk of any kind has more descriptors open than its summary says, and its summary never says
//! more than the allowance. This is a program of its own, because descriptors and their limit
//! belong to the process.

mod support;

use ringwalk::{Batch, Dir, Fields, Flow, Left, Order, OrderedWalk, Summary, Visitor, Walk};
use ringwalk_sys::sync::lock;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

/// Held by a test while it counts.
static COUNTING: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    lock(&COUNTING)
}

/// Threads that wait to list descriptors, and the one that lists them.
static LISTERS: AtomicUsize = AtomicUsize::new(0);

/// Returns how many descriptors this process has open.
fn open_now() -> usize {
    // One thread at a time lists, so that no other list is open.
    static LISTING: Mutex<()> = Mutex::new(());
    LISTERS.fetch_add(1, Ordering::Relaxed);
    let listing = lock(&LISTING);
    let open = std::fs::read_dir("/proc/self/fd").unwrap().count() - 1;
    drop(listing);
    LISTERS.fetch_sub(1, Ordering::Relaxed);
    open
}

/// Sets the soft limit, until this is dropped.
struct Soft(Rlimit);

impl Soft {
    fn limit(files: usize) -> Self {
        let before = getrlimit(Resource::Nofile);
        let limit = Rlimit {
            current: Some(files as u64),
            ..before
        };
        setrlimit(Resource::Nofile, limit).unwrap();
        Self(before)
    }
}

impl Drop for Soft {
    fn drop(&mut self) {
        setrlimit(Resource::Nofile, self.0).unwrap();
    }
}

/// Makes a tree of `levels` levels. Each has empty directories before and behind the one that leads
/// down, and every fiftieth has more entries than a small buffer holds.
fn make_deep(top: &Path, levels: usize) -> usize {
    let mut path = top.to_path_buf();
    let mut made = 1;
    for level in 0..levels {
        let files = if level % 50 == 0 { 60 } else { 1 };
        for file in 0..files {
            let name = format!("a file with a long name, number {file}");
            File::create(path.join(name)).unwrap();
        }
        for empty in ["e0", "e1"] {
            std::fs::create_dir(path.join(empty)).unwrap();
        }
        path.push(format!("d{}", level % 13));
        std::fs::create_dir(&path).unwrap();
        made += files + 3;
    }
    made
}

/// Counts open descriptors at each call.
struct Count<'a> {
    most: &'a AtomicUsize,
    entries: usize,
}

impl Count<'_> {
    fn look(&self) {
        self.most.fetch_max(open_now(), Ordering::Relaxed);
    }
}

impl Visitor for Count<'_> {
    type State = ();

    fn enter(&mut self, _: &Dir<()>) -> Flow {
        self.look();
        Flow::Continue
    }

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        self.look();
        self.entries += batch.len();
        Flow::Continue
    }

    fn leave(&mut self, left: &Left<'_, ()>) {
        // The visitor's handle counts as a descriptor of the walk, and exists only here.
        let parent = left.parent_fd();
        self.look();
        drop(parent);
    }
}

struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs `work` while another thread counts descriptors, too. Returns the largest number that were
/// open, less those that were open before.
fn counted<T>(most: &AtomicUsize, work: impl FnOnce() -> T) -> (T, usize) {
    let before = open_now();
    most.store(before, Ordering::Relaxed);
    let over = AtomicBool::new(false);
    let done = std::thread::scope(|scope| {
        // Also if the work panics: the scope waits for the thread.
        let _over = SetAtEnd(&over);
        scope.spawn(|| {
            while !over.load(Ordering::Relaxed) {
                most.fetch_max(open_now(), Ordering::Relaxed);
                std::thread::yield_now();
                // Visitors go first. The lock is not fair: on a busy machine they waited for
                // minutes for a thread that took it again and again.
                while LISTERS.load(Ordering::Relaxed) > 0 {
                    std::thread::yield_now();
                }
            }
        });
        work()
    });
    (done, most.load(Ordering::Relaxed) - before)
}

fn check(name: &str, summary: &Summary, measured: usize) {
    let (held, limit) = (summary.descriptors_held, summary.descriptor_limit);
    assert_eq!((summary.errors, summary.vanished), (0, 0), "{name}");
    assert!(measured <= held, "{name}: {measured} open, {held} told");
    assert!(held <= limit, "{name}: {held} held of {limit}");
}

/// The kinds of walks that a visitor can have.
const KINDS: [Kind; 9] = [
    ("any order", |walk| walk),
    ("listed", |walk| walk.order(Order::Listed)),
    ("by name", |walk| walk.order(Order::Name)),
    ("preorder", |walk| walk.preorder(true)),
    ("preorder by name", |walk| {
        walk.preorder(true).order(Order::Name)
    }),
    ("parents open", |walk| walk.parents_open(true)),
    ("parents open, preorder", |walk| {
        walk.parents_open(true).preorder(true)
    }),
    ("metadata", |walk| walk.fields(Fields::SIZE)),
    ("metadata, preorder", |walk| {
        walk.fields(Fields::SIZE).preorder(true)
    }),
];

type Kind = (&'static str, fn(Walk) -> Walk);

#[test]
fn no_walk_has_more_open_than_it_tells() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let entries = make_deep(dir.path(), 150);
    let most = AtomicUsize::new(0);
    for files in [24, 64, 1024] {
        let soft = Soft::limit(files);
        for workers in [1, 2, 8] {
            for (name, kind) in KINDS {
                let name = format!("{name}, {files} files, {workers} workers");
                let walk = support::walk(dir.path())
                    .buffer_size(Some(1024))
                    .workers(NonZeroUsize::new(workers));
                let walk = kind(walk);
                let (outcome, measured) = counted(&most, || {
                    walk.run(|_| Count {
                        most: &most,
                        entries: 0,
                    })
                });
                let summary = &outcome.summary;
                check(&name, summary, measured);
                let seen: usize = outcome.visitors.iter().map(|v| v.entries).sum();
                assert_eq!(seen, entries, "{name}");
                assert!(files < 1024 || summary.reopened == 0, "{name}");
            }
        }
        drop(soft);
    }
}

/// Shows that the counts above are tight: other walks hold fewer.
#[test]
fn a_deep_walk_in_preorder_holds_one_for_each_level_and_tells_so() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    make_deep(dir.path(), 300);
    let most = AtomicUsize::new(0);
    // By name: each directory that leads down then has entries behind it.
    let walk = support::walk(dir.path())
        .preorder(true)
        .order(Order::Name)
        .workers(NonZeroUsize::new(1));
    let (outcome, measured) = counted(&most, || {
        walk.run(|_| Count {
            most: &most,
            entries: 0,
        })
    });
    check("preorder", &outcome.summary, measured);
    assert!(measured > 290, "{measured}");
    assert!(outcome.summary.descriptors_held < 310);
}

#[test]
fn the_iterators_have_no_more_open_than_they_tell() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let entries = make_deep(dir.path(), 150);
    let most = AtomicUsize::new(0);
    for files in [24, 1024] {
        let _soft = Soft::limit(files);
        for threads in [0, 1, 4] {
            let (held, measured) = counted(&most, || {
                let mut walk = OrderedWalk::new(dir.path()).threads(threads);
                let mut listed = 1;
                while let Some(turn) = walk.next_directory() {
                    listed += turn.unwrap().listing().len();
                }
                assert_eq!(listed, entries);
                walk.descriptors_held()
            });
            assert!(measured <= held, "{measured} open, {held} told");
            assert!(held <= files - 4, "{held} of {files}");
        }
        for preorder in [false, true] {
            let walk = support::walk(dir.path()).preorder(preorder);
            let mut batches = walk.batches().unwrap();
            let (listed, measured) = counted(&most, || {
                batches
                    .by_ref()
                    .map(|batch| batch.unwrap().entries().len())
                    .sum::<usize>()
            });
            assert_eq!(listed, entries);
            check("batches", batches.summary().unwrap(), measured);
            #[cfg(feature = "async")]
            {
                let walk = support::walk(dir.path()).preorder(preorder);
                let mut stream = walk.stream().unwrap();
                let (listed, measured) = counted(&most, || {
                    futures_lite::future::block_on(async {
                        let mut listed = 0;
                        while let Some(batch) = stream.next_batch().await {
                            listed += batch.unwrap().entries().len();
                        }
                        listed
                    })
                });
                assert_eq!(listed, entries);
                check("stream", stream.summary().unwrap(), measured);
            }
        }
    }
}

/// The rest of the process can open as many files as the reserve has while a walk runs.
#[test]
fn the_reserve_is_left_to_the_host() {
    /// Opens as many files as are reserved, at each batch and at each directory that is left.
    struct Host(usize);
    impl Host {
        fn open(&self) {
            let open = |_| File::open("/dev/null").expect("a descriptor of the reserve");
            let files: Vec<_> = (0..self.0).map(open).collect();
            assert_eq!(files.len(), self.0);
        }
    }
    impl Visitor for Host {
        type State = ();
        fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
            self.open();
            Flow::Continue
        }
        fn leave(&mut self, _: &Left<'_, ()>) {
            self.open();
        }
    }
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    make_deep(dir.path(), 300);
    for (files, given, expected) in [(256, None, 62), (600, None, 64), (100, Some(40), 40)] {
        let _soft = Soft::limit(files);
        for (name, kind) in KINDS {
            let walk = support::walk(dir.path())
                .workers(NonZeroUsize::new(1))
                .descriptor_reserve(given);
            let summary = kind(walk).run(|_| Host(expected - 4)).summary;
            assert_eq!(summary.errors, 0, "{name}");
            assert!(
                summary.descriptor_reserve.abs_diff(expected) <= 2,
                "{name}: {}",
                summary.descriptor_reserve
            );
        }
    }
}

/// Two walks at the same time share the free descriptors.
#[test]
fn walks_of_one_process_count_together() {
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    let entries = make_deep(dir.path(), 300);
    let _soft = Soft::limit(128);
    let most = AtomicUsize::new(0);
    let walk = || {
        let walk = support::walk(dir.path())
            .preorder(true)
            .workers(NonZeroUsize::new(1));
        let outcome = walk.run(|_| Count {
            most: &most,
            entries: 0,
        });
        assert_eq!(outcome.summary.errors, 0);
        assert_eq!(outcome.visitors[0].entries, entries);
    };
    let ((), measured) = counted(&most, || {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(walk);
            }
        });
    });
    // A quarter of the free descriptors is reserved, and the first worker of each walk always has
    // its own.
    assert!(measured <= 96 + 4 * 3, "{measured}");
}

/// The rest of the process opens one file after the other and keeps them. In the end there are more
/// of them than were ever reserved.
#[test]
fn the_walk_gives_way_to_a_host_that_opens_more_and_more() {
    struct Hoards {
        batches: usize,
        files: Vec<File>,
    }
    impl Visitor for Hoards {
        type State = ();
        fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
            let open = || File::open("/dev/null").expect("the walk has closed some");
            self.batches += 1;
            // There are three batches for each level.
            if self.batches.is_multiple_of(15) {
                self.files.push(open());
            }
            // There is always room for a few more files, not only when the walk itself has run out.
            let more: [File; 8] = std::array::from_fn(|_| open());
            assert!(more.iter().all(|file| file.metadata().is_ok()));
            Flow::Continue
        }
    }
    let _alone = alone();
    let dir = tempfile::tempdir().unwrap();
    make_deep(dir.path(), 900);
    let _soft = Soft::limit(256);
    let walk = support::walk(dir.path())
        .preorder(true)
        .order(Order::Name)
        .workers(NonZeroUsize::new(1));
    let outcome = walk.run(|_| Hoards {
        batches: 0,
        files: Vec::new(),
    });
    let (hoard, summary) = (&outcome.visitors[0], &outcome.summary);
    assert_eq!(summary.errors, 0);
    assert!(
        hoard.files.len() > 2 * summary.descriptor_reserve,
        "{} files",
        hoard.files.len()
    );
}
