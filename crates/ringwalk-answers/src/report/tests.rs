//! Unit tests of reports on small snapshots.

use super::*;
use proptest::prelude::*;
use ringwalk::{Errno, FileType, Timestamp};
use ringwalk_snapshot::{
    Attributes, Entry, FailedOperation, Failure, Info, Skipped, Text, TreeBuilder, WriteOptions,
};
use std::collections::BTreeMap;
use std::path::Path;

const START: i64 = 1_700_000_000;
const DAY: i64 = 24 * 60 * 60;

fn file(name: &str, uid: u32, days: i64, size: u64) -> Entry<'_> {
    Entry {
        attributes: Attributes {
            uid: Some(uid),
            gid: Some(uid.wrapping_add(1)),
            size: Some(size),
            alloc: Some(size.div_ceil(4096) * 4096),
            mtime: Some(Timestamp {
                secs: START - days * DAY,
                nanos: 0,
            }),
            ..Attributes::default()
        },
        ..Entry::new(name.as_bytes(), FileType::Regular)
    }
}

fn directory(name: &str) -> Entry<'_> {
    Entry {
        file_type: FileType::Directory,
        ..file(name, 0, 0, 4096)
    }
}

fn link(name: &str, ino: u64) -> Entry<'_> {
    let mut entry = file(name, 7, 0, 4096 * ino);
    entry.attributes.ino = Some(ino);
    entry.attributes.nlink = Some(3);
    entry.attributes.charged_once = true;
    entry
}

fn info() -> Info {
    let mut info = Info::default();
    let start = Timestamp {
        secs: START,
        nanos: 0,
    };
    info.run.start = start.into();
    info.run.end = start.into();
    info.users.insert(0, Text(b"root".to_vec()));
    info
}

/// Writes `/r` with a/{new.txt,old.txt,l}, b/{c/{l,m},l}, own.tar, and opens it.
fn snapshot(folder: &Path) -> Snapshot {
    let path = folder.join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &directory("")).unwrap();
    tree.file(&file("own.tar", 1000, 400, 10_000)).unwrap();
    tree.begin_directory(&directory("a")).unwrap();
    tree.file(&file("new.txt", 1000, 0, 1)).unwrap();
    tree.file(&file("old.txt", 1000, 5000, 5000)).unwrap();
    tree.file(&link("l", 5)).unwrap();
    tree.end_directory().unwrap();
    tree.begin_directory(&directory("b")).unwrap();
    tree.begin_directory(&directory("c")).unwrap();
    tree.file(&link("l", 5)).unwrap();
    tree.file(&link("m", 9)).unwrap();
    tree.end_directory().unwrap();
    tree.file(&link("l", 5)).unwrap();
    tree.file(&link("n", 9)).unwrap();
    tree.end_directory().unwrap();
    tree.end_directory().unwrap();
    tree.finish(info(), &path).unwrap();
    Snapshot::open(&path).unwrap()
}

/// Returns entries and allocated blocks of 4096 bytes, by the labels of each group.
fn of(snapshot: &Snapshot, by: &str, under: Option<&str>) -> BTreeMap<String, (u64, u64)> {
    let mut options = ReportOptions::by(Key::parse_list(by).unwrap());
    options.under = under.map(|path| path.as_bytes().to_vec());
    let report = report(snapshot, &options).unwrap();
    assert_eq!(report.overflow, None);
    by_label(&report)
}

fn by_label(report: &Report) -> BTreeMap<String, (u64, u64)> {
    let groups = report.groups.iter().map(|group| {
        let labels: Vec<_> = group
            .values
            .iter()
            .map(|value| text(&value.label()))
            .collect();
        (
            labels.join(","),
            (group.sums.entries, group.sums.alloc / 4096),
        )
    });
    groups.collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn map(groups: &[(&str, u64, u64)]) -> BTreeMap<String, (u64, u64)> {
    let groups = groups.iter();
    groups
        .map(|(label, entries, blocks)| ((*label).to_owned(), (*entries, *blocks)))
        .collect()
}

#[test]
fn each_key_divides_the_same_rows() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let by = |keys| of(&snapshot, keys, None);
    assert_eq!(
        by("owner"),
        map(&[("root", 4, 4), ("1000", 3, 6), ("7", 5, 14)])
    );
    assert_eq!(
        by("group"),
        map(&[("1", 4, 4), ("1001", 3, 6), ("8", 5, 14)])
    );
    let ages = [("< 1 day", 10, 19), ("< 2 years", 1, 3), ("older", 1, 2)];
    assert_eq!(by("age"), map(&ages));
    assert_eq!(by("type"), map(&[("directory", 4, 4), ("file", 8, 20)]));
    let extensions = [("(none)", 9, 18), (".tar", 1, 3), (".txt", 2, 3)];
    assert_eq!(by("ext"), map(&extensions));
    assert_eq!(by("size"), map(&[("< 4K", 1, 1), ("< 64K", 11, 23)]));
    assert_eq!(by("dir"), map(&[(".", 2, 4), ("a", 4, 9), ("b", 6, 11)]));
}

