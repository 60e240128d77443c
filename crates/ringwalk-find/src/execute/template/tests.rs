use super::*;

#[test]
fn every_pair_of_braces_is_replaced() {
    for (word, expected) in [
        ("{}", "f"),
        ("pre{}post{}", "prefpostf"),
        ("{{}}", "{f}"),
        ("{}{}", "ff"),
        ("{ }", "{ }"),
        ("", ""),
    ] {
        assert_eq!(&*replaced(word.as_bytes(), b"f"), expected.as_bytes());
    }
    // Text that was put in is not searched again.
    assert_eq!(&*replaced(b"{}", b"{}"), b"{}");
}

#[test]
fn the_question_shows_bytes_as_they_are() {
    let template = CommandTemplate {
        words: vec!["{}x".into(), "arg".into()],
        in_directory: true,
        many: false,
        ask: true,
    };
    assert_eq!(template.question(b"a/\x1bf"), b"< {}x ... a/\x1bf > ? ");
}
