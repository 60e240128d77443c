mod limits;
mod mounts;
mod plain;
mod races;
mod swapped;

use super::testing::{Place, Results, Tree};
use super::{Outcome, delete};

/// Deletes selected entries, and returns what happened.
fn run<'t>(place: &Place, tree: &Tree, paths: &[&str]) -> (Outcome, Results<'t>) {
    let selections: Vec<_> = paths.iter().map(|path| tree.select(path)).collect();
    let mut results = Results::default();
    let outcome = delete(&tree.root(), &selections, tree, &place.log(), &mut results).unwrap();
    assert_eq!(outcome.deleted, results.deleted.len() as u64);
    assert_eq!(outcome.kept, results.kept.len() as u64);
    assert_eq!(outcome.freed, results.freed);
    place.check_outside();
    (outcome, results)
}
