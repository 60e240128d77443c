//! Snapshots: any bytes, and whole snapshots that were changed.
//!
//! Whatever a file holds, reading it must end, without a panic, and without more memory than a page
//! can take. The first byte of the input says what the rest is: a whole file, or changes of a
//! snapshot that is made here, since hardly any other bytes have a valid footer. Most pages of
//! these snapshots are so short that zstd stores them as they are, so changes reach their values.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ringwalk::{Batch, Errno, Error, Fields, FileType, Flow, Timestamp, Visitor, Walk};
use ringwalk_answers::diff::{By, DiffOptions, View, diff, ndjson};
use ringwalk_answers::exchange::{write_csv, write_ncdu_json, write_ndjson};
use ringwalk_answers::report::{Key, ReportOptions, report};
use ringwalk_snapshot::{
    Attributes, Column, Contents, Entry, FailedOperation, Failure, FileSystemInfo, Info,
    RowCounter, Skipped, Snapshot, SnapshotTree, Text, TreeBuilder, WriteOptions, excerpt,
};
use std::fs::{self, File};
use std::io::{self, Seek, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex};

/// Returns the path of a new temporary file.
fn temporary(name: &str) -> PathBuf {
    let name = format!("ringwalk-fuzz-{name}-{}", std::process::id());
    std::env::temp_dir().join(name)
}

/// Returns a file without a name.
fn nameless(name: &str) -> File {
    let path = temporary(name);
    let mut options = File::options();
    options.read(true).write(true).create_new(true);
    let file = options.open(&path).expect("a temporary file");
    fs::remove_file(&path).expect("its removal");
    file
}

/// The file that is read.
static FILE: LazyLock<Mutex<File>> = LazyLock::new(|| Mutex::new(nameless("input")));

/// An unchanged snapshot, to compare with.
static UNCHANGED: LazyLock<Snapshot> = LazyLock::new(|| {
    let mut file = nameless("unchanged");
    file.write_all(&SNAPSHOTS[0]).expect("a written file");
    Snapshot::from_file(file, Path::new("unchanged")).expect("a valid snapshot")
});

/// Adds a tree.
type Fill = fn(&mut TreeBuilder);

/// The snapshots that are changed.
static SNAPSHOTS: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let with = |optional| {
        let mut options = WriteOptions::default();
        if optional {
            options.contents = Contents::ALL;
        }
        options
    };
    let fills: [(WriteOptions, Fill); 3] = [
        (with(false), |tree| mixed(tree, b"/r")),
        (with(true), |tree| {
            mixed(tree, b"/r");
            mixed(tree, b"/s");
        }),
        (with(false), large),
    ];
    fills.map(|(options, fill)| written(options, fill)).to_vec()
});

fn written(options: WriteOptions, fill: Fill) -> Vec<u8> {
    let path = temporary("snapshot");
    let mut tree = TreeBuilder::new(options);
    fill(&mut tree);
    let mut file_system = FileSystemInfo::default();
    file_system.device = 1;
    let mut info = Info::default();
    info.file_systems.push(file_system);
    info.users.insert(7, Text(b"seven".to_vec()));
    tree.finish(info, &path).expect("a snapshot");
    let bytes = fs::read(&path).expect("the snapshot");
    fs::remove_file(&path).expect("its removal");
    bytes
}

fn entry(name: &[u8], file_type: FileType, number: u64) -> Entry<'_> {
    let mut entry = Entry::new(name, file_type);
    let time = Timestamp {
        secs: number.cast_signed() * 7919,
        nanos: 5,
    };
    entry.attributes = Attributes {
        ino: Some(number),
        dev: Some(1),
        mode: Some(0o644),
        nlink: Some(1),
        uid: Some(7),
        gid: Some(8),
        size: Some(number * 31),
        alloc: Some(4096),
        mtime: Some(time),
        ctime: Some(time),
        projid: Some(9),
        hash: (file_type == FileType::Regular).then_some([number as u8; 32]),
        ..Attributes::default()
    };
    entry
}

