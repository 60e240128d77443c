use super::*;

#[test]
fn lines_are_whole_before_they_are_shown() {
    let mut results = Results {
        is_terminal: true,
        line: Vec::new(),
    };
    // The parts of a character.
    for part in [&b"a\xc3"[..], b"\xa9\x1b", b"b\xc2"] {
        assert_eq!(results.write(part).unwrap(), part.len());
    }
    assert_eq!(results.line, b"a\xc3\xa9\x1bb\xc2");
    assert_eq!(shown(&results.line), "aé\\033b\u{fffd}".as_bytes());
}

#[test]
fn control_characters_of_all_kinds_are_escaped() {
    let text = b"a\x1b]0;x\x07\x7f\xc2\x9b\x9b\tb\r\nc\rd\n";
    let expected = "a\\033]0;x\\a\\177\\302\\233\u{fffd}\tb\nc\\rd\n";
    assert_eq!(String::from_utf8(shown(text)).unwrap(), expected);
}
