use super::*;
use crate::{Entry, Info, TreeBuilder, WriteOptions};
use ringwalk::FileType;
use std::path::Path;

/// Writes directories of these numbers of files, one in the other.
fn nested(path: &Path, files: &[usize]) {
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
        .unwrap();
    for files in files {
        for file in 0..*files {
            let name = format!("f{file:06}");
            tree.file(&Entry::new(name.as_bytes(), FileType::Regular))
                .unwrap();
        }
        tree.begin_directory(&Entry::new(b"below", FileType::Directory))
            .unwrap();
    }
    for _ in 0..=files.len() {
        tree.end_directory().unwrap();
    }
    tree.finish(Info::default(), path).unwrap();
}

#[test]
fn listings_are_the_rows_whose_directory_is_the_one_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    nested(&path, &[3, 20_000, 1, 0, 8191, 8192]);
    let snapshot = Snapshot::open(&path).unwrap();
    let mut dirs = Vec::new();
    let mut directories = Vec::new();
    let columns = [Column::Dir, Column::SelfDir];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        for at in 0..chunk.len() {
            dirs.push(chunk.integer(Column::Dir, at));
            if let Some(own) = chunk.integer(Column::SelfDir, at) {
                directories.push((chunk.first_row() + at as u64, own));
            }
        }
    }
    assert_eq!(directories.len(), 7);
    let mut cursor = Cursor::default();
    for (row, own) in directories {
        let expected: Vec<u64> = (0..)
            .zip(&dirs)
            .filter_map(|(row, dir)| (*dir == Some(own)).then_some(row))
            .collect();
        let listing = cursor.listing(&snapshot, row).unwrap();
        assert_eq!(listing.collect::<Vec<_>>(), expected);
        let below = cursor.subtree(&snapshot, row).unwrap();
        assert_eq!(below.is_empty(), expected.is_empty());
        assert!(below.is_empty() || below == (0..row));
    }
    // Files have no listing, and rows behind the end are no rows.
    assert!(cursor.listing(&snapshot, 0).unwrap().is_empty());
    assert!(cursor.listing(&snapshot, snapshot.rows()).is_err());
}