/// Adds a tree with a row of each kind.
fn mixed(tree: &mut TreeBuilder, root: &[u8]) {
    use FileType::{Directory, Regular, Socket, Symlink, Unknown};
    let done = "a valid tree";
    tree.begin_root(root, &entry(b"", Directory, 2))
        .expect(done);
    tree.file(&entry(b"file.txt", Regular, 11)).expect(done);
    tree.file(&entry(b"not \xff utf-8", Regular, 12))
        .expect(done);
    tree.file(&entry(b"socket", Socket, 13)).expect(done);
    tree.file(&entry(b"unknown", Unknown, 14)).expect(done);
    let mut link = entry(b"link", Symlink, 15);
    link.target = Some(b"dir/one");
    tree.file(&link).expect(done);
    let xattrs = [(b"user.a".to_vec(), b"value".to_vec())];
    let mut directory = entry(b"dir", Directory, 16);
    directory.xattrs = &xattrs;
    tree.begin_directory(&directory).expect(done);
    for name in [&b"one"[..], b"two"] {
        let mut twice = entry(name, Regular, 17);
        twice.attributes.nlink = Some(2);
        tree.file(&twice).expect(done);
    }
    tree.end_directory().expect(done);
    let mut closed = entry(b"closed", Directory, 18);
    closed.failure = Some(Failure {
        operation: FailedOperation::Open,
        errno: Errno::ACCESS,
    });
    tree.begin_directory(&closed).expect(done);
    tree.end_directory().expect(done);
    let mut skipped = entry(b"proc", Directory, 19);
    skipped.skipped = Some(Skipped::OtherFs);
    tree.begin_directory(&skipped).expect(done);
    tree.end_directory().expect(done);
    tree.end_directory().expect(done);
}

/// Adds a tree with two pages.
fn large(tree: &mut TreeBuilder) {
    let done = "a valid tree";
    tree.begin_root(b"/r", &entry(b"", FileType::Directory, 2))
        .expect(done);
    for number in 0..9000 {
        let name = format!("f{number:04}");
        tree.file(&entry(name.as_bytes(), FileType::Regular, number))
            .expect(done);
    }
    tree.end_directory().expect(done);
}

/// Applies changes to a snapshot. Each is a kind and a place, a length, and so many bytes:
/// - bytes in place of those from the beginning of the file on,
/// - bytes in place of those from the beginning of the footer on,
/// - bytes in place of one byte of the footer, whose length is set right.
fn changed(mut input: &[u8]) -> Option<Vec<u8>> {
    let which = take(&mut input, 1)?[0];
    let mut file = SNAPSHOTS[usize::from(which) % SNAPSHOTS.len()].clone();
    while !input.is_empty() {
        let &[kind, high, low, length] = take(&mut input, 4)?.first_chunk()?;
        let length = usize::from(length % 16).min(input.len());
        let bytes = take(&mut input, length)?;
        let at = usize::from(u16::from_be_bytes([high, low]));
        let tail = file.len() - 8;
        let length = u32::from_le_bytes(*file[tail..].first_chunk()?);
        // A change before may have damaged the length.
        let footer = tail.checked_sub(length as usize).unwrap_or(tail);
        match kind % 3 {
            0 => overwrite(&mut file, at, bytes),
            1 => overwrite(&mut file, footer + at, bytes),
            _ => {
                let at = footer + at;
                if at < tail {
                    file.splice(at..=at, bytes.iter().copied());
                    let tail = file.len() - 8;
                    let length = u32::try_from(tail - footer).ok()?;
                    file[tail..tail + 4].copy_from_slice(&length.to_le_bytes());
                }
            }
        }
    }
    Some(file)
}

fn take<'b>(bytes: &mut &'b [u8], length: usize) -> Option<&'b [u8]> {
    let (taken, rest) = bytes.split_at_checked(length)?;
    *bytes = rest;
    Some(taken)
}

fn overwrite(file: &mut [u8], at: usize, bytes: &[u8]) {
    for (byte, value) in file.iter_mut().skip(at).zip(bytes) {
        *byte = *value;
    }
}

/// Counts entries, so that a walk that has no end is noticed.
#[derive(Default)]
struct Counted {
    entries: u64,
}

impl Visitor for Counted {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            let _ = (entry.path(), entry.metadata());
            self.entries += 1;
        }
        Flow::Continue
    }

    fn error(&mut self, _: &Error) {}
}

