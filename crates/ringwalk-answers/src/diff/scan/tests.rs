use crate::diff::Diff;
use crate::diff::DiffError;
use crate::diff::DiffOptions;
use crate::diff::Kind;
use crate::diff::Which;
use crate::diff::diff;
use ringwalk::{FileType, Timestamp};
use ringwalk_snapshot::{
    Attributes, Entry, FileSystemInfo, Info, Snapshot, Text, TreeBuilder, WriteOptions,
};
use std::num::NonZeroUsize;

/// Writes a tree of 70 directories with 40 files each. `is_new` has some changes.
fn snapshot(roots: &[&str], is_new: bool) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    for root in roots {
        let begin = if *root == "/r" { 10_000 } else { 20_000 };
        let entry = entry("", FileType::Directory, begin);
        tree.begin_root(root.as_bytes(), &entry).unwrap();
        for directory in 0..70_u64 {
            let ino = begin + directory * 100 + 1;
            let is_moved = is_new && directory == 33;
            let name = format!("{}{directory}", if is_moved { "moved" } else { "d" });
            tree.begin_directory(&self::entry(&name, FileType::Directory, ino))
                .unwrap();
            for file in 0..40_u64 {
                let number = ino + 1 + file;
                let mut name = format!("f{file}");
                if is_new && number.is_multiple_of(97) {
                    continue;
                }
                if is_new && number.is_multiple_of(101) {
                    name.push_str(".bak");
                }
                let link = format!("target {}", is_new && number.is_multiple_of(103));
                let mut entry = self::entry(&name, FileType::Symlink, number);
                entry.target = Some(link.as_bytes());
                if is_new && number.is_multiple_of(103) {
                    entry.attributes.mtime = None;
                    entry.attributes.btime = Some(Timestamp { secs: 1, nanos: 1 });
                }
                tree.file(&entry).unwrap();
            }
            tree.end_directory().unwrap();
        }
        tree.end_directory().unwrap();
    }
    let mut file_system = FileSystemInfo::default();
    file_system.kind = Some("ext4".to_owned());
    file_system.mount_point = Some(Text::from(&b"/"[..]));
    file_system.device = 1;
    let mut info = Info::default();
    info.file_systems.push(file_system);
    tree.finish(info, &path).unwrap();
    Snapshot::open(&path).unwrap()
}

fn entry(name: &str, file_type: FileType, ino: u64) -> Entry<'_> {
    let mut entry = Entry::new(name.as_bytes(), file_type);
    let time = Timestamp { secs: 1, nanos: 0 };
    entry.attributes = Attributes {
        ino: Some(ino),
        dev: Some(1),
        nlink: Some(1),
        alloc: Some(ino % 7 * 512),
        mtime: Some(time),
        btime: Some(time),
        ..Attributes::default()
    };
    entry
}

fn compare(old: &Snapshot, new: &Snapshot, threads: usize) -> Diff {
    let options = DiffOptions {
        threads: NonZeroUsize::new(threads).unwrap(),
        ..DiffOptions::default()
    };
    let diff = diff(old, new, &options).unwrap();
    let progress = options.progress;
    assert_eq!(progress.done(), old.rows() + new.rows());
    assert_eq!(progress.total(), Some(progress.done()));
    diff
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let (old, new) = (
        snapshot(&["/r", "/s"], false),
        snapshot(&["/s", "/r"], true),
    );
    let one = compare(&old, &new, 1);
    // Two directories and 80 files, of which two have another time of birth.
    assert_eq!(one.count(Kind::Renamed), 2 + 80 - 2);
    assert_eq!(one.count(Kind::Replaced), 52);
    assert!(one.count(Kind::Removed) >= 54);
    for threads in [2, 3, 8] {
        assert_eq!(compare(&old, &new, threads).changes, one.changes);
    }
    let back = compare(&new, &old, 3);
    assert_eq!(back.changes.len(), one.changes.len());
    assert_eq!(back.growth(), -one.growth());
}

#[test]
fn targets_of_links_are_those_of_the_rows() {
    let diff = compare(&snapshot(&["/r"], false), &snapshot(&["/r"], true), 3);
    let replaced = diff
        .changes
        .iter()
        .filter(|change| change.kind == Kind::Replaced);
    let targets: Vec<_> = replaced.map(|change| change.targets.clone()).collect();
    assert!(targets.len() > 20);
    let expected = [b"target false".to_vec(), b"target true".to_vec()];
    assert!(
        targets
            .iter()
            .all(|targets| targets.as_ref() == Some(&expected)),
        "{targets:?}"
    );
}

#[test]
fn a_root_that_one_snapshot_lacks_is_named() {
    let (one, two) = (snapshot(&["/r"], false), snapshot(&["/r", "/s"], false));
    let missing = |old, new| match diff(old, new, &DiffOptions::default()) {
        Err(DiffError::Root {
            path, missing_in, ..
        }) => (path, missing_in),
        other => panic!("{other:?}"),
    };
    assert_eq!(missing(&one, &two), (b"/s".to_vec(), Which::Old));
    assert_eq!(missing(&two, &one), (b"/s".to_vec(), Which::New));
}