#[test]
fn two_keys_make_pairs() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let expected = [
        ("root,< 1 day", 4, 4),
        ("1000,< 1 day", 1, 1),
        ("1000,< 2 years", 1, 3),
        ("1000,older", 1, 2),
        ("7,< 1 day", 5, 14),
    ];
    assert_eq!(of(&snapshot, "owner,age", None), map(&expected));
    let all = of(&snapshot, "owner,group,age,size,type,dir,ext", None);
    assert_eq!(all.values().map(|sums| sums.0).sum::<u64>(), 12);
    assert_eq!(all["1000,1001,older,< 64K,file,a,.txt"], (1, 2));
}

#[test]
fn a_subtree_is_charged_for_links_whose_first_name_lies_outside() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let under = |path| of(&snapshot, "owner", Some(path));
    // l is charged below a. Here its first name is b/c/l, and m is charged as before.
    assert_eq!(under("/r/b"), map(&[("root", 2, 2), ("7", 4, 14)]));
    assert_eq!(under("/r/b/c"), map(&[("root", 1, 1), ("7", 2, 14)]));
    assert_eq!(under("/r/b/c/l"), map(&[("7", 1, 5)]));
    assert_eq!(under("/r/b/n"), map(&[("7", 1, 9)]));
    assert_eq!(
        under("/r/a"),
        map(&[("root", 1, 1), ("1000", 2, 3), ("7", 1, 5)])
    );
    assert_eq!(under("/r"), of(&snapshot, "owner", None));
    let directories = of(&snapshot, "dir", Some("/r/b"));
    assert_eq!(directories, map(&[(".", 3, 1), ("c", 3, 15)]));
}

#[test]
fn a_path_that_is_not_there_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    for path in ["/r/nowhere", "/", "/rr", "r", "", "/r/a/new.txt/x"] {
        let mut options = ReportOptions::by([Key::Owner]);
        options.under = Some(path.as_bytes().to_vec());
        let error = report(&snapshot, &options).unwrap_err();
        assert!(
            matches!(error, ReportError::NotInside(_)),
            "{path}: {error}"
        );
    }
    let error = report(&snapshot, &ReportOptions::by([])).unwrap_err();
    assert!(matches!(error, ReportError::NoKeys));
}

#[test]
fn several_trees_have_absolute_directories() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    for root in ["/x", "/"] {
        tree.begin_root(root.as_bytes(), &directory("")).unwrap();
        tree.file(&file("f", 0, 0, 4096)).unwrap();
        tree.begin_directory(&directory("d")).unwrap();
        tree.end_directory().unwrap();
        tree.end_directory().unwrap();
    }
    tree.finish(info(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let expected = [("/x/.", 2, 2), ("/x/d", 1, 1), ("/.", 2, 2), ("/d", 1, 1)];
    assert_eq!(of(&snapshot, "dir", None), map(&expected));
    assert_eq!(
        of(&snapshot, "type", Some("/x")),
        map(&[("file", 1, 1), ("directory", 2, 2)])
    );
}

#[test]
fn unknown_values_are_a_group_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &directory("")).unwrap();
    let mut unread = Entry::new(b"unread", FileType::Unknown);
    unread.failure = Some(Failure {
        operation: FailedOperation::Stat,
        errno: Errno::from_raw_os_error(13),
    });
    tree.file(&unread).unwrap();
    let mut other = directory("other");
    other.skipped = Some(Skipped::OtherFs);
    tree.file(&other).unwrap();
    tree.file(&file("f", u32::MAX, 0, 0)).unwrap();
    tree.end_directory().unwrap();
    tree.finish(info(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    let by = |keys| of(&snapshot, keys, None);
    assert_eq!(
        by("owner"),
        map(&[("root", 2, 1), ("unknown", 1, 0), ("4294967295", 1, 0)])
    );
    assert_eq!(by("age"), map(&[("< 1 day", 3, 1), ("unknown", 1, 0)]));
    assert_eq!(
        by("size"),
        map(&[("0", 1, 0), ("< 64K", 2, 1), ("unknown", 1, 0)])
    );
    assert_eq!(
        by("type"),
        map(&[("directory", 2, 1), ("file", 1, 0), ("unknown", 1, 0)])
    );

    let errors = |under: Option<&str>| {
        let mut options = ReportOptions::by([Key::Owner]);
        options.under = under.map(|path| path.as_bytes().to_vec());
        report(&snapshot, &options).unwrap().errors
    };
    assert_eq!(errors(None), 1);
    assert_eq!(errors(Some("/r")), 1);
    assert_eq!(errors(Some("/r/unread")), 1);
    assert_eq!(errors(Some("/r/f")), 0);
}

#[test]
fn projects_are_known_if_the_snapshot_has_them() {
    let saved = |projid| {
        let mut options = WriteOptions::default();
        options.contents.projid = projid;
        let mut tree = TreeBuilder::new(options);
        tree.begin_root(b"/r", &directory("")).unwrap();
        for (name, projid) in [("a", Some(7)), ("b", Some(0)), ("c", Some(7)), ("d", None)] {
            let mut entry = file(name, 0, 0, 4096);
            entry.attributes.projid = projid;
            tree.file(&entry).unwrap();
        }
        tree.end_directory().unwrap();
        let file = tree.finish_unnamed(info()).unwrap();
        Snapshot::from_file(file, Path::new("s")).unwrap()
    };
    assert_eq!(
        of(&saved(true), "project", None),
        map(&[("7", 2, 2), ("0", 1, 1), ("unknown", 2, 2)])
    );
    // Not 0, which is the project of most files.
    let refused = report(
        &saved(false),
        &ReportOptions::by([Key::Owner, Key::Project]),
    );
    assert!(matches!(refused, Err(ReportError::NoProjects)));
}

#[test]
fn groups_beyond_the_limit_are_added_up() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    for keys in [
        vec![Key::Extension],
        vec![Key::Directory],
        vec![Key::Owner, Key::Extension],
    ] {
        let mut options = ReportOptions::by(keys);
        let all = report(&snapshot, &options).unwrap();
        for limit in 0..all.groups.len() {
            options.most_groups = limit;
            let few = report(&snapshot, &options).unwrap();
            assert_eq!(few.groups.len(), limit);
            assert_eq!(few.total, all.total);
            for group in &few.groups {
                assert!(all.groups.contains(group), "{group:?}");
            }
            let others = few.ranking(None).others.unwrap();
            assert!(others.more && others.groups == 0 && others.sums.entries > 0);
        }
    }
}

