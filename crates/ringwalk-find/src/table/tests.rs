//! Properties of all entries, and the search for words.

use super::*;
use crate::expression::TypeSet;
use crate::regex::Syntax;
use crate::time::Time;

#[test]
fn every_name_is_there_once_and_finds_its_entry() {
    let mut seen = std::collections::HashSet::new();
    for entry in entries() {
        assert!(!entry.text.is_empty(), "{entry:?}");
        for name in entry.names {
            assert!(
                seen.insert((*name, entry.kind() == Kind::Leading)),
                "{name} twice"
            );
            if entry.kind() != Kind::Leading {
                assert_eq!(
                    find(name.as_bytes()).expect(name).meaning,
                    entry.meaning,
                    "{name}"
                );
            }
        }
    }
}

#[test]
fn summaries_are_short() {
    for entry in entries() {
        let summary = entry.summary();
        assert!(
            (3..=140).contains(&summary.len()),
            "{:?}: {summary}",
            entry.names
        );
        assert!(!summary.contains('\n'), "{summary}");
    }
}

#[test]
fn operators_may_have_a_hyphen() {
    assert_eq!(
        find(b"-!").map(|entry| entry.meaning),
        Some(Meaning::Operator(OperatorWord::Not))
    );
    assert_eq!(
        find(b"-,").map(|entry| entry.meaning),
        Some(Meaning::Operator(OperatorWord::Comma))
    );
    assert!(find(b"--").is_none());
    assert!(find(b"--name").is_none());
    assert!(find(b"-").is_none());
}

#[test]
fn any_two_letters_may_follow_newer() {
    assert_eq!(
        find(b"-newermt").map(|entry| entry.meaning),
        Some(Meaning::Test(TestWord::NewerXY))
    );
    assert_eq!(
        find(b"-newer??").map(|entry| entry.meaning),
        Some(Meaning::Test(TestWord::NewerXY))
    );
    assert!(find(b"-newerm").is_none());
    assert!(find(b"-newermtt").is_none());
    assert_eq!(
        find(b"-newer").map(|entry| entry.meaning),
        Some(Meaning::Test(TestWord::Newer))
    );
}

#[test]
fn what_is_nearest() {
    for (written, meant) in [
        ("-nam", Some("-name")),
        ("-naem", Some("-name")),
        ("--name", Some("-name")),
        ("-max-depth", Some("-maxdepth")),
        ("-maxdeph", Some("-maxdepth")),
        ("-print1", Some("-print")),
        ("-printO", Some("-print")),
        ("-exce", Some("-exec")),
        ("-foo", None),
        ("-x", None),
        ("-completely-different", None),
    ] {
        assert_eq!(nearest(written.as_bytes()), meant, "{written}");
    }
}

#[test]
fn distances() {
    assert_eq!(distance(b"", b"abc"), 3);
    assert_eq!(distance(b"abc", b"abc"), 0);
    assert_eq!(distance(b"acb", b"abc"), 1);
    assert_eq!(distance(b"kitten", b"sitting"), 3);
}

/// Returns the terms of the items in the text of a word.
fn items(word: &str) -> Vec<&'static str> {
    let text = find(word.as_bytes()).expect(word).text;
    let items = text.lines().filter_map(|line| line.strip_prefix("* "));
    items
        .filter_map(|item| Some(item.split_once(": ")?.0))
        .collect()
}

#[test]
fn the_manual_lists_all_types_times_and_syntaxes() {
    let types = TypeSet::LETTERS.map(|(letter, _)| char::from(letter).to_string());
    assert_eq!(items("-type"), types);
    let times = Time::LETTERS.map(|(letter, _)| char::from(letter).to_string());
    assert_eq!(items("-newerXY")[..4], times);
    let text = find(b"-regextype").expect("-regextype").text;
    let words: Vec<_> = text.split([' ', ',', '.']).collect();
    for name in Syntax::names() {
        assert!(words.contains(&name), "{name}");
    }
}
