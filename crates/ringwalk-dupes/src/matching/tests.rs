use super::small::BATCH;
use super::*;
use crate::search::Search;

#[test]
fn a_long_class_forgets_no_hash_that_smaller_batches_wait_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, data: &[u8]| std::fs::write(folder.path().join(name), data).unwrap();
    write("one", &[1; 300]);
    write("two", &[1; 300]);
    for number in 0..4 * u8::try_from(BATCH).unwrap() {
        write(&format!("other-{number}"), &[number; 100]);
    }
    let search = Search::new([folder.path()]).unwrap();
    let (mut inventory, _) = search.scan(search.walk(), &|_| {}).unwrap();
    inventory.sort();
    // The largest files come first: one of the two is known, and the other one is to be read.
    inventory.known.push(blake3::hash(&[1; 300]).into());
    inventory.file(FileId(0)).set_known(0);
    let options = MatchOptions {
        min: 1,
        checks_empty: false,
        workers: None,
        cache: None,
        report: &|fault| panic!("{fault:?}"),
        progress: &MatchProgress::default(),
        stop: &AtomicBool::new(false),
    };
    let matched = Matcher::new(&inventory, options).run().unwrap();
    assert_eq!(matched.hashes.len(), 1);
    let groups: Vec<_> = inventory.files.iter().map(FileRecord::group).collect();
    assert_eq!(groups[..2], [Some(0), Some(0)]);
    assert!(groups[2..].iter().all(Option::is_none));
}
