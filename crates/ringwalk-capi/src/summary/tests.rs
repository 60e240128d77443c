//! Unit tests of `summary.rs`.

use super::*;

#[test]
fn every_source_has_its_name() {
    for name in SourceChoice::names() {
        assert_eq!(source(name).to_str(), Ok(name));
    }
    assert_eq!(source("no source"), c"");
}

/// The header lists them for people.
#[test]
fn the_header_names_every_source() {
    let header = include_str!("../../include/ringwalk.h").replace("//", " ");
    let header: Vec<_> = header.split_whitespace().collect();
    let mut names: Vec<_> = SourceChoice::names().map(|n| format!("{n:?}")).collect();
    let last = names.pop().unwrap();
    let sentence = format!("read from: {} or {last}; NULL", names.join(", "));
    assert!(header.join(" ").contains(&sentence), "{sentence}");
}
