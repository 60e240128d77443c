//! Tests of both kernel sources over an emulated kernel: they return the same answers as `syscall`,
//! however the kernel behaves.

use super::emulated::{Behaviour, Emulated, FULL_CUTS, TREES};
use super::{KernelSide, KernelSource};
use crate::{
    Batch, Error, Fields, Flow, Follow, Left, Metadata, Order, SourceChoice, Stay, Summary,
    Timestamp, Visitor, Walk,
};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::Ordering;
use std::time::Duration;

/// The results of a walk: entries by path, directories left, and errors.
#[derive(Debug, Default, PartialEq, Eq)]
struct Answer {
    entries: BTreeMap<Vec<u8>, (Option<Metadata>, crate::FileType, u64)>,
    left: Vec<Vec<u8>>,
    errors: Vec<(Vec<u8>, Errno, bool)>,
    /// Paths in the order of the walk, for walks by one worker.
    order: Vec<Vec<u8>>,
}

impl Visitor for Answer {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            // Reading a directory changes its access time.
            let known = entry.metadata().map(|metadata| Metadata {
                atime: Timestamp::default(),
                ..*metadata
            });
            let seen = (known, entry.file_type(), entry.ino());
            let before = self.entries.insert(entry.path(), seen);
            assert_eq!(before, None, "seen twice");
            self.order.push(entry.path());
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Left<'_, ()>) {
        self.left.push(dir.path());
    }

    fn error(&mut self, error: &Error) {
        let path = std::os::unix::ffi::OsStrExt::as_bytes(error.path().as_os_str());
        self.errors
            .push((path.to_vec(), error.errno(), error.is_vanished()));
    }
}

/// All fields: each source must return the same values.
const FIELDS: Fields = Fields::all();

fn answer(walk: Walk) -> (Answer, Summary) {
    let outcome = walk.run(|_| Answer::default());
    let mut all = Answer::default();
    for visitor in outcome.visitors {
        for (path, seen) in visitor.entries {
            assert_eq!(all.entries.insert(path, seen), None, "seen twice");
        }
        all.left.extend(visitor.left);
        all.errors.extend(visitor.errors);
        all.order.extend(visitor.order);
    }
    all.left.sort();
    all.errors.sort_by(|a, b| a.0.cmp(&b.0));
    (all, outcome.summary)
}

/// Reduces the masks to the fields that were asked for: `statx` may return more.
fn asked(answer: &mut Answer, fields: Fields) {
    for (metadata, ..) in answer.entries.values_mut() {
        let Some(metadata) = metadata else { continue };
        let told = metadata.mask & (fields | Fields::TYPE);
        *metadata = Metadata {
            mask: told,
            ..*metadata
        };
        let zero = Timestamp::default();
        if !told.contains(Fields::MTIME) {
            metadata.mtime = zero;
        }
        if !told.contains(Fields::CTIME) {
            metadata.ctime = zero;
        }
        if !told.contains(Fields::BTIME) {
            metadata.btime = zero;
        }
        if !told.contains(Fields::MNT_ID) {
            metadata.mnt_id = 0;
        }
    }
}

fn emulated(behaviour: Behaviour) -> SourceChoice {
    SourceChoice::Emulated(Box::leak(Box::new(behaviour)))
}

/// Returns every behaviour of the kernel that still lets a walk read everything.
fn behaviours() -> Vec<Behaviour> {
    let plain = Behaviour::default();
    let mut all = vec![
        plain,
        Behaviour {
            no_mount_ids: true,
            ..plain
        },
        Behaviour {
            no_birth_times: true,
            ..plain
        },
        Behaviour {
            entries: Some(3),
            ..plain
        },
        Behaviour {
            end_untold: true,
            ..plain
        },
        Behaviour {
            entry_error: Some(Errno::NOMEM),
            ..plain
        },
        Behaviour {
            cuts: Some(Duration::ZERO),
            ..plain
        },
    ];
    for (each, errno) in [
        (1, Errno::NODEV),
        (2, Errno::PERM),
        (7, Errno::NOMEM),
        (3, Errno::INVAL),
    ] {
        all.push(Behaviour {
            refuses: Some((each, errno)),
            entries: Some(50),
            ..plain
        });
    }
    let in_flight = all.clone().into_iter().map(|behaviour| Behaviour {
        in_flight: true,
        ..behaviour
    });
    let more = [
        Behaviour {
            interrupted: Some(3),
            ..plain
        },
        Behaviour {
            at_once: true,
            ..plain
        },
        Behaviour {
            ring_lost_after: Some(0),
            ..plain
        },
        Behaviour {
            descriptors: Some(1),
            ..plain
        },
        Behaviour {
            descriptors: Some(20),
            ..plain
        },
    ];
    let more = more.map(|behaviour| Behaviour {
        in_flight: true,
        ..behaviour
    });
    let all: Vec<_> = all.iter().copied().chain(in_flight).chain(more).collect();
    all
}

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for a in 0..9 {
        for b in 0..a {
            let sub = dir.path().join(format!("{a}/{b}"));
            std::fs::create_dir_all(&sub).unwrap();
            for c in 0..(a * b) % 40 {
                std::fs::write(sub.join(format!("file-{c}")), vec![0; c]).unwrap();
            }
        }
    }
    let wide = dir.path().join("wide");
    std::fs::create_dir(&wide).unwrap();
    for number in 0..500 {
        let name = format!("{number}-{}", "x".repeat(number % 200));
        std::fs::write(wide.join(name), b"").unwrap();
    }
    std::os::unix::fs::symlink("3", dir.path().join("link")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("dangling")).unwrap();
    dir
}

