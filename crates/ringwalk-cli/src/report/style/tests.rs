//! Unit tests of `style.rs`.

use super::*;

const PLAIN: Style = Style {
    terminal: false,
    columns: 80,
    bold: false,
    sizes: SizeFormat::Human,
    utf8: true,
};

#[test]
fn bars_grow_by_eighths_of_a_column() {
    assert_eq!(PLAIN.bar(16, 16, 2), "██");
    assert_eq!(PLAIN.bar(15, 16, 2), "█▉");
    assert_eq!(PLAIN.bar(1, 16, 2), "▏");
    assert_eq!(PLAIN.bar(0, 16, 2), "");
    assert_eq!(PLAIN.bar(0, 0, 2), "");
    assert_eq!(PLAIN.bar(u64::MAX, u64::MAX, 3), "███");
}

#[test]
fn without_utf_8_bars_are_number_signs() {
    let style = Style {
        utf8: false,
        ..PLAIN
    };
    assert_eq!(style.bar(15, 16, 4), "###");
}

#[test]
fn labels_keep_no_control_characters() {
    assert_eq!(PLAIN.label(b"a\n\x1b[2Jb"), "a??[2Jb");
    assert_eq!(PLAIN.label("é".as_bytes()), "é");
    let terminal = Style {
        terminal: true,
        ..PLAIN
    };
    assert_eq!(terminal.label(b"a\x1bb\n"), "a?b?");
}

#[test]
fn bold_text_ends_where_the_line_ends() {
    let style = Style {
        bold: true,
        ..PLAIN
    };
    assert_eq!(style.strong("head"), "\x1b[1mhead\x1b[0m");
    assert_eq!(PLAIN.strong("head"), "head");
}
