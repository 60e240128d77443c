//! Each column has a value of its own, and every reader gives it back.

use ringwalk::{
    Batch, Errno, Fields, FileType, Flow, Metadata, SavedTree, Timestamp, Visitor, Walk,
};
use ringwalk_answers::diff::{DiffOptions, Kind, View, contents_to_compare, diff, json};
use ringwalk_answers::exchange::{import_unnamed, write_csv, write_ncdu_json, write_ndjson};
use ringwalk_snapshot::stored_entry::{columns, stored_entry};
use ringwalk_snapshot::{
    ATTRIBUTES, AttributeSink, AttributeSource, Attributes, Capture, Column, Compared, Contents,
    Entry, FailedOperation, Failure, FileSystemInfo, HASH_BYTES, Info, RowCounter, Skipped,
    Snapshot, SnapshotTree, TreeBuilder, Values, WriteOptions, clamp, excerpt,
};
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Arc, Mutex};

/// Makes attributes that are all different and not zero.
struct Made;

impl AttributeSource for Made {
    fn number(&mut self, column: Column) -> Option<u64> {
        // A mode has 12 bits.
        let number = 512 + column as u64;
        // The engine has allocated sizes in blocks of 512 bytes.
        let unit = if column == Column::Alloc { 512 } else { 1 };
        Some(number * unit)
    }

    fn time(&mut self, column: Column) -> Option<Timestamp> {
        Some(Timestamp {
            secs: 1_000_000 + column as i64,
            nanos: column as u32,
        })
    }

    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
        Some([column as u8; HASH_BYTES])
    }
}

/// Gathers attributes as text, by their columns.
#[derive(Clone, Debug, Default, PartialEq)]
struct Texts(BTreeMap<Column, String>);

impl AttributeSink for Texts {
    fn number(&mut self, column: Column, value: Option<u64>) {
        self.0
            .extend(value.map(|value| (column, value.to_string())));
    }

    fn time(&mut self, column: Column, value: Option<Timestamp>) {
        let text = value.map(|time| clamp(time).0.to_string());
        self.0.extend(text.map(|text| (column, text)));
    }

    fn bytes(&mut self, column: Column, value: Option<&[u8; HASH_BYTES]>) {
        self.0
            .extend(value.map(|value| (column, ringwalk_text::hex(value))));
    }
}

fn texts(attributes: &Attributes) -> Texts {
    let mut texts = Texts::default();
    attributes.give(&mut texts);
    texts
}

fn entry() -> Entry<'static> {
    let mut entry = Entry::new(b"file.ext", FileType::Regular);
    entry.attributes = Attributes::take(&mut Made);
    entry
}

/// Writes a snapshot of a directory with a file.
fn saved(file: &Entry<'_>) -> Snapshot {
    let mut options = WriteOptions::default();
    options.contents = Contents::ALL;
    let mut tree = TreeBuilder::new(options);
    let mut top = Entry::new(b"", FileType::Directory);
    top.attributes.dev = file.attributes.dev;
    tree.begin_root(b"/top", &top).unwrap();
    tree.file(file).unwrap();
    tree.end_directory().unwrap();
    // The writer finds what is known of a device here.
    let mut file_system = FileSystemInfo::default();
    file_system.device = file.attributes.dev.unwrap_or_default();
    file_system.kind = Some("ext4".to_owned());
    file_system.uuid = Some("u".to_owned());
    let mut info = Info::default();
    info.file_systems.push(file_system);
    let written = tree.finish_unnamed(info).unwrap();
    Snapshot::from_file(written, "snapshot".as_ref()).unwrap()
}

/// Returns the attributes of the file in a snapshot.
fn read_back(snapshot: &Snapshot) -> Attributes {
    let row = snapshot.locate(0, b"file.ext").unwrap().unwrap();
    let mut scan = snapshot.scan(row..row + 1, &columns()).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    let devices = snapshot.info().file_systems.iter();
    let devices: Vec<_> = devices.map(|known| known.device).collect();
    stored_entry(chunk, 0, b"file.ext", &devices)
        .unwrap()
        .attributes
}

#[test]
fn the_made_values_are_different_and_not_zero() {
    let all = texts(&entry().attributes).0;
    assert!(all.keys().eq(ATTRIBUTES));
    let mut values: Vec<_> = all.values().collect();
    values.sort_unstable();
    values.dedup();
    assert_eq!(values.len(), ATTRIBUTES.len());
    assert!(values.iter().all(|value| *value != "0"));
}