/// Returns the answer of system calls, after all data is written back: while it is, btrfs counts
/// the blocks of a file twice.
fn settled(walk: Walk, fields: Fields) -> Answer {
    let (mut answer, _) = answer(walk.source(SourceChoice::Syscall).sync(true));
    asked(&mut answer, fields);
    answer
}

fn compare(root: &Path, fields: Fields, set_up: impl Fn(Walk) -> Walk) {
    let set_up = |walk: Walk| set_up(walk.fields(fields));
    let expected = settled(set_up(Walk::new(root)), fields);
    for behaviour in behaviours() {
        for workers in [1, 3] {
            let walk = set_up(Walk::new(root))
                .source(emulated(behaviour))
                .workers(NonZeroUsize::new(workers));
            let (mut found, summary) = answer(walk);
            asked(&mut found, fields);
            let about = format!("{behaviour:?}, {workers} workers: {summary:?}");
            assert_same(&found, &expected, &about);
        }
    }
}

/// Fails, and shows the first difference, unless both answers are the same except for the order.
fn assert_same(found: &Answer, expected: &Answer, about: &str) {
    for (path, expected) in &expected.entries {
        let found = found.entries.get(path);
        let path = path.escape_ascii();
        assert_eq!(found, Some(expected), "{path}: {about}");
    }
    assert_eq!(found.entries.len(), expected.entries.len(), "{about}");
    assert_eq!(found.left, expected.left, "{about}");
    assert_eq!(found.errors, expected.errors, "{about}");
}

#[test]
fn names_and_metadata_are_those_of_system_calls() {
    let dir = tree();
    for fields in [Fields::empty(), Fields::SIZE, FIELDS] {
        compare(dir.path(), fields, |walk| walk);
    }
}

#[test]
fn links_are_followed_and_mounts_reported_as_by_system_calls() {
    let dir = tree();
    compare(dir.path(), FIELDS, |walk| walk.follow(Follow::Always));
    for stay in [Stay::Device, Stay::Mount] {
        compare(dir.path(), Fields::SIZE, |walk| walk.stay(stay));
        compare(dir.path(), Fields::empty(), |walk| walk.stay(stay));
    }
}

#[test]
fn small_buffers_and_bounds_change_nothing() {
    let dir = tree();
    compare(dir.path(), FIELDS, |walk| walk.buffer_size(Some(1024)));
    compare(dir.path(), FIELDS, |walk| walk.max_depth(2));
}

/// Rooms for trees: none that holds a directory, some for a few, one for all.
const ROOMS: [usize; 4] = [0, 5000, 40_000, 1 << 20];

