//! Files of ncdu that become snapshots, and snapshots that become files.

use super::*;
use ringwalk_snapshot::{Info, RowCounter, Snapshot, WriteOptions};
use std::fmt::Write as _;
use std::fs::File;
use std::io::{self, Seek, Write as _};
use std::path::PathBuf;
use tempfile::TempDir;

struct Folder {
    folder: TempDir,
}

impl Folder {
    fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn output(&self) -> PathBuf {
        self.folder.path().join("snapshot")
    }

    fn import(&self, bytes: &[u8]) -> Result<Info, ImportError<io::Error>> {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        import(file, WriteOptions::default(), &self.output())
    }

    fn snapshot(&self, bytes: &[u8]) -> Snapshot {
        self.import(bytes).unwrap();
        Snapshot::open(&self.output()).unwrap()
    }
}

/// Returns a snapshot as ncdu's JSON, without its first line.
fn ncdu(snapshot: &Snapshot) -> String {
    let mut out = Vec::new();
    write_ncdu_json(snapshot, 0, &RowCounter::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let (head, tree) = text.split_once('\n').unwrap();
    assert!(head.starts_with("[1,2,{\"progname\":\"ringwalk\",\"progver\":\""));
    tree.to_owned()
}

fn file(tree: &str) -> Vec<u8> {
    format!("[1,2,{{\"progname\":\"ncdu\",\"progver\":\"1.18\",\"timestamp\":7}},\n{tree}").into()
}

/// In the order of an export: by name, all fields as they are written.
const TREE: &str = r#"[{"name":"/r","asize":4096,"dsize":4096,"uid":0,"gid":0,"mode":16877,"mtime":5,"dev":9},
{"name":"\u0001\n\"\\\u007f","mode":33188},
{"name":"broken","read_error":true},
[{"name":"d","asize":1,"mtime":12.25,"read_error":true},
{"name":"again","asize":3,"dsize":512,"mode":33188,"ino":7,"hlnkc":true,"nlink":2},
{"name":"old","mtime":18446744073709551615.5}],
[{"name":"empty","dev":10}],
{"name":"first","asize":3,"dsize":512,"mode":33188,"ino":7,"hlnkc":true,"nlink":2},
{"name":"huge","asize":9223372036854775807,"uid":4294967295,"gid":4294967294},
{"name":"link","asize":1,"mode":41471,"notreg":true},
{"name":"one of some","ino":8,"hlnkc":true},
[{"name":"other","asize":4096,"mode":16877,"excluded":"otherfs"}],
{"name":"pattern","excluded":"pattern"},
[{"name":"proc","excluded":"kernfs"}],
{"name":"special","notreg":true},
{"name":"😀"}]]
"#;

#[test]
fn a_tree_comes_back_as_it_was() {
    let place = Folder::new();
    let snapshot = place.snapshot(&file(TREE));
    assert_eq!(ncdu(&snapshot), TREE);
}

#[test]
fn a_time_before_1970_may_have_a_sign() {
    let tree = r#"[{"name":"/r","mtime":-157766400},{"name":"zero of Go","mtime":-62135596800}]]"#;
    let snapshot = Folder::new().snapshot(&file(tree));
    let mut out = Vec::new();
    write_ndjson(&snapshot, None, &RowCounter::default(), &mut out).unwrap();
    let rows = rows(&String::from_utf8(out).unwrap());
    assert_eq!(rows[1]["mtime"], "1965-01-01T00:00:00.000000000Z");
    // Nanoseconds in 64 bits begin in 1677.
    assert_eq!(rows[0]["clamped"], true);
    assert!(rows[0]["mtime"].as_str().unwrap().starts_with("1677-"));
}

#[test]
fn the_snapshot_says_where_it_came_from() {
    let place = Folder::new();
    let snapshot = place.snapshot(&file(TREE));
    let info = snapshot.info();
    assert_eq!(info.roots[0].path.0, b"/r");
    assert_eq!(info.run.source, "ncdu-json (ncdu 1.18)");
    assert_eq!((info.run.start.seconds, info.run.end.seconds), (7, 7));
    let devices: Vec<u64> = info.file_systems.iter().map(|each| each.device).collect();
    assert_eq!(devices.len(), 2);
    assert!(devices.contains(&9) && devices.contains(&10));
    assert_eq!((info.verdict.errors, info.verdict.complete), (2, false));
}

