use super::*;

/// Control characters of ASCII and of Latin-1, DEL, and what changes the direction of text.
const FOREIGN: &str = "fuse.\u{1b}]0;x\u{7}\u{7f}\u{9b}2J\u{202e}\r\n\u{e9}";

#[test]
fn foreign_text_stays_on_its_line() {
    assert_eq!(
        one_line(FOREIGN),
        "fuse.\\033]0;x\\a\\177\\302\\2332J\\342\\200\\256\\r\\n\u{e9}"
    );
    assert!(matches!(one_line("ext4, \u{e9}"), Cow::Borrowed(_)));
}

#[test]
fn messages_keep_their_lines() {
    assert_eq!(
        lines(FOREIGN),
        "fuse.\\033]0;x\\a\\177\\302\\2332J\u{202e}\\r\n\u{e9}"
    );
    assert_eq!(lines("a\tb\n"), "a\tb\n");
}

#[test]
fn every_control_character_is_escaped() {
    for number in (0..0x20).chain(0x7f..0xa0) {
        let character = char::from_u32(number).unwrap();
        let text = character.to_string();
        assert!(one_line(text.as_str()).is_ascii(), "{number:#x}");
        assert!(!one_line(text.as_str()).contains(character), "{number:#x}");
        let kept = matches!(character, '\0' | '\n' | '\t');
        assert_eq!(
            lines(text.as_str()).contains(character),
            kept,
            "{number:#x}"
        );
    }
}

#[test]
fn json_stays_json() {
    assert_eq!(json("{\n\"a\": \"b\"}".to_owned()), "{\n\"a\": \"b\"}");
    assert_eq!(
        json("[\"\u{7f}\u{9b}\u{e9}\u{202e}\"]".to_owned()),
        "[\"\\u007f\\u009b\u{e9}\\u202e\"]"
    );
}
