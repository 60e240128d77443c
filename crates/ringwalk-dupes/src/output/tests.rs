//! Unit tests of all formats, on the same groups.

use super::json::Rest;
use super::*;
use crate::{Copy, Directories, Found, Group, Name, Search};
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::record::{Field, RowAccessor as _};
use ringwalk::Timestamp;
use ringwalk_hash::FileVersion;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, Write};

const NEWLINE: &[u8] = b"x/new\nline";
const QUOTE: &[u8] = b"x/quo\"te, \xc2\x9b";
const BYTES: &[u8] = b"x/\xff";

fn copy(names: &[&[u8]], ino: u64) -> Copy {
    let name = |path: &&[u8]| Name::new(&path[..1], &path[2..]);
    let time = Timestamp {
        secs: 1_000_000_000,
        nanos: 5,
    };
    Copy {
        names: names.iter().map(name).collect(),
        links: Some(u32::try_from(names.len()).unwrap()),
        version: FileVersion {
            dev: 1,
            ino,
            size: 7,
            mtime: time,
            ctime: time,
            btime: None,
        },
        shares_with: None,
        is_reference: false,
        is_trash: false,
        snapshot: None,
    }
}

fn group(size: u64, freeable: u64, copies: Vec<Copy>) -> Group {
    Group {
        size,
        hash: Some([0xa0; 32]),
        copies,
        freeable,
    }
}

