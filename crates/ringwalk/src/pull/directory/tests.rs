use super::*;
use std::collections::BTreeMap;
use std::fs;

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..3000 {
        let name = format!("{number:0>20}");
        fs::write(dir.path().join(name), vec![b'x'; number % 50]).unwrap();
    }
    fs::create_dir(dir.path().join("below")).unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("link")).unwrap();
    dir
}

/// Returns names and sizes, read by the standard library.
fn expected(path: &Path) -> BTreeMap<Vec<u8>, u64> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    let sized = entries.map(|entry| {
        let size = entry.metadata().unwrap().len();
        (entry.file_name().into_encoded_bytes(), size)
    });
    sized.collect()
}

fn all(
    mut read: impl FnMut(&mut EntryBuffer) -> Result<bool, Errno>,
    mut each: impl FnMut(crate::EntryRef<'_>),
) -> usize {
    let mut entries = EntryBuffer::new();
    for calls in 1.. {
        let end = read(&mut entries).unwrap();
        entries.iter().for_each(&mut each);
        if end {
            return calls;
        }
    }
    unreachable!("a directory has an end")
}

#[test]
fn every_entry_is_read_once_with_its_metadata() {
    let tree = tree();
    let directory = Directory::open(tree.path()).unwrap();
    let mut found = BTreeMap::new();
    let calls = all(
        |entries| directory.read_plus(Fields::SIZE, entries),
        |entry| {
            let size = entry.metadata().unwrap().size;
            assert_eq!(found.insert(entry.name().to_vec(), size), None);
        },
    );
    assert!(calls > 1, "one buffer has no room for all");
    assert_eq!(found, expected(tree.path()));
    // And once more, from the beginning.
    directory.rewind().unwrap();
    let mut names = 0;
    all(|entries| directory.read(entries), |_| names += 1);
    assert_eq!(names, found.len());
}

#[test]
fn below_and_through_links() {
    let tree = tree();
    let directory = Directory::open(tree.path()).unwrap();
    let below = directory.open_at(c"below", false).unwrap();
    let ino = |directory: &Directory| directory.stat(c"", false, Fields::INO).unwrap().ino;
    let listed = directory.stat(c"below", false, Fields::INO).unwrap().ino;
    assert_eq!(ino(&below), listed);
    std::os::unix::fs::symlink("below", tree.path().join("to-below")).unwrap();
    let refused = directory.open_at(c"to-below", false).unwrap_err();
    assert!(matches!(refused, Errno::NOTDIR | Errno::LOOP), "{refused}");
    assert_eq!(ino(&directory.open_at(c"to-below", true).unwrap()), listed);
}

#[test]
fn what_cannot_be_done_says_why() {
    let tree = tree();
    let missing = Directory::open(tree.path().join("missing"));
    assert_eq!(missing.unwrap_err(), Errno::NOENT);
    assert_eq!(Directory::open("a\0b").unwrap_err(), Errno::INVAL);
    let directory = Directory::open(tree.path()).unwrap();
    let below = directory.open_at(c"below", false).unwrap();
    fs::remove_dir(tree.path().join("below")).unwrap();
    let mut entries = EntryBuffer::new();
    assert_eq!(below.read(&mut entries), Err(Errno::NOENT));
    let stat = directory.stat(c"below", false, Fields::SIZE);
    assert_eq!(stat.unwrap_err(), Errno::NOENT);
}
