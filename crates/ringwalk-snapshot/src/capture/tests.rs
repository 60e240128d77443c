use super::*;
use crate::{Column, Contents, OlderSnapshot};
use std::fs;
use std::os::unix::fs::symlink;

fn rows(snapshot: &Snapshot) -> Vec<(String, String)> {
    let columns = [Column::Path, Column::Type, Column::Target];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        let text = |column, at| {
            let bytes = chunk.bytes(column, at).unwrap_or_default();
            String::from_utf8_lossy(bytes).into_owned()
        };
        all.extend((0..chunk.len()).map(|at| {
            let what = text(Column::Type, at) + &text(Column::Target, at);
            (text(Column::Path, at), what)
        }));
    }
    all
}

fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir_all(folder.path().join("d/e")).unwrap();
    fs::write(folder.path().join("d/f"), "text").unwrap();
    symlink("f", folder.path().join("d/l")).unwrap();
    folder
}

fn capture(capture: &Capture, output: &Path) -> Captured {
    capture.run(capture.walk(), output).unwrap()
}

#[test]
fn other_links_of_the_old_output_are_rows() {
    let folder = tempfile::tempdir().unwrap();
    let output = folder.path().join("out");
    fs::create_dir(folder.path().join("d")).unwrap();
    fs::write(&output, "the old file").unwrap();
    for kept in ["d/out", "kept"] {
        fs::hard_link(&output, folder.path().join(kept)).unwrap();
    }
    let setup = Capture::new([folder.path()]).unwrap();
    capture(&setup, &output);
    let rows = rows(&Snapshot::open(&output).unwrap());
    let paths: Vec<_> = rows.iter().map(|(path, _)| &path[..]).collect();
    assert_eq!(paths, ["d/out", "d", "kept", ""]);
}

#[test]
fn a_tree_is_captured_without_the_output() {
    let folder = tree();
    let output = folder.path().join("out");
    let options = WriteOptions::default();
    let progress = options.progress.clone();
    for _ in 0..2 {
        let setup = Capture::new([folder.path()]).unwrap();
        let setup = setup.options(options.clone());
        let captured = capture(&setup, &output);
        let snapshot = Snapshot::open(&output).unwrap();
        assert_eq!(snapshot.info(), &captured.info);
        assert_eq!((progress.done(), progress.total()), (5, Some(5)));
        let expected = [
            ("d/e", "d"),
            ("d/f", "f"),
            ("d/l", "lf"),
            ("d", "d"),
            ("", "d"),
        ];
        let expected = expected.map(|(path, what)| (path.to_owned(), what.to_owned()));
        assert_eq!(rows(&snapshot), expected);
        assert!(captured.info.verdict.complete);
        assert_eq!(captured.info.file_systems.len(), 1);
        assert!(captured.info.file_systems[0].kind.is_some());
    }
}

#[test]
fn roots_that_lie_within_each_other() {
    let folder = tree();
    let inner = folder.path().join("d");
    for roots in [[folder.path(), &inner], [&inner, folder.path()]] {
        let error = Capture::new(roots).unwrap_err();
        assert!(error.reason().contains("lies within"), "{error}");
        assert_eq!(error.path(), fs::canonicalize(&inner).unwrap());
    }
    let error = Capture::new([folder.path().join("none")]).unwrap_err();
    assert!(error.to_string().contains("none"), "{error}");
}

#[test]
fn several_roots_and_roots_that_are_files() {
    let folder = tree();
    let roots = [folder.path().join("d/e"), folder.path().join("d/l")];
    let setup = Capture::new(roots).unwrap();
    let (snapshot, captured) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    assert_eq!(captured.info.roots.len(), 2);
    let expected = [("", "d"), ("", "f")].map(|(path, what)| (path.to_owned(), what.to_owned()));
    assert_eq!(rows(&snapshot), expected);
}

#[test]
fn extended_attributes_and_access_times() {
    let folder = tree();
    let file = folder.path().join("d/f");
    let flags = rustix::fs::XattrFlags::empty();
    if rustix::fs::setxattr(&file, "user.name", &[7; 3000], flags).is_err() {
        return;
    }
    let options = WriteOptions {
        contents: Contents {
            atime: true,
            xattrs: true,
            ..Contents::default()
        },
        ..WriteOptions::default()
    };
    let setup = Capture::new([folder.path()]).unwrap().options(options);
    let (snapshot, captured) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    assert!(captured.info.verdict.complete);
    assert!(snapshot.has(Column::Atime));
    assert_eq!(snapshot.rows(), 5);
}

/// Knows the hashes of files of 4 bytes. Notes the file numbers that it is asked for.
#[derive(Debug, Default)]
struct FourBytes {
    asked: Mutex<Vec<u64>>,
    byte: u8,
}