#[test]
fn a_link_counts_once_and_what_is_excluded_does_not_count() {
    let tree = r#"[{"name":"/r"},
        {"name":"a","dsize":512,"ino":7,"nlink":2},{"name":"b","dsize":512,"ino":7,"nlink":2},
        {"name":"c","dsize":1024,"ino":7},{"name":"x","dsize":4096,"excluded":"pattern"}]]"#;
    let place = Folder::new();
    let snapshot = place.snapshot(&file(tree));
    let root = snapshot.locate(0, b"").unwrap().unwrap();
    let mut scan = snapshot
        .scan(root..root + 1, &[ringwalk_snapshot::Column::TreeAlloc])
        .unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    assert_eq!(
        chunk.integer(ringwalk_snapshot::Column::TreeAlloc, 0),
        Some(512 + 1024)
    );
}

#[test]
fn names_of_any_bytes_come_back() {
    let mut tree = file(r#"[{"name":"/r?"},{"name":"?"},[{"name":"d?"},{"name":"x"}]]]"#);
    tree.iter_mut()
        .filter(|byte| **byte == b'?')
        .for_each(|byte| *byte = 0xff);
    let snapshot = Folder::new().snapshot(&tree);
    let mut out = Vec::new();
    write_ncdu_json(&snapshot, 0, &RowCounter::default(), &mut out).unwrap();
    let tree = b"\n[{\"name\":\"/r\xff\"},\n[{\"name\":\"d\xff\"},\n{\"name\":\"x\"}],\n{\"name\":\"\xff\"}]]\n";
    assert!(out.ends_with(tree), "{}", out.escape_ascii());
}

#[test]
fn a_name_that_a_directory_has_twice_comes_back() {
    let tree =
        "[{\"name\":\"/r\"},\n{\"name\":\"x\",\"asize\":1},\n{\"name\":\"x\",\"asize\":2}]]\n";
    let snapshot = Folder::new().snapshot(&file(tree));
    assert_eq!(ncdu(&snapshot), tree);
}

#[test]
fn too_many_devices_are_refused() {
    let mut tree = String::from("[{\"name\":\"/r\"}");
    for device in 0..=100_000 {
        write!(tree, ",{{\"name\":\"{device}\",\"dev\":{device}}}").unwrap();
    }
    tree.push_str("]]");
    let error = Folder::new().import(&file(&tree)).unwrap_err().to_string();
    assert!(
        error.ends_with(": the file has more than 100000 device numbers"),
        "{error}"
    );
}

/// Returns the sizes on disk of all rows, and of the whole tree.
fn allocated(tree: &str) -> (Vec<i64>, i64) {
    let snapshot = Folder::new().snapshot(tree.as_bytes());
    let columns = [
        ringwalk_snapshot::Column::Alloc,
        ringwalk_snapshot::Column::TreeAlloc,
    ];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    let [alloc, tree] = columns.map(|column| {
        let values = (0..chunk.len()).map(|at| chunk.integer(column, at));
        values.map(Option::unwrap_or_default).collect::<Vec<_>>()
    });
    let whole = tree.last().copied().unwrap();
    (alloc, whole)
}

#[test]
fn gdu_gives_directories_the_sums_of_their_trees() {
    let tree = r#"[{"name":"/srv","dsize":1015808,"items":4},
        [{"name":"a","dsize":1011712,"items":3},
        [{"name":"b","dsize":1007616,"items":2},{"name":"file","dsize":1003520}]]]]"#;
    let of = |program: &str| {
        allocated(&format!(
            r#"[1,2,{{"progname":"{program}","timestamp":1}},{tree}"#
        ))
    };
    assert_eq!(of("gdu"), (vec![1_003_520, 4096, 4096, 4096], 1_015_808));
    assert_eq!(of("ncdu").1, 1_003_520 + 1_007_616 + 1_011_712 + 1_015_808);
    // `--output-attrs=dsize` leaves out the numbers of items.
    let plain = tree.replace(r#","items":"#, r#","other":"#);
    let text = format!(r#"[1,2,{{"progname":"gdu"}},{plain}"#);
    assert_eq!(allocated(&text).1, 1_015_808);
}

#[test]
fn older_versions_of_gdu_give_directories_no_sizes() {
    let text = r#"[1,2,{"progname":"gdu","progver":"v5.30.0"},
        [{"name":"/srv"},[{"name":"a"},{"name":"x","dsize":512}],
        {"name":"y","dsize":512,"ino":7,"hlnkc":true},
        {"name":"z","dsize":512,"ino":7,"hlnkc":true}]]"#;
    assert_eq!(allocated(text), (vec![512, 0, 512, 512, 0], 1024));
}

