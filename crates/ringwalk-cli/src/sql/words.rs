//! Which words of the command line are snapshots, and which one is the query.

use crate::quote::quoted;
use std::ffi::{OsStr, OsString};
use std::path::Path;

/// The words of the command line.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Words<'a> {
    /// Names of files, at least one.
    pub(super) snapshots: &'a [OsString],
    /// SQL.
    pub(super) query: Option<&'a str>,
}

impl<'a> Words<'a> {
    /// Divides words. The last one is a query if it looks like one and is the name of no file.
    ///
    /// # Errors
    ///
    /// A message if there is no snapshot, or if the query is not UTF-8.
    pub(super) fn of(words: &'a [OsString]) -> Result<Self, String> {
        let Some((last, snapshots)) = words.split_last() else {
            return Err("expected a snapshot".to_owned());
        };
        if !is_query(last) {
            return Ok(Self {
                snapshots: words,
                query: None,
            });
        }
        if snapshots.is_empty() {
            let query = quoted(last);
            return Err(format!("expected a snapshot before the query {query}"));
        }
        let query = last.to_str().ok_or("the query is not UTF-8")?;
        Ok(Self {
            snapshots,
            query: Some(query),
        })
    }
}

/// Returns true for a text of several words that does not look like a path. A command of the
/// program `duckdb`, such as `.tables`, is a query, too.
fn is_query(word: &OsStr) -> bool {
    let bytes = word.as_encoded_bytes();
    let is_path = [&b"/"[..], b"./", b"../", b"~"]
        .iter()
        .any(|start| bytes.starts_with(start));
    let several = bytes
        .iter()
        .any(|byte| byte.is_ascii_whitespace() || *byte == b';');
    let command =
        bytes.len() > 1 && bytes[0] == b'.' && bytes[1..].iter().all(u8::is_ascii_lowercase);
    (several || command) && !is_path && !bytes.ends_with(b".parquet") && !Path::new(word).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(words: &[&str]) -> Result<(usize, Option<String>), String> {
        let words: Vec<_> = words.iter().map(OsString::from).collect();
        let words = Words::of(&words)?;
        Ok((words.snapshots.len(), words.query.map(str::to_owned)))
    }

    #[test]
    fn the_last_word_may_be_a_query() {
        let query = |text: &str| Some(text.to_owned());
        assert_eq!(of(&["a.parquet", "SELECT 1"]), Ok((1, query("SELECT 1"))));
        assert_eq!(
            of(&["a", "b", "FROM\nfiles"]),
            Ok((2, query("FROM\nfiles")))
        );
        assert_eq!(of(&["a", "CHECKPOINT;"]), Ok((1, query("CHECKPOINT;"))));
        assert_eq!(of(&["a", ".tables"]), Ok((1, query(".tables"))));
        assert_eq!(of(&["a", "-- comment\nSELECT '.parquet' "]).unwrap().0, 1);
    }

    #[test]
    fn names_of_files_are_no_queries() {
        for name in [
            "b.parquet",
            "my snapshot.parquet",
            "/my snapshot",
            "./my snapshot",
            "../my snapshot",
            "~/my snapshot",
            "snapshot",
            "..",
            ".hidden-file",
        ] {
            assert_eq!(of(&["a", name]), Ok((2, None)), "{name}");
        }
    }

    #[test]
    fn a_file_that_is_there_is_no_query() {
        let folder = tempfile::tempdir().unwrap();
        let name = folder.path().join("SELECT 1");
        let words = [name.clone().into_os_string(), name.clone().into_os_string()];
        std::fs::write(&name, "").unwrap();
        assert_eq!(Words::of(&words).unwrap().query, None);
    }

    #[test]
    fn a_query_needs_a_snapshot() {
        assert!(of(&["SELECT 1"]).unwrap_err().contains("'SELECT 1'"));
        assert!(of(&[]).is_err());
    }
}