#[test]
fn a_ranking_shows_the_largest_and_adds_up_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let labels = |by: &str, top| {
        let options = ReportOptions::by(Key::parse_list(by).unwrap());
        let report = report(&snapshot, &options).unwrap();
        let ranking = report.ranking(top);
        let labels: Vec<_> = ranking
            .groups
            .iter()
            .map(|group| text(&group.values[0].label()))
            .collect();
        let others = ranking
            .others
            .map(|others| (others.groups, others.sums.entries, others.more));
        (labels.join(" "), others)
    };
    assert_eq!(labels("owner", None), ("7 1000 root".to_owned(), None));
    assert_eq!(labels("owner", Some(3)), ("7 1000 root".to_owned(), None));
    assert_eq!(
        labels("owner", Some(1)),
        ("7".to_owned(), Some((2, 7, false)))
    );
    assert_eq!(
        labels("owner", Some(0)),
        (String::new(), Some((3, 12, false)))
    );
    // Classes keep their order.
    assert_eq!(labels("size", None).0, "< 4K < 64K");
    assert_eq!(
        labels("age", Some(2)),
        ("< 1 day < 2 years".to_owned(), Some((1, 1, false)))
    );
}

#[test]
fn shares_are_hundredths_of_a_percent() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let report = report(&snapshot, &ReportOptions::by([Key::Owner])).unwrap();
    let shares: Vec<_> = report
        .ranking(None)
        .groups
        .iter()
        .map(|group| report.share(&group.sums))
        .collect();
    assert_eq!(shares, [Some(5833), Some(2500), Some(1667)]);
}

#[test]
fn json_has_all_parts() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let report = report(&snapshot, &ReportOptions::by([Key::Owner])).unwrap();
    let json: serde_json::Value =
        serde_json::from_str(&output::json(&report, &report.ranking(Some(1)))).unwrap();
    let expected = serde_json::json!({
        "by": ["owner"], "start": START, "complete": true, "errors": 0,
        "rows": [{"owner": null, "uid": 7, "entries": 5, "size": 57344, "alloc": 57344, "share": 58.33}],
        "others": {"groups": 2, "more": false, "entries": 7, "size": 31385, "alloc": 40960, "share": 41.67},
        "total": {"entries": 12, "size": 88729, "alloc": 98304, "share": 100.0},
    });
    assert_eq!(json, expected);
}

#[test]
fn csv_has_a_line_for_each_group() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let report = report(&snapshot, &ReportOptions::by([Key::Owner, Key::Age])).unwrap();
    let csv = output::csv(&report, &report.ranking(Some(1)));
    let expected = "owner,uid,age,age_days,entries,size,alloc,share,others\r\n\
        ,7,< 1 day,0,5,57344,57344,58.33,\r\n\
        ,,,,7,31385,40960,41.67,4\r\n";
    assert_eq!(String::from_utf8(csv).unwrap(), expected);
}