/// Returns a group with a file of a reference, names of all kinds, and a link; and a group without
/// a hash, whose files share extents, one of them in a snapshot.
fn groups() -> Vec<Group> {
    let reference = Copy {
        is_reference: true,
        is_trash: false,
        ..copy(&[NEWLINE], 1)
    };
    let second_reference = Copy {
        is_reference: true,
        is_trash: false,
        ..copy(&[b"x/r"], u64::MAX)
    };
    let linked = copy(&[QUOTE, BYTES], 2);
    let saved = Copy {
        snapshot: Some(0),
        links: None,
        shares_with: Some(0),
        ..copy(&[b"y/saved"], 4)
    };
    let shared = Group {
        hash: None,
        ..group(5, 0, vec![copy(&[BYTES, b"y/link"], 3), saved])
    };
    vec![
        group(7, 7, vec![reference, linked, second_reference]),
        shared,
    ]
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Vec<u8> {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    out
}

fn text(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> String {
    String::from_utf8(written(write)).unwrap()
}

fn parsed(groups: Vec<Group>, rest: &Rest<'_>) -> Value {
    let text = text(|out| super::json::write(groups.into_iter(), rest, out));
    assert_eq!(text.lines().count(), 1);
    assert!(text.ends_with("}\n"));
    serde_json::from_str(&text).unwrap()
}

#[test]
fn totals_count_copies_that_are_redundant() {
    let mut totals = Totals::default();
    for group in groups() {
        totals.add(&group);
    }
    let expected = Totals {
        groups: 2,
        files: 2,
        bytes: 12,
        freeable: 7,
    };
    assert_eq!(totals, expected);
}

#[test]
fn fdupes_has_the_first_name_of_each_inode_as_it_is() {
    let out = written(|out| super::fdupes::write(groups().into_iter(), out));
    let expected = [NEWLINE, b"\n", QUOTE, b"\nx/r\n\n", BYTES, b"\ny/saved\n\n"];
    assert_eq!(out, expected.concat());
    assert!(written(|out| super::fdupes::write([].into_iter(), out)).is_empty());
}

#[test]
fn json_has_every_member() {
    let value = parsed(groups(), &Rest::default());
    let mtime = "2001-09-09T01:46:40.000000005Z";
    let hash = "a0".repeat(32);
    let expected = json!({
        "groups": [
            {"size": 7, "hash": hash, "freeable": 7, "files": [
                {
                    "path": "x/new\nline", "keep": true, "reference": true, "snapshot": null,
                    "ino": 1, "nlink": 1, "mtime": mtime, "shares_with": null, "links": [],
                },
                {
                    "path": "x/quo\"te, \u{9b}", "keep": false, "reference": false,
                    "snapshot": null, "ino": 2, "nlink": 2, "mtime": mtime, "shares_with": null,
                    "links": [{"path": "x/\\xff", "path_raw": "782fff"}],
                },
                {
                    "path": "x/r", "keep": false, "reference": true, "snapshot": null,
                    "ino": u64::MAX, "nlink": 1, "mtime": mtime, "shares_with": null, "links": [],
                },
            ]},
            {"size": 5, "hash": null, "freeable": 0, "files": [
                {
                    "path": "x/\\xff", "path_raw": "782fff", "keep": true, "reference": false,
                    "snapshot": null, "ino": 3, "nlink": 2, "mtime": mtime, "shares_with": null,
                    "links": [{"path": "y/link"}],
                },
                {
                    "path": "y/saved", "keep": false, "reference": false, "snapshot": 0, "ino": 4,
                    "nlink": null, "mtime": mtime, "shares_with": "x/\\xff",
                    "shares_with_raw": "782fff", "links": [],
                },
            ]},
        ],
        "directories": [],
        "similar": [],
        "summary": {"groups": 2, "files": 2, "bytes": 12, "freeable": 7, "without_hash": 0},
    });
    assert_eq!(value, expected);
}

#[test]
fn json_has_directories_and_what_is_not_known() {
    let directories = [crate::DirectoryGroup {
        paths: vec![b"a".to_vec(), BYTES.to_vec()],
        size: 9,
        files: 3,
    }];
    let similar = [crate::SimilarDirectories {
        paths: [b"b".to_vec(), BYTES.to_vec()],
        sizes: [10, 8],
        common: 7,
    }];
    let rest = Rest {
        directories: &directories,
        similar: &similar,
        without_hash: 6,
    };
    let raw = json!({"path": "x/\\xff", "path_raw": "782fff"});
    let expected = json!({
        "groups": [],
        "directories": [{"size": 9, "files": 3, "directories": [{"path": "a"}, raw]}],
        "similar": [{"percent": 70, "common": 7, "directories": [
            {"path": "b", "size": 10},
            {"path": "x/\\xff", "path_raw": "782fff", "size": 8},
        ]}],
        "summary": {"groups": 0, "files": 0, "bytes": 0, "freeable": 0, "without_hash": 6},
    });
    assert_eq!(parsed(Vec::new(), &rest), expected);
}

#[test]
fn json_escapes_every_control_character() {
    let text = text(|out| super::json::write(groups().into_iter(), &Rest::default(), out));
    assert!(text.contains(r#""x/quo\"te, \u009b""#), "{text}");
    assert!(text.contains(r#""x/new\nline""#), "{text}");
    assert!(!text.trim_end().contains(char::is_control));
}

#[test]
fn csv_has_a_record_for_each_name() {
    let text = text(|out| super::csv::write(groups().into_iter(), out));
    let hash = "a0".repeat(32);
    let expected = [
        "group,size,hash,keep,reference,snapshot,file,ino,link,\
         shares_with,shares_with_raw,path,path_raw",
        &format!("1,7,{hash},true,true,,1,1,1,,,\"x/new\nline\","),
        &format!("1,7,{hash},false,false,,2,2,1,,,\"x/quo\"\"te, \u{9b}\","),
        &format!("1,7,{hash},false,false,,2,2,2,,,x/\\xff,782fff"),
        &format!("1,7,{hash},false,true,,3,18446744073709551615,1,,,x/r,"),
        "2,5,,true,false,,1,3,1,,,x/\\xff,782fff",
        "2,5,,true,false,,1,3,2,,,y/link,",
        "2,5,,false,false,0,2,4,1,x/\\xff,782fff,y/saved,",
        "",
    ];
    assert_eq!(text, expected.join("\r\n"));
}

#[test]
fn parquet_has_the_rows_of_the_csv() {
    let file = written(|out| super::parquet::write(groups().into_iter(), out));
    let reader = SerializedFileReader::new(bytes::Bytes::from(file)).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let rows: Vec<_> = rows.collect::<Result<_, _>>().unwrap();
    let csv = text(|out| super::csv::write(groups().into_iter(), out));
    let names = rows[0].get_column_iter().map(|(name, _)| name.as_str());
    let names: Vec<_> = names.collect();
    assert_eq!(names.join(","), csv.lines().next().unwrap());
    assert_eq!(rows.len(), csv.matches("\r\n").count() - 1);

    let cells = |row: usize| -> Vec<Field> {
        let cells = rows[row].get_column_iter();
        cells.map(|(_, field)| field.clone()).collect()
    };
    let bytes = |bytes: &[u8]| Field::Bytes(bytes.to_vec().into());
    let expected = [
        Field::Long(1),
        Field::Long(7),
        bytes(&[0xa0; 32]),
        Field::Bool(false),
        Field::Bool(false),
        Field::Null,
        Field::Long(2),
        Field::ULong(2),
        Field::Long(2),
        Field::Null,
        Field::Null,
        Field::Str("x/\\xff".to_owned()),
        bytes(BYTES),
    ];
    assert_eq!(cells(2), expected);
    assert_eq!(rows[3].get_ulong(7).unwrap(), u64::MAX);
    assert_eq!(rows[0].get_string(11).unwrap().as_bytes(), NEWLINE);
    let shared = cells(6);
    assert_eq!(shared[2], Field::Null);
    assert_eq!(shared[5], Field::Long(0));
    assert_eq!(shared[9], Field::Str("x/\\xff".to_owned()));
    assert_eq!(shared[10], bytes(BYTES));
}

fn search() -> (tempfile::TempDir, Found) {
    let folder = tempfile::tempdir().unwrap();
    for name in ["one", "two"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(folder.path().join(name).join("file"), "the same").unwrap();
    }
    let mut search = Search::new([folder.path()]).unwrap();
    search.directories(Directories::Same);
    let walk = search.walk();
    let found = search.run(walk, &|_| {}).unwrap();
    (folder, found)
}

#[test]
fn everything_that_a_search_has_found_is_written() {
    let (folder, found) = search();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let value: Value = serde_json::from_str(&text(|out| json(&found, out))).unwrap();
    let directories = json!([{"path": path("one")}, {"path": path("two")}]);
    assert_eq!(value["directories"][0]["directories"], directories);
    let hash = blake3::hash(b"the same").to_hex();
    assert_eq!(value["groups"][0]["hash"], hash.as_str());
    assert_eq!(value["summary"]["freeable"], 8);
    let totals = found.totals();
    assert_eq!((totals.groups, totals.files, totals.bytes), (1, 1, 8));

    let files: Vec<_> = value["groups"][0]["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    let lines = text(|out| fdupes(&found, out));
    assert_eq!(lines, format!("{}\n{}\n\n", files[0], files[1]));
    let records = text(|out| csv(&found, out));
    assert_eq!(records.lines().count(), 3);
    assert!(
        records.ends_with(&format!(",{},\r\n", files[1])),
        "{records}"
    );
    let table = written(|out| parquet(&found, out));
    let table = SerializedFileReader::new(bytes::Bytes::from(table)).unwrap();
    assert_eq!(table.metadata().file_metadata().num_rows(), 2);
}

/// Takes some bytes, and then fails like a full disk.
struct Full(usize);

impl Write for Full {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.write(b"\0").map(drop)
    }
}

#[test]
fn a_full_disk_is_reported() {
    let (_folder, found) = search();
    let sizes = [
        written(|out| fdupes(&found, out)).len(),
        written(|out| json(&found, out)).len(),
        written(|out| csv(&found, out)).len(),
        written(|out| parquet(&found, out)).len(),
    ];
    // The last of these fails when it is flushed only.
    for missing in [9, 1, 0] {
        let left = sizes.map(|size| size - missing);
        let results = [
            fdupes(&found, &mut Full(left[0])),
            json(&found, &mut Full(left[1])),
            csv(&found, &mut Full(left[2])),
            parquet(&found, &mut Full(left[3])),
        ];
        for result in results {
            assert_eq!(result.unwrap_err().kind(), io::ErrorKind::StorageFull);
        }
    }
}
