//! Unit tests of `completion.rs`.

use super::*;
use ringwalk_find::table::Argument;

#[test]
fn words_with_their_arguments() {
    let named = |wanted: &str| {
        let (_, entry) = words().find(|(name, _)| name == wanted).expect(wanted);
        entry.argument()
    };
    assert_eq!(named("-print"), None);
    assert_eq!(named("-not"), None);
    assert_eq!(named("-O3"), None);
    assert_eq!(named("-newerBt"), Some(Argument::File));
    assert_eq!(named("-execdir"), Some(Argument::Command));
    assert_eq!(named("-fprintf"), Some(Argument::File));
    assert_eq!(named("-name"), Some(Argument::Other));
    let types = ["b", "c", "d", "f", "l", "p", "s"].map(str::to_owned);
    assert_eq!(named("-xtype"), Some(Argument::OneOf(types.into())));
    assert!(words().all(|(name, _)| name != "-newerXY" && name != "("));
}

#[test]
fn lines_are_put_in() {
    assert_eq!(insert("a\nb\n", "a", "x\n"), Some("a\nx\nb\n".to_owned()));
    assert_eq!(insert("ab\n", "c", "x\n"), None);
}

/// A word that `find` does not take must not be offered. `-D` and `-fstype` take any word.
#[test]
fn what_is_offered_for_an_argument_is_taken_and_complete() {
    let takes = |words: [&str; 2]| {
        let arguments = words.into_iter().map(Into::into).collect();
        ringwalk_find::parse::parse(arguments).is_ok()
    };
    let offered = |wanted: &str| {
        let (_, entry) = words().find(|(name, _)| name == wanted).expect(wanted);
        match entry.argument() {
            Some(Argument::OneOf(offered)) => offered,
            other => panic!("{wanted} takes {other:?}"),
        }
    };
    let types = offered("-type");
    for letter in 'A'..='z' {
        let letter = letter.to_string();
        let listed = types.contains(&letter);
        assert_eq!(takes(["-type", &letter]), listed, "-type {letter}");
    }
    for syntax in offered("-regextype") {
        assert!(takes(["-regextype", &syntax]), "-regextype {syntax}");
    }
}