fn open() -> Option<Snapshot> {
    let file = FILE.lock().expect("no panic before");
    let file = file.try_clone().expect("a descriptor");
    Snapshot::from_file_ignoring_checksums(file, Path::new("input")).ok()
}

/// Reads the file in every way. Results may be anything.
fn read() {
    let Some(snapshot) = open() else { return };
    let rows = snapshot.rows();
    let columns: Vec<_> = Column::all().collect();
    let mut scan = snapshot.scan(0..rows, &columns).expect("a scan");
    let mut seen = 0;
    let is_whole = loop {
        let chunk = match scan.next_chunk() {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break true,
            Err(_) => break false,
        };
        for at in 0..chunk.len() {
            let _ = (chunk.path(at), chunk.name(at), chunk.file_type(at));
            for column in &columns {
                let _ = (chunk.integer(*column, at), chunk.bytes(*column, at));
            }
        }
        seen += chunk.len() as u64;
    };
    assert_eq!(is_whole, seen == rows);
    // Exports read rows one by one, however many they are.
    let is_small = rows < 1000;
    for root in 0..snapshot.info().roots.len().min(3) {
        for path in [&b""[..], b"dir/two", b"z"] {
            let _ = snapshot.locate(root, path);
        }
        if is_small {
            let _ = write_ncdu_json(&snapshot, root, &RowCounter::default(), io::sink());
        }
    }
    let _ = snapshot.find(b"/r/dir");
    if is_small {
        // With the extended attributes, which nothing else here reads.
        let _ = excerpt(&snapshot, rows.saturating_sub(1), |_| true);
        let _ = write_csv(&snapshot, None, &RowCounter::default(), io::sink());
        let _ = write_ndjson(&snapshot, Some(0), &RowCounter::default(), io::sink());
    }
    for (keys, under) in [
        (&Key::ALL[..], None),
        (&[Key::Directory], Some(b"/r".to_vec())),
        (&[Key::Owner], Some(b"/r/dir".to_vec())),
    ] {
        let mut options = ReportOptions::by(keys);
        options.under = under;
        options.threads = Some(NonZeroUsize::MIN);
        let _ = report(&snapshot, &options);
    }
    let mut options = DiffOptions::default();
    options.threads = NonZeroUsize::MIN;
    for (old, new) in [
        (&snapshot, &snapshot),
        (&*UNCHANGED, &snapshot),
        (&snapshot, &*UNCHANGED),
    ] {
        if let Ok(diff) = diff(old, new, &options) {
            let _ = ndjson(&diff, &View::default(), &mut io::sink());
            let _ = (diff.groups(By::Directory { depth: 1 }), diff.lines());
        }
    }
    walk(snapshot);
}

fn walk(snapshot: Snapshot) {
    let (rows, roots) = (snapshot.rows(), snapshot.info().roots.clone());
    let tree = Arc::new(SnapshotTree::new(snapshot));
    for root in roots.iter().take(3) {
        use std::os::unix::ffi::OsStrExt;
        let path = std::ffi::OsStr::from_bytes(&root.path.0);
        if path.is_empty() || path.as_bytes().contains(&0) {
            continue;
        }
        let saved: Arc<dyn ringwalk::SavedTree> = Arc::<SnapshotTree>::clone(&tree);
        let walk = Walk::new(path)
            .saved_tree(saved)
            .fields(Fields::all())
            .workers(NonZeroUsize::new(1));
        let visitors = walk.run(|_| Counted::default()).visitors;
        let entries: u64 = visitors.iter().map(|visitor| visitor.entries).sum();
        assert!(
            entries <= 3 * (rows + 1),
            "{entries} entries of {rows} rows"
        );
    }
}

fuzz_target!(|input: &[u8]| {
    let Some((kind, rest)) = input.split_first() else {
        return;
    };
    let file = match kind % 2 {
        0 => Some(rest.to_vec()),
        _ => changed(rest),
    };
    let Some(bytes) = file else { return };
    let mut file = FILE.lock().expect("no panic before");
    file.rewind().expect("a seek");
    file.set_len(0).expect("an empty file");
    file.write_all(&bytes).expect("a written file");
    drop(file);
    read();
});
