use super::*;
use crate::{Entry, TreeBuilder, WriteOptions};
use ringwalk::FileType;
use std::fs;

fn snapshot(path: &Path) {
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
        .unwrap();
    tree.file(&Entry::new(b"f", FileType::Regular)).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), path).unwrap();
}

fn reason(path: &Path) -> String {
    let error = Snapshot::open(path).unwrap_err();
    assert!(error.to_string().contains(path.to_str().unwrap()));
    error.reason()
}

#[test]
fn files_that_are_no_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    assert!(reason(&path).contains("No such file"));
    assert!(reason(folder.path()).contains("no regular file"));
    for text in [
        "",
        "PAR1",
        "no snapshot at all, but long enough to be one",
        "PAR1\0\0\0\0PAR1",
    ] {
        fs::write(&path, text).unwrap();
        let reason = reason(&path);
        assert!(
            reason.contains("no snapshot") || reason.contains("damaged"),
            "{reason}"
        );
    }
}

#[test]
fn parquet_files_that_are_no_snapshots() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    let changed = |at: usize, bytes: &[u8]| {
        let mut data = whole.clone();
        data[at..at + bytes.len()].copy_from_slice(bytes);
        fs::write(&path, &data).unwrap();
        reason(&path)
    };
    let end = whole.len();
    assert!(changed(0, b"PAR2").contains("no snapshot: it does not begin"));
    assert!(changed(end - 4, b"PAR2").contains("no snapshot: it does not end"));
    assert!(changed(end - 4, b"PARE").contains("no snapshot: its footer is encrypted"));
    assert!(changed(end - 8, &[0xff; 4]).contains("its footer is said to have 4294967295 bytes"));
    assert!(changed(end - 8, &[0; 4]).contains("its footer is malformed"));
    let find = |what: &[u8]| {
        whole
            .windows(what.len())
            .position(|part| part == what)
            .unwrap()
    };
    let key = find(b"ringwalk.schema");
    assert!(changed(key, b"otherwalk").contains("its footer has no key ringwalk.schema"));
    for (version, said) in [(b"\"0\"", "version 0"), (b"\"2\"", "version 2")] {
        let at = key + "ringwalk.schema".len() + 2;
        assert_eq!(&whole[at..at + 3], b"\"1\"");
        let why = changed(at, version);
        assert!(
            why.contains(said) && why.contains("reads version 1"),
            "{why}"
        );
    }
}

/// Reads everything in every way. Returns the rows, or the first error.
fn read_all(path: &Path) -> Result<u64, String> {
    let snapshot = Snapshot::open(path).map_err(|error| error.to_string())?;
    let columns: Vec<_> = Column::all().collect();
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut rows = 0;
    while let Some(chunk) = scan.next_chunk().map_err(|error| error.to_string())? {
        for at in 0..chunk.len() {
            let _ = (chunk.path(at), chunk.name(at), chunk.file_type(at));
            for column in &columns {
                let _ = (chunk.integer(*column, at), chunk.bytes(*column, at));
            }
        }
        rows += chunk.len() as u64;
    }
    for path in ["", "f", "x"] {
        let found = snapshot.locate(0, path.as_bytes());
        found.map_err(|error| error.to_string())?;
    }
    Ok(rows)
}

#[test]
fn no_damage_of_a_byte_ends_in_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    let mut refused = 0;
    let text = br#"{"alloc":"#;
    let text = whole
        .windows(text.len())
        .position(|part| part == text)
        .unwrap();
    // The descriptions of the columns, which are a third of the file, are not read.
    let bytes = (0..text).chain(whole.len() - 1000..whole.len());
    for at in bytes.step_by(7) {
        let mut data = whole.clone();
        data[at] ^= 0x55;
        fs::write(&path, &data).unwrap();
        match read_all(&path) {
            // Values that are not compressed, and text of the footer, may be others.
            Ok(rows) => assert_eq!(rows, 2, "byte {at}"),
            Err(why) => {
                assert!(why.contains(path.to_str().unwrap()), "{why}");
                refused += 1;
            }
        }
    }
    assert!(refused > whole.len() / 28, "{refused} of {}", whole.len());
}

#[test]
fn files_that_are_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    snapshot(&path);
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(7) {
        fs::write(&path, &whole[..length]).unwrap();
        reason(&path);
    }
}

#[test]
fn unsigned_numbers_of_32_bits_have_no_sign() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("f");
    let mut entry = Entry::new(b"", FileType::Directory);
    entry.attributes.uid = Some(u32::MAX);
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &entry).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let mut scan = snapshot.scan(0..1, &[Column::Uid]).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    assert_eq!(chunk.integer(Column::Uid, 0), Some(u32::MAX.into()));
}
