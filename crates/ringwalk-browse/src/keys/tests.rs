use super::*;
use std::collections::HashSet;

#[test]
fn no_key_stands_in_two_rows() {
    let mut seen = HashSet::new();
    for binding in &TABLE {
        assert!(!binding.keys.is_empty(), "{:?}", binding.action);
        for key in binding.keys {
            assert!(seen.insert(*key), "{key}");
        }
    }
}

#[test]
fn every_action_stands_in_one_row() {
    let actions: HashSet<Action> = TABLE.iter().map(|binding| binding.action).collect();
    assert_eq!(actions.len(), TABLE.len());
    let all = Action::Quit as usize + 1;
    assert_eq!(
        actions.len(),
        all,
        "a new action needs a row, and stands before the last one"
    );
}

#[test]
fn keys_as_text() {
    let keys = parse("j<enter>/-x '<lt>'<C-f>").unwrap();
    let expected = [
        Key::Char('j'),
        Key::Enter,
        Key::Char('/'),
        Key::Char('-'),
        Key::Char('x'),
        Key::Char(' '),
        Key::Char('\''),
        Key::Char('<'),
        Key::Char('\''),
        Key::Ctrl('f'),
    ];
    assert_eq!(keys, expected);
}

#[test]
fn unknown_names_are_refused() {
    assert!(parse("<nokey>").unwrap_err().contains("<nokey>"));
    assert!(parse("<enter").unwrap_err().contains("<lt>"));
    assert!(parse("<c-ab>").is_err());
    assert!(parse("<a\u{1b}[m>").unwrap_err().contains("a\\033[m"));
}