#[test]
fn trees_change_nothing() {
    let dir = tree();
    // A directory with many others below it. A tree holds a part of them.
    let mut deep = dir.path().join("deep");
    for level in 0..60 {
        deep.push(format!("level-{level}"));
        std::fs::create_dir_all(&deep).unwrap();
        std::fs::write(deep.join("file"), "contents").unwrap();
    }
    let before = TREES.load(Ordering::Relaxed);
    let more = Fields::SIZE | Fields::MTIME | Fields::BTIME;
    for (depth, fields) in [(usize::MAX, more), (1, more), (2, Fields::SIZE), (30, more)] {
        let walk = || {
            let walk = Walk::new(dir.path()).fields(fields).max_depth(depth);
            walk.stay(Stay::Device).descends_everywhere(true)
        };
        let expected = settled(walk(), fields);
        for room in ROOMS {
            for behaviour in tree_behaviours(room) {
                for workers in [1, 3] {
                    let workers = NonZeroUsize::new(workers);
                    let walk = walk().source(emulated(behaviour)).workers(workers);
                    let (mut found, summary) = answer(walk);
                    asked(&mut found, fields);
                    let about = format!("depth {depth}: {behaviour:?}, {summary:?}");
                    assert_same(&found, &expected, &about);
                }
            }
        }
    }
    assert!(TREES.load(Ordering::Relaxed) > before);
}

/// Returns how a kernel may read trees.
fn tree_behaviours(room: usize) -> Vec<Behaviour> {
    let plain = Behaviour {
        trees: Some(room),
        ..Behaviour::default()
    };
    vec![
        plain,
        Behaviour {
            no_birth_times: true,
            ..plain
        },
        Behaviour {
            entry_error: Some(Errno::NOMEM),
            ..plain
        },
        Behaviour {
            refuses: Some((2, Errno::NOMEM)),
            ..plain
        },
        Behaviour {
            in_flight: true,
            ..plain
        },
    ]
}

#[test]
fn a_walk_that_may_prune_asks_for_no_trees() {
    let dir = tree();
    let side = KernelSide::new(None);
    let asks = |walk: Walk| {
        let behaviour = Behaviour {
            trees: Some(1 << 20),
            ..Behaviour::default()
        };
        let walk = walk.fields(Fields::SIZE);
        let options = walk.options();
        let source = KernelSource::<(), Emulated>::emulated(&side, behaviour, options);
        source.trees.is_some()
    };
    let everywhere = || Walk::new(dir.path()).descends_everywhere(true);
    assert!(asks(everywhere()));
    assert!(!asks(Walk::new(dir.path())));
    assert!(!asks(everywhere().preorder(true)));
    assert!(!asks(everywhere().order(Order::Name)));
    assert!(!asks(everywhere().follow(Follow::Always)));
    assert!(!asks(everywhere().parents_open(true)));
    assert!(!asks(everywhere().stay(Stay::Mount)));
    assert!(!asks(everywhere().in_flight(NonZeroUsize::new(4))));
    assert!(!asks(everywhere().filter(|_| true)));
}

#[test]
fn by_name_a_directory_is_one_batch() {
    let dir = tree();
    let small = Some(1024);
    for (fields, buffer) in [
        (Fields::empty(), None),
        (Fields::SIZE, None),
        (FIELDS, small),
    ] {
        let by_name = |source| {
            let walk = Walk::new(dir.path()).fields(fields).order(Order::Name);
            let walk = walk.buffer_size(buffer);
            answer(walk.source(source).workers(NonZeroUsize::new(1))).0
        };
        let wide = |answer: &Answer| -> Vec<Vec<u8>> {
            let inside = |path: &&Vec<u8>| path.windows(6).any(|part| part == b"/wide/");
            answer.order.iter().filter(inside).cloned().collect()
        };
        let expected = wide(&by_name(SourceChoice::Syscall));
        assert!(expected.is_sorted() && expected.len() == 500);
        for behaviour in behaviours() {
            let found = by_name(emulated(behaviour));
            assert_eq!(wide(&found), expected, "{behaviour:?}");
        }
    }
}

#[test]
fn preorder_stays_preorder() {
    let dir = tree();
    let order = |source| {
        let walk = Walk::new(dir.path()).fields(Fields::SIZE).preorder(true);
        answer(walk.source(source).workers(NonZeroUsize::new(1)))
            .0
            .order
    };
    let expected = order(SourceChoice::Syscall);
    for in_flight in [false, true] {
        let behaviour = Behaviour {
            in_flight,
            ..Behaviour::default()
        };
        assert!(order(emulated(behaviour)) == expected, "{behaviour:?}");
    }
}

#[test]
fn a_kernel_that_refuses_everything_is_given_up() {
    let dir = tree();
    let behaviour = Behaviour {
        refuses: Some((1, Errno::NODEV)),
        ..Behaviour::default()
    };
    let walk = Walk::new(dir.path()).fields(Fields::SIZE);
    let walk = walk.workers(NonZeroUsize::new(1));
    let (_, summary) = answer(walk.source(emulated(behaviour)));
    assert_eq!(summary.fell_back, 3, "{summary:?}");
    let why = summary.fell_back_reason.unwrap();
    assert!(why.contains("No such device"), "{why}");
}

