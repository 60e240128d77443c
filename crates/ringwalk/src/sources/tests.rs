//! Tests that every source gives the same answer as `syscall`.

use crate::{Batch, Fields, Flow, SourceChoice, Visitor, Walk};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::Path;

#[derive(Default)]
struct Collect(BTreeMap<Vec<u8>, Option<u64>>);

impl Visitor for Collect {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            let size = entry.metadata().map(|m| m.size);
            assert_eq!(self.0.insert(entry.path(), size), None, "seen twice");
        }
        Flow::Continue
    }

    fn error(&mut self, error: &crate::Error) {
        panic!("{error}");
    }
}

fn answer(
    root: &Path,
    source: SourceChoice,
    fields: Fields,
    workers: usize,
) -> BTreeMap<Vec<u8>, Option<u64>> {
    let outcome = Walk::new(root)
        .source(source)
        .fields(fields)
        .workers(NonZeroUsize::new(workers))
        .run(|_| Collect::default());
    assert!(outcome.summary.is_complete());
    let mut all = BTreeMap::new();
    for visitor in outcome.visitors {
        for (path, size) in visitor.0 {
            assert_eq!(all.insert(path, size), None, "seen twice");
        }
    }
    all
}

#[test]
fn a_source_that_completes_in_any_order_gives_the_same_answer() {
    let dir = tempfile::tempdir().unwrap();
    for a in 0..30 {
        for b in 0..a {
            let sub = dir.path().join(format!("{a}/{b}"));
            std::fs::create_dir_all(&sub).unwrap();
            for c in 0..(a * b) % 90 {
                std::fs::write(sub.join(format!("file-{c}")), vec![0; c]).unwrap();
            }
        }
    }
    for fields in [Fields::empty(), Fields::SIZE] {
        let expected = answer(dir.path(), SourceChoice::Syscall, fields, 1);
        assert!(expected.len() > 10_000);
        for workers in 1..4 {
            assert!(answer(dir.path(), SourceChoice::Shuffled, fields, workers) == expected);
        }
    }
}

/// If no descriptor can be spared, directories are read one after the other, however many the
/// source could take.
#[test]
fn directories_in_flight_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..40 {
        std::fs::create_dir(dir.path().join(number.to_string())).unwrap();
    }
    let held = |reserve| {
        let outcome = Walk::new(dir.path())
            .source(SourceChoice::Shuffled)
            .workers(NonZeroUsize::new(1))
            .descriptor_reserve(reserve)
            .run(|_| Collect::default());
        assert_eq!(outcome.visitors[0].0.len(), 41);
        outcome.summary.descriptors_held
    };
    // The first directory is one of the three descriptors of its worker; the seven others take two
    // each. The root is held for its children, and for its rest, as it is larger than a buffer.
    assert_eq!(held(Some(usize::MAX)), 3);
    assert!(held(None) >= 3 + 2 + 7 * 2);
}
