use super::*;
use crate::expression::Debug;

#[test]
fn every_word_is_in_the_help() {
    let text = help("find");
    for entry in entries().filter(|entry| entry.kind() != Kind::Leading) {
        for name in entry.names {
            assert!(
                text.contains(&format!("  {name}")) || *name == ")",
                "{name} is missing in\n{text}"
            );
        }
    }
    assert!(text.contains("  ( EXPRESSION )  !") && !text.contains(")  )"));
    assert!(
        text.lines().skip(5).all(|line| line.len() <= WIDTH),
        "{text}"
    );
}

#[test]
fn every_debug_word_is_explained() {
    let text = debug_help();
    let mut expected: Vec<String> = Debug::all().iter().map(Debug::word).collect();
    expected.extend(["all".to_owned(), "help".to_owned()]);
    let words: Vec<_> = debug_words().map(|(word, _)| word).collect();
    assert_eq!(words, expected);
    for word in words {
        assert!(
            text.contains(&format!("\n{word:<10} ")),
            "{word} is missing in\n{text}"
        );
    }
}