#[test]
fn the_file_has_every_column() {
    let mut values = BTreeMap::new();
    let mut add = |snapshot: &Snapshot| {
        let all: Vec<_> = Column::all().collect();
        let mut scan = snapshot.scan(0..snapshot.rows(), &all).unwrap();
        while let Some(chunk) = scan.next_chunk().unwrap() {
            for (at, column) in (0..chunk.len()).flat_map(|at| all.iter().map(move |c| (at, *c))) {
                let number = chunk.integer(column, at).map(|number| number.to_string());
                let bytes = chunk.bytes(column, at).map(ringwalk_text::hex);
                values
                    .entry(column)
                    .or_insert_with(Vec::new)
                    .extend(number.or(bytes));
            }
        }
    };
    let mut file = entry();
    file.target = Some(b"target");
    let all = saved(&file);
    assert!(Column::all().all(|column| all.has(column)));
    add(&all);
    file.name = b"\xff";
    file.attributes.mtime = Some(Timestamp {
        secs: i64::MAX,
        nanos: 0,
    });
    file.failure = Some(Failure {
        operation: FailedOperation::Stat,
        errno: Errno::IO,
    });
    file.skipped = Some(Skipped::Pattern);
    add(&saved(&file));
    for column in Column::all() {
        let is_null = values[&column].is_empty();
        assert!(!is_null, "no row has a value of {}", column.name());
    }
    // The index of the only file system is 0.
    for (column, value) in texts(&entry().attributes).0 {
        let is_there = column == Column::Fs || values[&column].contains(&value);
        assert!(is_there, "{}", column.name());
    }
}

#[test]
fn entries_come_back_from_a_file_and_from_an_excerpt_of_it() {
    let file = entry();
    let snapshot = saved(&file);
    assert_eq!(read_back(&snapshot), read_back(&saved(&file)));
    let wanted = texts(&file.attributes);
    assert_eq!(texts(&read_back(&snapshot)), wanted);
    let root = snapshot.locate(0, b"").unwrap().unwrap();
    let part = excerpt(&snapshot, root, |_| true).unwrap();
    assert_eq!(texts(&read_back(&part)), wanted);
}

/// Keeps the metadata of the file.
struct Keep(Arc<Mutex<Metadata>>);

impl Visitor for Keep {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            if let Some(metadata) = entry.metadata().filter(|_| entry.name() == b"file.ext") {
                *self.0.lock().unwrap() = *metadata;
            }
        }
        Flow::Continue
    }
}

#[test]
fn a_walk_of_a_snapshot_returns_metadata() {
    let file = entry();
    let tree = Arc::new(SnapshotTree::new(saved(&file)));
    let saved_tree: Arc<dyn SavedTree> = Arc::<SnapshotTree>::clone(&tree);
    let fields = saved_tree.fields();
    assert_eq!(fields, Fields::all());
    let found = Arc::new(Mutex::new(Metadata::default()));
    let walk = Walk::new("/top").saved_tree(saved_tree).fields(fields);
    walk.run(|_| Keep(Arc::clone(&found)));
    let found = *found.lock().unwrap();
    assert_eq!(found.mask(), fields);
    let mut returned = Attributes::of(&found);
    // Only a device file has this field, and no metadata has a hash.
    returned.rdev = file.attributes.rdev;
    returned.hash = file.attributes.hash;
    assert_eq!(texts(&returned), texts(&file.attributes));
}

#[test]
fn a_comparison_shows_what_the_table_says() {
    let file = entry();
    let old = saved(&file);
    let wanted = texts(&file.attributes).0;
    for column in ATTRIBUTES
        .iter()
        .copied()
        .filter(|column| *column != Column::Fs)
    {
        let facts = column.facts();
        let mut other = file;
        other.attributes = Attributes::take(&mut Changed(column));
        // The size always differs, so that there is a change to look at.
        other.attributes.size = Some(1);
        let new = saved(&other);
        let found = diff(&old, &new, &DiffOptions::default()).unwrap();
        let mut changes = found.changes.iter();
        let change = changes.find(|change| change.version().path[..] == b"file.ext"[..]);
        let change = change.unwrap();
        let is_same = change.kind != Kind::Replaced;
        assert_eq!(
            is_same,
            facts.compared != Compared::Identity,
            "{}",
            facts.name
        );
        // The change of an inode is explained by other changes.
        let counts = facts.compared == Compared::Change && column != Column::Ctime;
        assert_eq!(change.changed.contains(column), counts, "{}", facts.name);
        let sides = json(&found, &View::default());
        if facts.compared == Compared::No {
            assert!(
                !sides.contains(&format!("\"{}\":", facts.name)),
                "{}",
                facts.name
            );
        } else if facts.values != Values::Time {
            let text = match facts.values {
                Values::Bytes => format!("\"{}\":\"{}\"", facts.name, wanted[&column]),
                _ => format!("\"{}\":{}", facts.name, wanted[&column]),
            };
            assert!(sides.contains(&text), "{text} in {sides}");
        } else {
            let version = change.old.as_ref().unwrap();
            let value = version.get(column).unwrap().to_string();
            assert_eq!(value, wanted[&column], "{}", facts.name);
        }
    }
}

