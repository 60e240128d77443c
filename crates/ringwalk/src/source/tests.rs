//! Every source gives the same answer as `syscall`.

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
