use super::*;
use crate::{Capture, Entry, Info, TreeBuilder};
use rustix::fs::{XattrFlags, setxattr};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

/// A folder with a tree `top`, of which `top/sub` is a part.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("sub/deep/empty")).unwrap();
    fs::create_dir_all(top.join("sub.d")).unwrap();
    fs::create_dir_all(top.join("a")).unwrap();
    fs::write(top.join("a/first"), vec![1; 9000]).unwrap();
    fs::write(top.join("sub/deep/x.log"), vec![1; 5000]).unwrap();
    fs::write(top.join("sub/y.txt"), "y").unwrap();
    // The name outside counts in the whole tree, the name inside in the excerpt.
    fs::hard_link(top.join("a/first"), top.join("sub/second")).unwrap();
    fs::hard_link(top.join("sub/y.txt"), top.join("sub/deep/y")).unwrap();
    symlink("nowhere", top.join("sub/link")).unwrap();
    fs::write(top.join("sub.d/z"), "z").unwrap();
    folder
}

fn captured(path: &Path, contents: Contents) -> Snapshot {
    let options = WriteOptions {
        contents,
        ..WriteOptions::default()
    };
    let capture = Capture::new([path]).unwrap().options(options);
    capture.run_unnamed(capture.walk(), path).unwrap().0
}

fn row(snapshot: &Snapshot, path: &str) -> u64 {
    snapshot.locate(0, path.as_bytes()).unwrap().unwrap()
}

fn paths(snapshot: &Snapshot) -> Vec<String> {
    let columns = [Column::Path, Column::PathRaw];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut paths = Vec::new();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        for at in 0..chunk.len() {
            paths.push(String::from_utf8(chunk.path(at).to_vec()).unwrap());
        }
    }
    paths
}

/// Returns all cells of all rows: the name of each column, the number, the text.
fn cells(snapshot: &Snapshot) -> Vec<(&str, Option<i64>, Option<Vec<u8>>)> {
    let columns: Vec<Column> = Column::all().collect();
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut cells = Vec::new();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        for at in 0..chunk.len() {
            cells.extend(columns.iter().map(|&column| {
                let text = chunk.bytes(column, at).map(<[u8]>::to_vec);
                (column.name(), chunk.integer(column, at), text)
            }));
        }
    }
    cells
}

/// Returns the extended attributes of all rows.
fn xattrs(snapshot: &Snapshot) -> Vec<Vec<(Vec<u8>, Vec<u8>)>> {
    let mut reader = XattrReader::of(snapshot).unwrap().unwrap();
    let mut all = Vec::new();
    for group in snapshot.row_groups() {
        let rows = usize::try_from(group.end - group.start).unwrap();
        all.extend(
            reader
                .next(rows)
                .unwrap()
                .into_iter()
                .map(Option::unwrap_or_default),
        );
        reader.end_group();
    }
    all
}

#[test]
fn a_part_is_what_a_walk_of_it_finds() {
    let folder = tree();
    let top = folder.path().join("top");
    let whole = captured(&top, Contents::default());
    for part in ["sub", "sub/deep", "sub/deep/empty", "a", "sub/y.txt", ""] {
        let excerpt = excerpt(&whole, row(&whole, part), |_| true).unwrap();
        let walked = captured(&top.join(part), Contents::default());
        assert_eq!(cells(&excerpt), cells(&walked), "{part}");
        assert_eq!(excerpt.info().roots, walked.info().roots);
        assert_eq!(excerpt.info().users, walked.info().users);
        // A walk of a file does not say what its file system is.
        if part != "sub/y.txt" {
            assert_eq!(excerpt.info().file_systems, walked.info().file_systems);
        }
        assert_eq!(excerpt.info().verdict, walked.info().verdict);
    }
}

#[test]
fn only_what_is_wanted_is_kept() {
    let folder = tree();
    let whole = captured(&folder.path().join("top"), Contents::default());
    let keep = |path: &[u8]| path.ends_with(b".log");
    let excerpt_of = |path| paths(&excerpt(&whole, row(&whole, path), keep).unwrap());
    assert_eq!(excerpt_of("sub"), ["deep/x.log", "deep", ""]);
    assert_eq!(excerpt_of("a"), [""]);
    let mut seen = Vec::new();
    excerpt(&whole, row(&whole, "sub/deep"), |path| {
        seen.push(path.to_vec());
        false
    })
    .unwrap();
    assert_eq!(seen, [&b"empty"[..], b"x.log", b"y"]);
}

