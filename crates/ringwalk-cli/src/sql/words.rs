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
mod tests;
