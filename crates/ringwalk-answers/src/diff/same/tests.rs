use crate::diff::Diff;
use crate::diff::DiffOptions;
use crate::diff::diff;
use proptest::prelude::*;
use ringwalk::{Errno, FileType, Timestamp};
use ringwalk_snapshot::{
    Attributes, Column, Entry, FailedOperation, Failure, FileSystemInfo, Info, Snapshot,
    TreeBuilder, WriteOptions,
};
use std::num::NonZeroUsize;

/// Files of a tree, in three pages.
const FILES: u64 = 18_000;

/// A change of one file of the newer tree.
#[derive(Clone, Copy, Debug)]
enum Edit {
    Size,
    Owner,
    Times,
    Inode,
    Type,
    /// The file is gone, and another one is there instead: the numbers of the next rows stay.
    Name,
    Gone,
    New,
    Unread,
    Hash,
    Unhashed,
}

const EDITS: [Edit; 11] = [
    Edit::Size,
    Edit::Owner,
    Edit::Times,
    Edit::Inode,
    Edit::Type,
    Edit::Name,
    Edit::Gone,
    Edit::New,
    Edit::Unread,
    Edit::Hash,
    Edit::Unhashed,
];

/// Writes a tree with these edits, sorted by the numbers of the files. Every third file has a hash.
fn snapshot(edits: &[(u64, Edit)], device: u64) -> Snapshot {
    written(edits, device, true)
}

fn written(edits: &[(u64, Edit)], device: u64, hash: bool) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot");
    let mut options = WriteOptions::default();
    options.contents.hash = hash;
    let mut tree = TreeBuilder::new(options);
    let mut root = Entry::new(b"", FileType::Directory);
    root.attributes.dev = Some(device);
    tree.begin_root(b"/r", &root).unwrap();
    let mut edits = edits.iter().peekable();
    for number in 0..FILES {
        let mut name = format!("{number:05}").into_bytes();
        let mut entry = Entry::new(b"", FileType::Regular);
        let time = |seconds: u64| Timestamp {
            secs: seconds.cast_signed(),
            nanos: 0,
        };
        entry.attributes = Attributes {
            ino: Some(number + 10),
            dev: Some(device),
            nlink: Some(1),
            uid: Some(1),
            size: Some(number % 7 * 100),
            alloc: Some(number % 7 * 512),
            mtime: Some(time(number % 50)),
            ctime: Some(time(number * 13)),
            btime: Some(time(number)),
            hash: number.is_multiple_of(3).then_some([3; 32]),
            ..Attributes::default()
        };
        let mut is_new = false;
        while let Some((_, edit)) = edits.next_if(|(at, _)| *at == number) {
            let attributes = &mut entry.attributes;
            match edit {
                Edit::Size => attributes.alloc = Some(1 << 20),
                Edit::Owner => attributes.uid = Some(7),
                Edit::Times => attributes.mtime = Some(time(1 << 30)),
                Edit::Inode => attributes.btime = Some(time(1 << 30)),
                Edit::Type => entry.file_type = FileType::Fifo,
                Edit::Name => name[0] = b'x',
                Edit::Gone => name.clear(),
                Edit::New => is_new = true,
                Edit::Hash => attributes.hash = Some([4; 32]),
                Edit::Unhashed => attributes.hash = None,
                Edit::Unread => {
                    entry.failure = Some(Failure {
                        operation: FailedOperation::Stat,
                        errno: Errno::IO,
                    });
                }
            }
        }
        if !name.is_empty() {
            tree.file(&Entry {
                name: &name,
                ..entry
            })
            .unwrap();
        }
        if is_new {
            name = format!("{number:05}-new").into_bytes();
            entry.attributes.ino = Some(1_000_000 + number);
            tree.file(&Entry {
                name: &name,
                ..entry
            })
            .unwrap();
        }
    }
    tree.end_directory().unwrap();
    let mut file_system = FileSystemInfo::default();
    file_system.uuid = Some(format!("{device}"));
    file_system.kind = Some("ext4".to_owned());
    file_system.device = device;
    let mut info = Info::default();
    info.file_systems.push(file_system);
    tree.finish(info, &path).unwrap();
    Snapshot::open(&path).unwrap()
}

fn compare(old: &Snapshot, new: &Snapshot, threads: usize) -> Diff {
    let options = DiffOptions {
        threads: NonZeroUsize::new(threads).unwrap(),
        ..DiffOptions::default()
    };
    diff(old, new, &options).unwrap()
}

/// Compares as a whole, and in pieces that are shorter than a page: those are merged row by row.
fn check(old: &Snapshot, new: &Snapshot) -> Diff {
    let whole = compare(old, new, 1);
    let merged = compare(old, new, 2);
    assert_eq!(whole.changes, merged.changes);
    assert_eq!(whole.unread, merged.unread);
    assert_eq!(whole.unknown, merged.unknown);
    whole
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn pages_that_are_alike_change_no_answer(
        edits in prop::collection::vec((0..FILES, 0..EDITS.len()), 0..12),
    ) {
        let mut edits: Vec<_> = edits.into_iter().map(|(at, edit)| (at, EDITS[edit])).collect();
        edits.sort_by_key(|(at, _)| *at);
        let (old, new) = (snapshot(&[], 1), snapshot(&edits, 1));
        check(&old, &new);
        check(&new, &old);
    }
}

#[test]
fn each_difference_in_a_page_with_the_same_paths_is_found() {
    let old = snapshot(&[], 1);
    assert!(check(&old, &snapshot(&[], 1)).is_same());
    for edit in [
        Edit::Size,
        Edit::Owner,
        Edit::Times,
        Edit::Inode,
        Edit::Type,
        Edit::Hash,
    ] {
        let diff = check(&old, &snapshot(&[(9999, edit)], 1));
        assert_eq!(diff.changes.len(), 1, "{edit:?}");
        assert_eq!(diff.changes[0].version().path[..], *b"09999", "{edit:?}");
    }
    let diff = check(&old, &snapshot(&[(9999, Edit::Unread)], 1));
    assert_eq!(diff.unread.len(), 1);
    assert_eq!(diff.unread[0].path[..], *b"09999");
}

#[test]
fn hashes_that_one_side_does_not_know_are_no_change() {
    let old = snapshot(&[], 1);
    assert!(check(&old, &snapshot(&[(9999, Edit::Unhashed)], 1)).is_same());
    // 10 000 has none.
    assert!(check(&old, &snapshot(&[(10_000, Edit::Hash)], 1)).is_same());
    let without = written(&[], 1, false);
    let changed = [(9999, Edit::Hash)];
    for with in [&old, &snapshot(&changed, 1)] {
        assert!(check(with, &without).is_same());
        assert!(check(&without, with).is_same());
    }
    // All else is compared as ever.
    let edits = [(9000, Edit::Hash), (9999, Edit::Size)];
    assert_eq!(check(&without, &snapshot(&edits, 1)).changes.len(), 1);
    let both = check(&old, &snapshot(&edits, 1));
    let fields = both.changes.iter().map(|change| {
        let names: Vec<_> = change.changed.iter().map(Column::name).collect();
        names.join(",")
    });
    assert_eq!(fields.collect::<Vec<_>>(), ["hash", "alloc"]);
}

#[test]
fn the_numbers_of_file_systems_need_not_mean_the_same() {
    let (old, new) = (snapshot(&[], 1), snapshot(&[], 2));
    assert_eq!(check(&old, &new).changes.len() as u64, FILES + 1);
}
