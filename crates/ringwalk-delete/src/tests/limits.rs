//! Large directories.

use super::super::delete;
use super::super::testing::{Place, Results, Tree};
use std::fs;

#[test]
fn ten_thousand_files_of_one_directory_are_deleted() {
    let place = Place::with(&["top/file"]);
    for number in 0..10_000 {
        fs::File::create(place.at(&format!("top/{number}"))).unwrap();
    }
    let tree = Tree::read(&place.root());
    let mut results = Results::default();
    let selections = [tree.select("top")];
    delete(&tree.root(), &selections, &tree, &place.log(), &mut results).unwrap();
    assert_eq!((results.deleted.len(), results.kept.len()), (10_002, 0));
    let lines = fs::read_to_string(place.log_path()).unwrap();
    assert_eq!(lines.lines().count(), 10_003);
}
