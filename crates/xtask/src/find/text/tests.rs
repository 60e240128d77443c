//! Unit tests of `text.rs`.

use super::*;

#[test]
fn every_directive_is_explained() {
    let (_, text) = AFTER[0];
    let items = text
        .lines()
        .filter_map(|line| line.strip_prefix("* ")?.split_once(": "));
    let explained: Vec<_> = items.flat_map(|(names, _)| names.split(", ")).collect();
    for directive in ringwalk_find::format::directives() {
        assert!(explained.contains(&directive.as_str()), "{directive}");
    }
}