#[test]
fn nothing_is_written_after_an_error() {
    let place = Folder::new();
    std::fs::write(place.output(), "old").unwrap();
    let whole = file(TREE);
    for end in (0..whole.len() - 2).step_by(50) {
        assert!(place.import(&whole[..end]).is_err(), "{end}");
    }
    assert_eq!(std::fs::read(place.output()).unwrap(), b"old");
    assert_eq!(std::fs::read_dir(place.folder.path()).unwrap().count(), 1);
}

#[test]
fn json_may_be_compressed_by_zstd() {
    let compressed = zstd::bulk::compress(&file(TREE), 1).unwrap();
    let place = Folder::new();
    assert_eq!(ncdu(&place.snapshot(&compressed)), TREE);
    let error = place
        .import(&compressed[..compressed.len() - 3])
        .unwrap_err();
    assert!(matches!(error, ImportError::Read { .. }), "{error}");
}

#[test]
fn other_files_are_named() {
    for (bytes, expected) in [
        (&b"PAR1...."[..], "snapshot already"),
        (b"\x1f\x8b\x08\x00", "gzip"),
        (b"", "too early"),
        (b"hello", "expected '[', which begins ncdu's format"),
    ] {
        let error = Folder::new().import(bytes).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_place_that_cannot_be_written_is_known_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    let input = File::open("/dev/zero").unwrap();
    let output = folder.path().join("missing/snapshot");
    let error = import(input, WriteOptions::default(), &output).unwrap_err();
    assert!(matches!(error, ImportError::Write(_)), "{error}");
}

/// A tree whose listings span many pages, and whose subtrees lie far from them.
#[test]
fn listings_of_many_pages_come_in_order() {
    let mut tree = String::from("[{\"name\":\"/r\"}");
    for d in 0..30 {
        write!(tree, ",\n[{{\"name\":\"d{d:02}\"}}").unwrap();
        for f in 0..2000 {
            write!(tree, ",\n{{\"name\":\"f{f:04}\"}}").unwrap();
        }
        tree.push(']');
    }
    for f in 0..30_000 {
        write!(tree, ",\n{{\"name\":\"e{f:05}\"}}").unwrap();
    }
    tree.push_str("]]\n");
    let snapshot = Folder::new().snapshot(&file(&tree));
    assert_eq!(ncdu(&snapshot), tree);
}

fn rows(text: &str) -> Vec<serde_json::Value> {
    let row = |line| serde_json::from_str(line).unwrap();
    text.lines().map(row).collect()
}

#[test]
fn ndjson_has_every_column_of_every_row() {
    let tree = file("[{\"name\":\"/r\"},{\"name\":\"a\u{85}\\u0001\",\"mtime\":1.5}]]");
    let snapshot = Folder::new().snapshot(&tree);
    let mut out = Vec::new();
    write_ndjson(&snapshot, None, &RowCounter::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(text.contains("\"path\":\"a\\u0085\\u0001\""), "{text}");
    let rows = rows(&text);
    assert_eq!(rows.len(), 2);
    assert_eq!(rows[0]["path"], "a\u{85}\u{1}");
    assert_eq!(rows[0]["mtime"], "1970-01-01T00:00:01.500000000Z");
    assert_eq!(rows[0]["charged"], true);
    assert_eq!(rows[1]["root_path"], "/r");
    assert_eq!(rows[1]["path"], "");
    assert_eq!(rows[1]["tree_entries"], 2);
    for column in ringwalk_snapshot::Column::all().filter(|column| snapshot.has(*column)) {
        assert!(rows[0].get(column.name()).is_some(), "{}", column.name());
    }
}

#[test]
fn ndjson_has_the_bytes_of_names_that_are_not_utf8() {
    let mut tree = file(r#"[{"name":"/r"},{"name":"a?"}]]"#);
    tree.iter_mut()
        .filter(|byte| **byte == b'?')
        .for_each(|byte| *byte = 0xff);
    let snapshot = Folder::new().snapshot(&tree);
    let mut out = Vec::new();
    write_ndjson(&snapshot, None, &RowCounter::default(), &mut out).unwrap();
    let rows = rows(&String::from_utf8(out).unwrap());
    assert_eq!(rows[0]["path"], "a\\xff");
    assert_eq!(rows[0]["path_raw"], "61ff");
    assert_eq!(rows[1]["path_raw"], serde_json::Value::Null);
}

#[test]
fn hashes_are_hexadecimal_digits() {
    let folder = Folder::new();
    let mut options = WriteOptions::default();
    options.contents.hash = true;
    let mut tree = ringwalk_snapshot::TreeBuilder::new(options);
    let root = ringwalk_snapshot::Entry::new(b"", ringwalk::FileType::Directory);
    tree.begin_root(b"/r", &root).unwrap();
    let mut file = ringwalk_snapshot::Entry::new(b"f", ringwalk::FileType::Regular);
    file.attributes.hash = Some([0xab; 32]);
    tree.file(&file).unwrap();
    tree.end_directory().unwrap();
    tree.finish(Info::default(), &folder.output()).unwrap();
    let snapshot = Snapshot::open(&folder.output()).unwrap();
    let mut out = Vec::new();
    write_ndjson(&snapshot, None, &RowCounter::default(), &mut out).unwrap();
    let rows = rows(&String::from_utf8(out).unwrap());
    assert_eq!(rows[0]["hash"], "ab".repeat(32));
    assert_eq!(rows[1]["hash"], serde_json::Value::Null);
    let mut out = Vec::new();
    write_csv(&snapshot, None, &RowCounter::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    let mut lines = text.lines();
    assert!(lines.next().unwrap().ends_with(",clamped,hash"), "{text}");
    let first = lines.next().unwrap();
    assert!(
        first.ends_with(&format!(",false,{}", "ab".repeat(32))),
        "{text}"
    );
    assert!(lines.next().unwrap().ends_with(",false,"), "{text}");
}

#[test]
fn csv_quotes_what_needs_quotes() {
    let tree = file(r#"[{"name":"/r"},{"name":"a,\"b\"\r\nc"},{"name":"plain"}]]"#);
    let snapshot = Folder::new().snapshot(&tree);
    let mut out = Vec::new();
    write_csv(&snapshot, Some(0), &RowCounter::default(), &mut out).unwrap();
    let text = String::from_utf8(out).unwrap();
    assert!(
        text.starts_with("id,root,root_path,dir,self,path,path_raw,ext,type,"),
        "{text}"
    );
    assert!(
        text.contains("\r\n0,0,/r,0,,\"a,\"\"b\"\"\r\nc\",,"),
        "{text}"
    );
    assert!(text.contains("\r\n1,0,/r,0,,plain,,"), "{text}");
    assert!(text.contains("\r\n2,0,/r,,0,\"\",,"), "{text}");
    assert!(text.ends_with("\r\n"), "{text}");
}

#[test]
fn progress_counts_the_rows_of_an_export() {
    let snapshot = Folder::new().snapshot(&file(TREE));
    let rows = snapshot.rows();
    let counted = |write: &dyn Fn(&RowCounter) -> Result<(), ExportError>| {
        let progress = RowCounter::default();
        write(&progress).unwrap();
        (progress.done(), progress.total())
    };
    let ncdu = counted(&|progress| write_ncdu_json(&snapshot, 0, progress, io::sink()));
    assert_eq!(ncdu, (rows, Some(rows)));
    let lines = counted(&|progress| write_ndjson(&snapshot, None, progress, io::sink()));
    assert_eq!(lines, (rows, Some(rows)));
    let records = counted(&|progress| write_csv(&snapshot, Some(0), progress, io::sink()));
    assert_eq!(records, (rows, Some(rows)));
}

#[test]
fn a_root_that_is_missing_is_an_error() {
    let snapshot = Folder::new().snapshot(&file(TREE));
    assert!(write_ncdu_json(&snapshot, 1, &RowCounter::default(), io::sink()).is_err());
    assert!(write_csv(&snapshot, Some(1), &RowCounter::default(), io::sink()).is_err());
}
