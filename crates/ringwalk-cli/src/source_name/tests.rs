//! Unit tests of `source_name.rs`.

use super::*;

#[test]
fn completions_offer_every_source() {
    let offered: Vec<_> = SourceNameParser.possible_values().unwrap().collect();
    let names: Vec<_> = offered.iter().map(PossibleValue::get_name).collect();
    assert!(SourceChoice::names().eq(names));
    assert!(offered.iter().all(|value| value.get_help().is_some()));
}

#[test]
fn the_error_lists_what_there_is() {
    assert_eq!(parse_source("ring"), Ok(SourceChoice::Ring));
    let message = parse_source("rings").unwrap_err();
    assert!(message.contains("has auto, syscall, module, "), "{message}");
    for name in SourceChoice::names() {
        assert!(message.contains(name), "{message}");
    }
}