/// Full pages of attributes end before the rows of the other columns do.
#[test]
fn very_many_extended_attributes() {
    let options = WriteOptions {
        contents: Contents {
            xattrs: true,
            ..Contents::default()
        },
        ..WriteOptions::default()
    };
    let attributes = |file: usize| -> Vec<(Vec<u8>, Vec<u8>)> {
        let number = if file == 5 { 0 } else { 7000 + file };
        let pair = |at| {
            let value = format!("{file} {at}");
            (format!("user.{at}").into_bytes(), value.into_bytes())
        };
        (0..number).map(pair).collect()
    };
    let mut tree = TreeBuilder::new(options);
    let directory = Entry::new(b"", FileType::Directory);
    tree.begin_root(b"/top", &directory).unwrap();
    for file in 0..30 {
        let (name, xattrs) = (format!("{file:02}"), attributes(file));
        let mut entry = Entry::new(name.as_bytes(), FileType::Regular);
        entry.xattrs = &xattrs;
        tree.file(&entry).unwrap();
    }
    tree.end_directory().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved");
    tree.finish(Info::default(), &path).unwrap();
    let whole = Snapshot::open(&path).unwrap();
    let expected: Vec<_> = (0..30).map(attributes).chain([Vec::new()]).collect();
    assert!(xattrs(&whole) == expected);
    let part = excerpt(&whole, row(&whole, ""), |path| path.ends_with(b"7")).unwrap();
    let expected: Vec<_> = [7, 17, 27]
        .map(attributes)
        .into_iter()
        .chain([Vec::new()])
        .collect();
    assert!(xattrs(&part) == expected);
}

#[test]
fn extended_attributes_behind_the_first_page() {
    let folder = tempfile::tempdir().unwrap();
    let top = folder.path().join("top");
    fs::create_dir_all(top.join("b")).unwrap();
    for file in 0..9000 {
        fs::write(top.join(format!("a{file}")), "").unwrap();
    }
    fs::write(top.join("b/file"), "").unwrap();
    let set = setxattr(
        top.join("b/file"),
        "user.colour",
        b"blue",
        XattrFlags::empty(),
    );
    if set == Err(rustix::io::Errno::OPNOTSUPP) {
        println!("SKIPPED: the temporary folder has no extended attributes");
        return;
    }
    set.unwrap();
    let contents = Contents {
        atime: true,
        xattrs: true,
        ..Contents::default()
    };
    let whole = captured(&top, contents);
    let excerpt = excerpt(&whole, row(&whole, "b"), |_| true).unwrap();
    assert!(excerpt.has(Column::Atime));
    let blue = (b"user.colour".to_vec(), b"blue".to_vec());
    assert_eq!(xattrs(&excerpt), [vec![blue], vec![]]);
}

#[test]
fn failures_of_what_is_not_kept_stay_in_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("whole.parquet");
    let mut builder = crate::TreeBuilder::new(WriteOptions::default());
    let mut unread = crate::Entry::new(b"unread", FileType::Directory);
    unread.failure = Some(crate::Failure {
        operation: crate::FailedOperation::Open,
        errno: ringwalk::Errno::ACCESS,
    });
    let top = crate::Entry::new(b"", FileType::Directory);
    builder.begin_root(b"/data", &top).unwrap();
    builder.file(&unread).unwrap();
    builder.end_directory().unwrap();
    builder.finish(Info::default(), &file).unwrap();
    let whole = Snapshot::open(&file).unwrap();
    let excerpt = excerpt(&whole, row(&whole, ""), |_| false).unwrap();
    assert_eq!(paths(&excerpt), [""]);
    assert_eq!(excerpt.info().verdict.errors, 1);
    assert!(!excerpt.info().verdict.complete);
}

#[test]
fn failures_without_a_row_stay_in_the_verdict() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("whole.parquet");
    let mut builder = crate::TreeBuilder::new(WriteOptions::default());
    let directory = |name| crate::Entry::new(name, FileType::Directory);
    builder.begin_root(b"/data", &directory(b"")).unwrap();
    builder.begin_directory(&directory(b"sub")).unwrap();
    builder.end_directory().unwrap();
    builder.end_directory().unwrap();
    let mut info = Info::default();
    info.verdict.errors = 2;
    builder.finish(info, &file).unwrap();
    let whole = Snapshot::open(&file).unwrap();
    let excerpt = excerpt(&whole, row(&whole, "sub"), |_| true).unwrap();
    assert_eq!(excerpt.info().verdict.errors, 2);
    assert!(!excerpt.info().verdict.complete);
    assert_eq!(excerpt.info().roots[0].path.0, b"/data/sub");
}

#[test]
fn hashes_of_contents_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("whole.parquet");
    let mut options = WriteOptions::default();
    options.contents.hash = true;
    let mut builder = crate::TreeBuilder::new(options);
    let directory = |name| crate::Entry::new(name, FileType::Directory);
    builder.begin_root(b"/data", &directory(b"")).unwrap();
    builder.begin_directory(&directory(b"sub")).unwrap();
    for (name, hash) in [(b"a", Some([5; 32])), (b"b", None)] {
        let mut file = crate::Entry::new(name, FileType::Regular);
        file.attributes.hash = hash;
        builder.file(&file).unwrap();
    }
    builder.end_directory().unwrap();
    builder.end_directory().unwrap();
    builder.finish(Info::default(), &path).unwrap();
    let whole = Snapshot::open(&path).unwrap();
    let excerpt = excerpt(&whole, row(&whole, "sub"), |_| true).unwrap();
    let mut scan = excerpt.scan(0..excerpt.rows(), &[Column::Hash]).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    let hashes: Vec<_> = (0..chunk.len()).map(|at| chunk.hash(at)).collect();
    assert_eq!(hashes, [Some(&[5; 32]), None, None]);
}