/// A part of a snapshot that a live tree must be read with to be compared. The others cost reading
/// the contents, or make no change.
#[test]
fn a_live_tree_is_read_with_what_is_compared() {
    let expected = Contents {
        projid: true,
        ..Contents::default()
    };
    assert_eq!(contents_to_compare(&saved(&entry())), expected);
    let mut tree = TreeBuilder::new(WriteOptions::default());
    let top = Entry::new(b"", FileType::Directory);
    tree.begin_root(b"/top", &top).unwrap();
    tree.end_directory().unwrap();
    let written = tree.finish_unnamed(Info::default()).unwrap();
    let without = Snapshot::from_file(written, "snapshot".as_ref()).unwrap();
    assert_eq!(contents_to_compare(&without), Contents::default());
}

/// Makes the same attributes as [`Made`], except one.
struct Changed(Column);

impl AttributeSource for Changed {
    fn number(&mut self, column: Column) -> Option<u64> {
        let more = if column == self.0 { 512 } else { 0 };
        Made.number(column).map(|number| number + more)
    }

    fn time(&mut self, column: Column) -> Option<Timestamp> {
        let more = i64::from(column == self.0);
        Made.time(column).map(|time| Timestamp {
            secs: time.secs + more,
            ..time
        })
    }

    fn bytes(&mut self, column: Column) -> Option<[u8; HASH_BYTES]> {
        let made = Made.bytes(column);
        if column == self.0 {
            Some([1; HASH_BYTES])
        } else {
            made
        }
    }
}

#[test]
fn exports_name_every_column() {
    let snapshot = saved(&entry());
    let progress = RowCounter::default();
    let (mut lines, mut table) = (Vec::new(), Vec::new());
    write_ndjson(&snapshot, None, &progress, &mut lines).unwrap();
    write_csv(&snapshot, None, &progress, &mut table).unwrap();
    let lines = String::from_utf8(lines).unwrap();
    let line = lines
        .lines()
        .find(|line| line.contains("file.ext"))
        .unwrap();
    let object: serde_json::Value = serde_json::from_str(line).unwrap();
    let table = String::from_utf8(table).unwrap();
    let names: Vec<_> = table.lines().next().unwrap().split(',').collect();
    for column in Column::all() {
        let name = column.name();
        assert!(names.contains(&name), "{name}");
    }
    for (column, value) in texts(&entry().attributes).0 {
        let facts = column.facts();
        let found = &object[facts.name];
        match facts.values {
            Values::Time => assert!(
                found.as_str().unwrap().starts_with("1970-01-12T"),
                "{found}"
            ),
            Values::Bytes => assert_eq!(*found, value),
            _ if column == Column::Fs => assert_eq!(*found, 0),
            _ => assert_eq!(found.to_string(), value, "{}", facts.name),
        }
    }
}

/// What comes back from ncdu's format, and what the documentation says is lost.
#[test]
fn an_import_has_what_the_format_keeps() {
    let mut file = entry();
    file.attributes.charged_once = true;
    let snapshot = saved(&file);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ncdu.json");
    let progress = RowCounter::default();
    write_ncdu_json(&snapshot, 0, &progress, File::create(&path).unwrap()).unwrap();
    let input = File::open(&path).unwrap();
    let imported = import_unnamed(input, WriteOptions::default(), &path).unwrap();
    let wanted = texts(&file.attributes).0;
    let kept = texts(&read_back(&imported)).0;
    let documentation = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/exchange.md");
    // The published crate has no documentation beside it.
    let Ok(text) = std::fs::read_to_string(documentation) else {
        return;
    };
    let lost = text
        .lines()
        .find(|line| line.ends_with("| Lost. |"))
        .unwrap();
    for column in ATTRIBUTES {
        let is_lost = lost.contains(&format!("`{}`", column.name()));
        let wanted = wanted.get(column).filter(|_| !is_lost);
        assert_eq!(kept.get(column), wanted, "{}", column.name());
    }
}

#[test]
fn a_capture_has_what_the_file_system_says() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file.ext");
    std::fs::write(&path, vec![7; 5000]).unwrap();
    let mut options = WriteOptions::default();
    options.contents = Contents::ALL;
    let capture = Capture::new([folder.path()]).unwrap().options(options);
    let walk = capture.walk();
    let (snapshot, _) = capture.run_unnamed(walk, folder.path()).unwrap();
    let metadata = Metadata::of_path(None, &path, false, Fields::all()).unwrap();
    let mut wanted = Attributes::of(&metadata);
    // An inode that has not changed has the same time of access.
    wanted.atime = read_back(&snapshot).atime;
    assert_eq!(texts(&read_back(&snapshot)), texts(&wanted));
}
