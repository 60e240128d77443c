//! Unit tests of `words.rs`.

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
