use super::*;
use crate::{Attributes, Entry, Info, TreeBuilder, WriteOptions};
use ringwalk::FileType;

/// Writes 20 000 files, whose attributes `of` returns.
fn snapshot(of: impl Fn(u64) -> Attributes) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let root = Entry::new(b"", FileType::Directory);
    tree.begin_root(b"/r", &root).unwrap();
    for number in 0..20_000 {
        let name = format!("{number:05}");
        let mut entry = Entry::new(name.as_bytes(), FileType::Regular);
        entry.attributes = of(number);
        tree.file(&entry).unwrap();
    }
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    Snapshot::open(&path).unwrap()
}

fn attributes(number: u64) -> Attributes {
    Attributes {
        ino: Some(number * 3),
        size: Some(number % 5),
        uid: Some(1),
        ..Attributes::default()
    }
}

/// Returns for each page whether a column is stored alike.
fn alike(a: &Snapshot, b: &Snapshot, column: Column) -> [bool; 3] {
    let mut alike = StoredAlike::new(a, b);
    [0, 8192, 16_384].map(|row| alike.has(column, &a.page_of(row)).unwrap())
}

#[test]
fn only_pages_with_the_same_cells_are_alike() {
    let old = snapshot(attributes);
    for column in Column::all().filter(|column| old.has(*column)) {
        assert_eq!(alike(&old, &old, column), [true; 3], "{column:?}");
    }
    let new = snapshot(|number| Attributes {
        ino: Some(number * 3 + u64::from(number == 9000)),
        ..attributes(number)
    });
    assert_eq!(alike(&old, &new, Column::Ino), [true, false, true]);
    assert_eq!(alike(&old, &new, Column::Path), [true; 3]);
    assert_eq!(alike(&old, &new, Column::Rdev), [true; 3]);
}

#[test]
fn pages_that_refer_to_other_values_are_not_alike() {
    let old = snapshot(attributes);
    // The pages are the same: each cell is the first value of the dictionary.
    let new = snapshot(|number| Attributes {
        uid: Some(2),
        ..attributes(number)
    });
    assert_eq!(alike(&old, &new, Column::Uid), [false; 3]);
    assert_eq!(alike(&old, &new, Column::Size), [true; 3]);
}

#[test]
fn unknown_values_are_not_like_known_ones() {
    let old = snapshot(attributes);
    let new = snapshot(|number| Attributes {
        size: None,
        ..attributes(number)
    });
    assert_eq!(alike(&old, &new, Column::Size), [false; 3]);
    assert_eq!(alike(&new, &old, Column::Size), [false; 3]);
    assert_eq!(alike(&new, &new, Column::Size), [true; 3]);
}

#[test]
fn pages_of_other_lengths_are_not_alike() {
    let old = snapshot(attributes);
    let page = old.page_of(0);
    let mut alike = StoredAlike::new(&old, &old);
    let part = page.start..page.end - 1;
    assert!(alike.has(Column::Ino, &page).unwrap());
    assert!(!alike.has(Column::Ino, &part).unwrap());
}