/// A file of a random tree.
#[derive(Clone, Debug)]
struct Random {
    directory: usize,
    uid: u32,
    days: i64,
    size: u64,
    ino: u64,
}

fn random() -> impl Strategy<Value = Random> {
    (0_usize..4, 0_u32..5, -1_i64..3000, 0_u64..100_000, 1_u64..8).prop_map(
        |(directory, uid, days, size, ino)| Random {
            directory,
            uid,
            days,
            size,
            ino,
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The sums of the whole tree and of each directory are the same as from a simple loop, with
    /// links counted once.
    #[test]
    fn sums_are_those_of_a_loop(files in prop::collection::vec(random(), 0..60)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let mut tree = TreeBuilder::new(WriteOptions::default());
        tree.begin_root(b"/r", &directory("")).unwrap();
        for each in 0..4 {
            tree.begin_directory(&directory(&format!("d{each}"))).unwrap();
            for (at, random) in files.iter().enumerate().filter(|(_, file)| file.directory == each) {
                let name = format!("{at:03}");
                let mut entry = file(&name, random.uid, random.days, random.size);
                // Files with inode numbers below 4 have several links, all with the same metadata.
                if random.ino < 4 {
                    entry = Entry { name: entry.name, ..link("", random.ino) };
                }
                tree.file(&entry).unwrap();
            }
            tree.end_directory().unwrap();
        }
        tree.end_directory().unwrap();
        tree.finish(info(), &path).unwrap();
        let snapshot = Snapshot::open(&path).unwrap();

        for scope in [None, Some(0), Some(3)] {
            let mut expected: BTreeMap<String, (u64, u64)> = BTreeMap::new();
            let directories = if scope.is_some() { 1 } else { 5 };
            expected.insert("root,< 1 day".to_owned(), (directories, directories));
            let mut seen = std::collections::BTreeSet::new();
            for directory in scope.map_or(0..4, |one| one..one + 1) {
                for random in files.iter().filter(|file| file.directory == directory) {
                    let linked = random.ino < 4;
                    let (uid, days) = if linked { (7, 0) } else { (random.uid, random.days) };
                    let size = if linked { 4096 * random.ino } else { random.size };
                    let counts = !linked || seen.insert(random.ino);
                    let owner = if uid == 0 { "root".to_owned() } else { uid.to_string() };
                    let mtime = (START - days * DAY) * 1_000_000_000;
                    let begin = START * 1_000_000_000;
                    let age = AgeClass::of(Some(mtime), begin, begin).label();
                    let sums = expected.entry(format!("{owner},{age}")).or_default();
                    sums.0 += 1;
                    sums.1 += if counts { size.div_ceil(4096) } else { 0 };
                }
            }
            let under = scope.map(|at| format!("/r/d{at}"));
            prop_assert_eq!(of(&snapshot, "owner,age", under.as_deref()), expected);
        }
    }
}

/// Writes more rows than a row group has, under several numbers of threads.
#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s");
    let mut tree = TreeBuilder::new(WriteOptions::default());
    tree.begin_root(b"/r", &directory("")).unwrap();
    for at in 0..270_000_u32 {
        let name = format!("{at:06}.{}", at % 3000);
        tree.file(&file(&name, at % 7, i64::from(at % 900), u64::from(at)))
            .unwrap();
    }
    tree.end_directory().unwrap();
    tree.finish(info(), &path).unwrap();
    let snapshot = Snapshot::open(&path).unwrap();
    assert!(snapshot.row_groups().len() > 2);
    for keys in ["owner,age", "ext"] {
        let mut options = ReportOptions::by(Key::parse_list(keys).unwrap());
        options.most_groups = 1000;
        let mut with = |threads| {
            options.threads = NonZeroUsize::new(threads);
            let report = report(&snapshot, &options).unwrap();
            let progress = &options.progress;
            assert_eq!(
                (progress.done(), progress.total()),
                (270_001, Some(270_001))
            );
            report
        };
        let one = with(1);
        assert_eq!(one.total.entries, 270_001);
        assert_eq!(with(2), one);
        assert_eq!(with(9), one);
    }
}

#[test]
fn a_stopped_report_has_no_answer() {
    let folder = tempfile::tempdir().unwrap();
    let snapshot = snapshot(folder.path());
    let options = ReportOptions::by([Key::Owner]);
    options.stop.store(true, Ordering::Relaxed);
    let error = report(&snapshot, &options).unwrap_err();
    assert!(matches!(error, ReportError::Stopped));
}
