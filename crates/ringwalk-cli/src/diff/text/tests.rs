use super::*;
use ringwalk::Timestamp;
use ringwalk_answers::diff::{By, DiffOptions, diff};
use ringwalk_snapshot::{
    Attributes, Entry, FileSystemInfo, Info, Snapshot, TreeBuilder, WriteOptions,
};

/// A file or directory: depth, name, inode number, type, blocks of 4096 bytes.
type Row<'a> = (usize, &'a [u8], u64, FileType, u64);

const DIRECTORY: FileType = FileType::Directory;
const FILE: FileType = FileType::Regular;

/// Returns a snapshot of a tree that is given depth first.
fn snapshot(rows: &[Row<'_>]) -> Snapshot {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("snapshot");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let mut open = 0;
    for (depth, name, ino, file_type, blocks) in rows {
        while open > *depth {
            tree.end_directory().unwrap();
            open -= 1;
        }
        let mut entry = Entry::new(name, *file_type);
        let time = Timestamp {
            secs: 5,
            nanos: u32::try_from(*ino).unwrap(),
        };
        entry.attributes = Attributes {
            ino: Some(*ino),
            dev: Some(1),
            uid: Some(42),
            nlink: Some(1),
            size: Some(blocks * 4096),
            alloc: Some(blocks * 4096),
            btime: Some(time),
            ..Attributes::default()
        };
        if *depth == 0 {
            tree.begin_root(b"/r", &entry).unwrap();
        } else if *file_type == DIRECTORY {
            tree.begin_directory(&entry).unwrap();
        } else {
            tree.file(&entry).unwrap();
            continue;
        }
        open += 1;
    }
    for _ in 0..open {
        tree.end_directory().unwrap();
    }
    let mut disk = FileSystemInfo::default();
    (disk.kind, disk.device) = (Some("ext4".to_owned()), 1);
    let mut info = Info::default();
    info.file_systems.push(disk);
    info.users
        .insert(42, ringwalk_snapshot::Text::from(&b"ann"[..]));
    tree.finish(info, &path).unwrap();
    Snapshot::open(&path).unwrap()
}

/// Two trees that differ in every way.
fn differences() -> Diff {
    let old = snapshot(&[
        (0, b"", 1, DIRECTORY, 1),
        (1, b"gone", 2, DIRECTORY, 1),
        (2, b"x", 3, FILE, 2),
        (1, b"grows.log", 4, FILE, 10),
        (1, b"moves", 5, FILE, 3),
        (1, b"turns", 6, FILE, 1),
    ]);
    let new = snapshot(&[
        (0, b"", 1, DIRECTORY, 1),
        (1, b"grows.log", 4, FILE, 300),
        (1, b"moved\x1b[2J", 5, FILE, 3),
        (1, b"new", 7, DIRECTORY, 1),
        (2, b"y", 8, FILE, 4),
        (2, b"z", 9, FILE, 5),
        (1, b"turns", 10, DIRECTORY, 1),
    ]);
    diff(&old, &new, &DiffOptions::default()).unwrap()
}

#[test]
fn people_see_a_table_with_the_largest_growth_first() {
    let diff = differences();
    let table = changes(&diff, &diff.lines(), 20, &Paint::plain(true));
    let expected = "\
growth  size  change    path
 +1.2M  1.2M  modified  /r/grows.log
  +40K   40K  added     /r/new  (with 2 entries)
     0   12K  renamed   /r/moves -> /r/moved?[2J
     0  4.0K  retyped   /r/turns  (file -> directory)
  -12K     -  removed   /r/gone  (with 1 entry)
total +1.2M: 3 added, 2 removed, 1 modified, 1 retyped, 1 renamed
";
    assert_eq!(String::from_utf8_lossy(&table), expected);
}

#[test]
fn a_short_table_says_what_it_leaves_out() {
    let diff = differences();
    let table = changes(&diff, &diff.lines(), 1, &Paint::plain(true));
    let text = String::from_utf8_lossy(&table);
    let lines: Vec<_> = text.lines().collect();
    assert_eq!(lines.len(), 4, "{text}");
    assert_eq!(
        lines[2],
        "... 4 more changes, +28K in all (--top shows more, --by dir the directories that grew)"
    );
}

#[test]
fn programs_get_exact_numbers_and_bytes() {
    let diff = differences();
    let lines = changes(&diff, &diff.lines(), usize::MAX, &Paint::plain(false));
    let expected = "\
1187840\tmodified\t/r/grows.log
40960\tadded\t/r/new
0\trenamed\t/r/moved\x1b[2J\t/r/moves
0\tretyped\t/r/turns
-12288\tremoved\t/r/gone
";
    assert_eq!(String::from_utf8_lossy(&lines), expected);
}

#[test]
fn groups_have_growth_names_and_labels() {
    let diff = differences();
    let table = |by| {
        let table = groups(&diff, &diff.groups(by), 20, &Paint::plain(true));
        String::from_utf8_lossy(&table).into_owned()
    };
    let owner = table(By::Owner);
    assert!(
        owner.starts_with("growth  entries  owner\n +1.2M       +1  ann\n"),
        "{owner}"
    );
    let directories = table(By::Directory { depth: 1 });
    let lines: Vec<_> = directories.lines().collect();
    assert_eq!(lines[0], "growth  entries  directory");
    assert_eq!(lines[1], " +1.2M       +1  /r");
    assert_eq!(lines[2], "  +40K       +3  /r/new");
    let extensions = table(By::Extension);
    assert!(
        extensions.contains(" +1.2M       +0  .log\n") && extensions.contains("  (none)\n"),
        "{extensions}"
    );
}

#[test]
fn equal_snapshots_say_so() {
    let rows = [(0, &b""[..], 1, DIRECTORY, 1)];
    let same = diff(&snapshot(&rows), &snapshot(&rows), &DiffOptions::default()).unwrap();
    let table = changes(&same, &same.lines(), 20, &Paint::plain(true));
    assert_eq!(table, b"No differences.\n");
    assert_eq!(changes(&same, &same.lines(), 20, &Paint::plain(false)), b"");
}
