//! Foreign text in messages: names, types and sources of file systems, device paths.
//!
//! Any user who may mount a file system or name a file chooses such text. The text must neither
//! command a terminal nor look like another line of a message. [`one_line`] escapes text for use in
//! a message. [`lines`] escapes the control characters of a whole message.
//!
//! Both write the escapes of C (`\n`, `\033`), so no information is lost.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true if `character` may stand in a message as it is.
///
/// Besides control characters, false for characters that break lines or change the direction of
/// text: these make a name look like another one.
pub fn is_plain(character: char) -> bool {
    let misleading = matches!(character,
        // Line and paragraph separators; marks, embeddings, overrides and isolates of direction.
        '\u{2028}' | '\u{2029}' | '\u{061c}' | '\u{200e}' | '\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}');
    !character.is_control() && !misleading
}

/// Returns `text` as part of one line, with all but [plain](is_plain) characters escaped.
pub fn one_line<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    escaped(text.into(), is_plain)
}

/// Returns `text` with its line breaks and tabs, and all other control characters escaped.
///
/// NUL stays, too: terminals ignore it, and GNU find has it in messages about formats.
pub fn lines<'t>(text: impl Into<Cow<'t, str>>) -> Cow<'t, str> {
    escaped(text.into(), |character| {
        !character.is_control() || matches!(character, '\0' | '\n' | '\t')
    })
}

/// Returns `json`, the output of a serializer, with all but plain characters as escapes of JSON.
///
/// Serializers escape the first 32 control characters only. The others occur only in strings.
pub fn json(json: String) -> String {
    let is_kept = |character: char| is_plain(character) || character == '\n';
    if json.chars().all(is_kept) {
        return json;
    }
    let mut out = String::with_capacity(json.len());
    for character in json.chars() {
        if is_kept(character) {
            out.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    }
    out
}

fn escaped(text: Cow<'_, str>, is_kept: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&is_kept) {
        return text;
    }
    let mut out = String::with_capacity(text.len() + 8);
    for character in text.chars() {
        if is_kept(character) {
            out.push(character);
        } else {
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                push_escape(byte, &mut out);
            }
        }
    }
    out.into()
}

/// Appends `byte` as C writes it in a string: a letter if it has one, else three octal digits.
pub fn push_escape(byte: u8, out: &mut String) {
    out.push('\\');
    match byte {
        7 => out.push('a'),
        8 => out.push('b'),
        b'\t' => out.push('t'),
        b'\n' => out.push('n'),
        11 => out.push('v'),
        12 => out.push('f'),
        b'\r' => out.push('r'),
        _ => {
            for shift in [6, 3, 0] {
                out.push(char::from(b'0' + (byte >> shift & 7)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
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
}
