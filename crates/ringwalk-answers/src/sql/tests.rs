//! Unit tests of `sql.rs`.

use super::*;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

fn table(path: &str) -> Table {
    Table {
        path: path.into(),
        columns: vec![Column::Mtime, Column::Ctime],
    }
}

fn of(path: &str) -> String {
    literal(&pattern(Path::new(path)).unwrap())
}

#[test]
fn quotes_end_no_literal() {
    assert_eq!(of("/it's"), "'/it''s'");
    assert_eq!(
        of("/'; DROP VIEW snapshot; --"),
        "'/''; DROP VIEW snapshot; --'"
    );
}

#[test]
fn control_characters_leave_no_line() {
    assert_eq!(of("/a\nb"), "'/a' || chr(10) || 'b'");
    assert_eq!(
        of("/\u{1b}[2J\u{202e}"),
        "'/' || chr(27) || '[[]2J' || chr(8238) || ''"
    );
}

#[test]
fn a_pattern_matches_only_the_file() {
    assert_eq!(of("/a*b?[c]"), "'/a[*]b[?][[]c]'");
    assert_eq!(of("/a\\b"), "'/a\\b'");
    let path = Path::new("/a\\*");
    assert_eq!(pattern(path), Err(NameError::Backslash(path.to_owned())));
    let path = Path::new(OsStr::from_bytes(b"/a\xff"));
    assert_eq!(pattern(path), Err(NameError::NotUtf8(path.to_owned())));
}

#[test]
fn one_snapshot_has_plain_names_and_several_have_numbers() {
    let one = views(&[table("/a.parquet")]).unwrap();
    for (name, _) in VIEWS {
        assert!(
            one.contains(&format!("CREATE OR REPLACE VIEW {name} AS\n")),
            "{one}"
        );
    }
    assert!(one.contains("read_parquet('/a.parquet')"), "{one}");
    let mtime = "CAST(s.mtime AS TIMESTAMP WITH TIME ZONE) AS mtime,\n  CAST(s.ctime";
    assert!(one.contains(mtime), "{one}");
    let two = views(&[table("/a{n}.parquet"), table("/b")]).unwrap();
    assert!(two.contains("VIEW entries2 AS"), "{two}");
    assert!(two.contains("FROM snapshot2 AS s"), "{two}");
    assert!(two.contains("read_parquet('/a{n}.parquet')"), "{two}");
    assert!(!two.contains("VIEW snapshot AS"), "{two}");
}