#[test]
fn an_interruption_is_no_refusal() {
    let dir = tree();
    for in_flight in [false, true] {
        let behaviour = Behaviour {
            in_flight,
            interrupted: Some(3),
            ..Behaviour::default()
        };
        let walk = Walk::new(dir.path()).fields(Fields::SIZE);
        let (_, summary) = answer(walk.source(emulated(behaviour)));
        assert_eq!(summary.fell_back, 0, "{summary:?}");
    }
}

#[test]
fn a_lost_ring_loses_no_entries_silently() {
    let dir = tree();
    let walk = |source| {
        let walk = Walk::new(dir.path()).fields(Fields::SIZE);
        walk.buffer_size(Some(4096)).source(source)
    };
    let (expected, _) = answer(walk(SourceChoice::Syscall));
    for (after, at_once) in (1..180)
        .step_by(4)
        .flat_map(|after| [(after, false), (after, true)])
    {
        let behaviour = Behaviour {
            in_flight: true,
            at_once,
            ring_lost_after: Some(after),
            ..Behaviour::default()
        };
        let one = NonZeroUsize::new(1);
        let (found, summary) = answer(walk(emulated(behaviour)).workers(one));
        assert!(found.errors.iter().all(|error| error.1 == Errno::IO));
        // Only entries of directories that were partly read are missing, and an error reports each.
        let is_told = |entry: &[u8]| {
            let mut failed = found.errors.iter().map(|error| &error.0);
            failed.any(|dir| {
                entry
                    .strip_prefix(&dir[..])
                    .is_some_and(|rest| rest[0] == b'/')
            })
        };
        let mut missing = expected
            .entries
            .keys()
            .filter(|path| !found.entries.contains_key(*path));
        let silent = missing.find(|path| !is_told(path));
        assert_eq!(silent, None, "{after} {at_once}");
        assert_eq!(summary.errors, found.errors.len() as u64);
        if found.errors.is_empty() {
            assert_eq!(found.left, expected.left);
        }
    }
}

/// Walks directories of 61 to 120 files, so that the last buffer is full to any degree.
fn walk_with_cuts(behaviour: Behaviour, workers: usize) {
    let dir = tempfile::tempdir().unwrap();
    for entries in 0..120 {
        let name = format!("{entries:04}");
        std::fs::write(dir.path().join(name), b"").unwrap();
        if entries < 60 {
            continue;
        }
        let walk = Walk::new(dir.path()).fields(Fields::SIZE);
        let walk = walk.buffer_size(Some(4096)).source(emulated(behaviour));
        let (found, summary) = answer(walk.workers(NonZeroUsize::new(workers)));
        let about = format!("{behaviour:?}, {workers} workers: {summary:?}");
        // The root is one of them.
        assert_eq!(found.entries.len(), entries + 2, "{about}");
        assert_eq!(found.left.len(), 1, "{about}");
        assert_eq!(found.errors, [], "{about}");
        assert_eq!(summary.fell_back, 0, "{about}");
    }
}

#[test]
fn an_end_that_another_read_takes_back_loses_no_entries() {
    let before = FULL_CUTS.load(Ordering::Relaxed);
    // With two workers that call, the read that sees the end is the one that would push the rest.
    for (in_flight, workers) in [(true, 1), (true, 3), (false, 2), (false, 3)] {
        let behaviour = Behaviour {
            in_flight,
            cuts: Some(Duration::from_millis(5)),
            ..Behaviour::default()
        };
        walk_with_cuts(behaviour, workers);
    }
    assert!(FULL_CUTS.load(Ordering::Relaxed) > before);
}

#[test]
fn a_walk_can_be_stopped_with_requests_in_flight() {
    struct Stop(u32);
    impl Visitor for Stop {
        type State = ();
        fn batch(&mut self, _: &Batch<'_, ()>) -> Flow {
            self.0 -= 1;
            if self.0 == 0 {
                Flow::Stop
            } else {
                Flow::Continue
            }
        }
    }
    let dir = tree();
    for after in 1..40 {
        let behaviour = Behaviour {
            in_flight: true,
            ..Behaviour::default()
        };
        let walk = Walk::new(dir.path()).source(emulated(behaviour));
        let outcome = walk.workers(NonZeroUsize::new(1)).run(|_| Stop(after));
        assert!(outcome.summary.stopped);
    }
}