impl FileHashes for FourBytes {
    fn hash(&self, metadata: &Metadata, _: &dyn Fn() -> Vec<u8>) -> Option<[u8; 32]> {
        // Not every file system has a time of birth.
        let fields = Fields::INO | Fields::SIZE | Fields::MTIME | Fields::CTIME | Fields::NLINK;
        assert!(
            metadata.mask().contains(fields | Fields::TYPE),
            "{metadata:?}"
        );
        assert!(metadata.dev().is_some());
        self.asked.lock().unwrap().push(metadata.ino()?);
        (metadata.size() == Some(4)).then_some([self.byte; 32])
    }
}

/// Returns path and hash of all rows.
fn hashes(snapshot: &Snapshot) -> Vec<(String, Option<[u8; 32]>)> {
    let columns = [Column::Path, Column::PathRaw, Column::Hash];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let mut all = Vec::new();
    while let Some(chunk) = scan.next_chunk().unwrap() {
        all.extend((0..chunk.len()).map(|at| {
            let path = String::from_utf8(chunk.path(at).to_vec()).unwrap();
            (path, chunk.hash(at).copied())
        }));
    }
    all
}

#[test]
fn hashes_of_regular_files_are_asked_for() {
    use std::os::unix::fs::MetadataExt;
    let folder = tree();
    fs::write(folder.path().join("d/long"), "longer than 4 bytes").unwrap();
    let known = Arc::new(FourBytes {
        byte: 7,
        ..FourBytes::default()
    });
    // Options that come later leave the column.
    let setup = Capture::new([folder.path()]).unwrap();
    let setup = setup
        .hashes(Arc::<FourBytes>::clone(&known))
        .options(WriteOptions::default());
    let (snapshot, _) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    let rows = hashes(&snapshot);
    let rows: Vec<_> = rows.iter().map(|(path, hash)| (&path[..], *hash)).collect();
    let some = Some([7; 32]);
    let expected = [
        ("d/e", None),
        ("d/f", some),
        ("d/l", None),
        ("d/long", None),
        ("d", None),
        ("", None),
    ];
    assert_eq!(rows, expected);
    let mut asked = std::mem::take(&mut *known.asked.lock().unwrap());
    asked.sort_unstable();
    let ino = |name| {
        fs::symlink_metadata(folder.path().join(name))
            .unwrap()
            .ino()
    };
    let mut files = [ino("d/f"), ino("d/long")];
    files.sort_unstable();
    assert_eq!(asked, files);
}

#[test]
fn without_hashes_there_is_no_column_of_them() {
    let folder = tree();
    let setup = Capture::new([folder.path()]).unwrap();
    let (snapshot, _) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    assert!(!snapshot.has(Column::Hash));
    assert!(hashes(&snapshot).iter().all(|(_, hash)| hash.is_none()));
}

/// On btrfs the older snapshot takes part in the walk. Elsewhere all is read.
#[test]
fn no_hash_comes_from_an_older_snapshot() {
    let folder = tree();
    let output = tempfile::tempdir().unwrap();
    let output = output.path().join("out");
    let with = |byte| {
        let setup = Capture::new([folder.path()]).unwrap();
        setup.hashes(Arc::new(FourBytes {
            byte,
            ..FourBytes::default()
        }))
    };
    capture(&with(1), &output);
    let older = || Arc::new(OlderSnapshot::new(Snapshot::open(&output).unwrap()).unwrap());
    let setup = with(2).since(older());
    let (newer, _) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    assert_eq!(hashes(&newer)[1], ("d/f".to_owned(), Some([2; 32])));
    let setup = Capture::new([folder.path()]).unwrap().since(older());
    let (newer, _) = setup.run_unnamed(setup.walk(), Path::new("here")).unwrap();
    assert!(!newer.has(Column::Hash));
}

#[test]
fn a_stopped_snapshot_leaves_the_output_as_it_was() {
    let folder = tree();
    let output = folder.path().join("out");
    fs::write(&output, "old").unwrap();
    let stop = Arc::new(AtomicBool::new(true));
    let setup = Capture::new([folder.path()]).unwrap().stop_by(stop);
    let error = setup.run(setup.walk(), &output).unwrap_err();
    assert_eq!(error.reason(), "the snapshot was stopped");
    assert!(error.io_error().is_none());
    assert_eq!(fs::read(&output).unwrap(), b"old");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_stopped_output_refuses_to_be_written() {
    let file = tempfile::tempfile().unwrap();
    let stop = AtomicBool::new(false);
    let mut output = stoppable::Stoppable::new(&file, &stop);
    std::io::Write::write_all(&mut output, b"text").unwrap();
    stop.store(true, Ordering::Relaxed);
    assert!(std::io::Write::write_all(&mut output, b"more").is_err());
    assert_eq!(file.metadata().unwrap().len(), 4);
}

#[test]
#[should_panic(expected = "needs the whole tree")]
fn a_walk_that_may_leave_something_out_is_no_snapshot() {
    let folder = tree();
    let setup = Capture::new([folder.path()]).unwrap();
    let walk = setup.walk().resume(Vec::new());
    let _ = setup.run(walk, &folder.path().join("out"));
}
