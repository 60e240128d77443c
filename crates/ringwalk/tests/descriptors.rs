//! With almost no descriptors every entry is still seen. One test in a process of its own: the limit is the process's.

mod support;

use ringwalk::{Order, Walk};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::num::NonZeroUsize;
use support::{Random, as_set, collect, expected, grow};

#[test]
fn sixteen_descriptors_are_enough() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), &mut Random::new(1), 3000);
    // A chain in which every level has siblings to come back to, and more entries than a small buffer holds.
    let mut path = dir.path().join("chain");
    for level in 0..60 {
        for sibling in 0..5 {
            std::fs::create_dir_all(path.join(format!("{sibling}/leaf"))).unwrap();
        }
        for file in 0..40 {
            std::fs::write(
                path.join(format!("a file of level {level}, number {file}")),
                b"",
            )
            .unwrap();
        }
        path.push("2");
    }
    let expected = expected(dir.path());
    let limit = getrlimit(Resource::Nofile);
    let few = Rlimit {
        current: Some(16),
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, few).unwrap();
    for workers in [None, NonZeroUsize::new(1), NonZeroUsize::new(8)] {
        for order in [Order::Any, Order::Name] {
            let walk = Walk::new(dir.path())
                .workers(workers)
                .order(order)
                .buffer_size(Some(1024));
            let (all, summary) = collect(walk);
            assert_eq!(all.errors, []);
            assert!(as_set(all.seen) == expected);
            assert!(summary.descriptor_limit < 16);
            assert!(summary.reopened > 0, "the budget was never spent");
        }
    }
    setrlimit(Resource::Nofile, limit).unwrap();
}
