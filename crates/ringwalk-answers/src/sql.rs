//! Views for DuckDB: snapshots as tables, with names and owners.
//!
//! `docs/sql.md` describes the views. They read the names of owners and the roots from the footer
//! of the file, so they are short and hold for any reader of the file.

use ringwalk_snapshot::{Column, Snapshot, Values};
use std::fmt::{self, Write};
use std::path::{Path, PathBuf};

/// A view: its name without the number of the snapshot, and the query behind it. `{glob}` stands
/// for the file, `{n}` for the number of the snapshot, `{times}` for times that DuckDB compares
/// with other times: version 2.0 has no functions for those in nanoseconds.
const VIEWS: [(&str, &str); 8] = [
    ("snapshot", "SELECT * FROM read_parquet({glob})"),
    (
        "roots",
        "\
SELECT CAST(item.key AS INTEGER) AS root, json_extract_string(item.value, '$.path') AS root_path
FROM parquet_kv_metadata({glob}) AS footer, json_each(decode(footer.value)) AS item
WHERE decode(footer.key) = 'ringwalk.roots'",
    ),
    (
        "users",
        "\
SELECT CAST(item.key AS UINTEGER) AS uid, json_extract_string(item.value, '$') AS owner
FROM parquet_kv_metadata({glob}) AS footer, json_each(decode(footer.value)) AS item
WHERE decode(footer.key) = 'ringwalk.users'",
    ),
    (
        "groups",
        "\
SELECT CAST(item.key AS UINTEGER) AS gid, json_extract_string(item.value, '$') AS group_name
FROM parquet_kv_metadata({glob}) AS footer, json_each(decode(footer.value)) AS item
WHERE decode(footer.key) = 'ringwalk.groups'",
    ),
    (
        "entries",
        "\
SELECT s.* REPLACE ({times}), regexp_extract(s.path, '[^/]*$') AS name,
  CASE WHEN s.path = '' THEN r.root_path
    ELSE rtrim(r.root_path, '/') || '/' || s.path END AS full_path,
  coalesce(u.owner, CAST(s.uid AS VARCHAR)) AS owner,
  coalesce(g.group_name, CAST(s.gid AS VARCHAR)) AS group_name
FROM snapshot{n} AS s
LEFT JOIN roots{n} AS r ON s.root = r.root
LEFT JOIN users{n} AS u ON s.uid = u.uid
LEFT JOIN groups{n} AS g ON s.gid = g.gid",
    ),
    ("files", "SELECT * FROM entries{n} WHERE type = 'f'"),
    ("directories", "SELECT * FROM entries{n} WHERE type = 'd'"),
    ("errors", "SELECT * FROM entries{n} WHERE errno IS NOT NULL"),
];

/// A file whose name DuckDB cannot read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NameError {
    /// The name is not UTF-8.
    NotUtf8(PathBuf),
    /// The name has a backslash beside `*`, `?` or `[`. Then DuckDB treats a backslash as a slash.
    Backslash(PathBuf),
}

impl NameError {
    /// Returns the name.
    pub fn path(&self) -> &Path {
        match self {
            Self::NotUtf8(path) | Self::Backslash(path) => path,
        }
    }
}

impl fmt::Display for NameError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotUtf8(_) => "DuckDB reads no file whose name is not UTF-8",
            Self::Backslash(_) => {
                "DuckDB reads no file whose name has a backslash and one of the characters *?["
            }
        })
    }
}

impl std::error::Error for NameError {}

/// A snapshot that is to have views.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Table {
    path: PathBuf,
    columns: Vec<Column>,
}

impl Table {
    /// Creates the table of an open snapshot. DuckDB treats some relative paths as names of remote
    /// files, so `path` should be absolute.
    pub fn new(path: &Path, snapshot: &Snapshot) -> Self {
        let is_time = |column: &Column| column.facts().values == Values::Time;
        let times = Column::all().filter(|column| is_time(column) && snapshot.has(*column));
        Self {
            path: path.to_owned(),
            columns: times.collect(),
        }
    }

    /// Returns the times in microseconds, under their names.
    fn times(&self) -> String {
        let time = |column: &Column| {
            let name = column.name();
            format!("CAST(s.{name} AS TIMESTAMP WITH TIME ZONE) AS {name}")
        };
        self.columns
            .iter()
            .map(time)
            .collect::<Vec<_>>()
            .join(",\n  ")
    }
}

/// Returns the definitions of the views of some snapshots, as SQL.
///
/// With one snapshot the views have the names `snapshot`, `entries`, `files`, and so on. With
/// several, a number from 1 follows each name.
///
/// # Errors
///
/// When DuckDB cannot read a file of such a name.
pub fn views(tables: &[Table]) -> Result<String, NameError> {
    let mut out = String::new();
    for (at, table) in tables.iter().enumerate() {
        let number = match tables.len() {
            1 => String::new(),
            _ => (at + 1).to_string(),
        };
        let file = literal(&pattern(&table.path)?);
        for (name, query) in VIEWS {
            // The path comes last: it may contain `{n}`.
            let query = query.replace("{n}", &number);
            let query = query.replace("{times}", &table.times());
            let query = query.replace("{glob}", &file);
            // Writing to a string cannot fail.
            let _ = writeln!(out, "CREATE OR REPLACE VIEW {name}{number} AS\n{query};\n");
        }
    }
    out.truncate(out.trim_end().len());
    out.push('\n');
    Ok(out)
}

/// Returns a pattern of DuckDB that only this file matches.
fn pattern(path: &Path) -> Result<String, NameError> {
    let Some(text) = path.to_str() else {
        return Err(NameError::NotUtf8(path.to_owned()));
    };
    if !text.contains(['*', '?', '[']) {
        return Ok(text.to_owned());
    }
    if text.contains('\\') {
        return Err(NameError::Backslash(path.to_owned()));
    }
    let mut pattern = String::new();
    for character in text.chars() {
        match character {
            '*' | '?' | '[' => {
                pattern.push('[');
                pattern.push(character);
                pattern.push(']');
            }
            other => pattern.push(other),
        }
    }
    Ok(pattern)
}

/// Returns an expression of SQL that is `text`. It has no control characters, so it stays on its
/// line and is harmless on a terminal.
fn literal(text: &str) -> String {
    let mut out = String::from("'");
    for character in text.chars() {
        match character {
            '\'' => out.push_str("''"),
            character if ringwalk::shown::is_plain(character) => out.push(character),
            character => {
                // Writing to a string cannot fail.
                let _ = write!(out, "' || chr({}) || '", u32::from(character));
            }
        }
    }
    out.push('\'');
    out
}

#[cfg(test)]
mod tests {
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
}
