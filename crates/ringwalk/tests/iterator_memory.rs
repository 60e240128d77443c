//! A sorted walk does not read ahead of its reader. This is a process of its own, because it
//! measures the whole process.

mod support;

use ringwalk::Fields;
use std::fs;
use std::path::Path;

/// Makes `levels` levels of 8 directories each, the last with 24 files.
fn grow(path: &Path, levels: usize) {
    for number in 0..8 {
        let below = path.join(number.to_string());
        fs::create_dir(&below).unwrap();
        if levels > 1 {
            grow(&below, levels - 1);
        } else {
            // Links are made faster than files.
            let first = below.join("0");
            fs::write(&first, b"").unwrap();
            for file in 1..24 {
                fs::hard_link(&first, below.join(file.to_string())).unwrap();
            }
        }
    }
}

/// Returns the largest memory that this process has had, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse().unwrap()
}

#[test]
fn a_sorted_walk_waits_for_its_reader() {
    let dir = tempfile::tempdir().unwrap();
    grow(dir.path(), 4);
    let before = peak();
    let mut entries = support::walk(dir.path())
        .fields(Fields::SIZE)
        .depth_first()
        .into_iter();
    assert!(entries.next().unwrap().is_ok());
    // In this time the walk could read far more of the tree than it should.
    std::thread::sleep(std::time::Duration::from_secs(1));
    assert_eq!(entries.by_ref().count(), 4680 + 4096 * 24);
    let grown = peak() - before;
    // The same walk, with all its entries kept.
    let walk = support::walk(dir.path()).fields(Fields::SIZE).depth_first();
    let all: Vec<_> = walk.into_iter().collect();
    let whole = peak() - before;
    assert_eq!(all.len(), 4681 + 4096 * 24);
    assert!(
        grown < whole / 3,
        "{grown} KiB for 103 000 entries, which have {whole} KiB"
    );
}
