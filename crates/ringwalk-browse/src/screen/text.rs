//! Foreign text on the screen: made safe, and cut to a number of columns.
//!
//! Everybody may choose names of files. On the screen a name must neither command the terminal nor
//! move what stands behind it. So every text that may hold a name goes through [`safe`].

use ringwalk::shown::{is_plain, push_escape};
use std::fmt::Write as _;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// At most this many combining marks stay with a character. Languages need up to three; more pile
/// up over other lines.
const MOST_MARKS: usize = 4;

/// Stands where a text was cut. It is ASCII, since terminals disagree on the width of an ellipsis.
const CUT: char = '~';

/// Returns bytes as text that cannot disturb the screen.
///
/// These are written as escapes of C, such as `\n` or `\342\200\256`:
/// - control characters, and bytes that are not UTF-8
/// - characters that change the direction of text or break lines
/// - characters without a width: joiners, selectors, tags; and marks that do not follow a character
///   or follow too many of their kind
pub(crate) fn safe(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    for chunk in name.utf8_chunks() {
        // A mark at the begin, or behind an escape, would join with a character of ours.
        let mut marks = MOST_MARKS;
        for character in chunk.valid().chars() {
            let width = character.width().unwrap_or(0);
            let is_mark = width == 0 && is_combining(character);
            let is_shown = is_plain(character)
                && !is_blank(character)
                && (width > 0 || (is_mark && marks < MOST_MARKS));
            if is_shown {
                marks = if is_mark { marks + 1 } else { 0 };
                out.push(character);
                continue;
            }
            marks = MOST_MARKS;
            for byte in character.encode_utf8(&mut [0; 4]).bytes() {
                push_escape(byte, &mut out);
            }
        }
        for &byte in chunk.invalid() {
            push_escape(byte, &mut out);
        }
    }
    out
}

/// Returns true for a character that combines with the one before: a mark, or a vowel or final
/// consonant of Hangul. Other characters without a width only hide or join.
fn is_combining(character: char) -> bool {
    !matches!(character,
        '\u{00ad}' | '\u{034f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Returns true for characters that are invisible, or look like a space but are neither U+0020 nor
/// U+3000.
fn is_blank(character: char) -> bool {
    matches!(character, '\u{00ad}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}')
        || (character.is_whitespace() && character != ' ' && character != '\u{3000}')
}

/// Returns the columns that a safe text takes.
pub(crate) fn columns(text: &str) -> usize {
    text.width()
}

/// Returns a safe text cut to a number of columns. If something was cut off, its end says so.
pub(crate) fn fit(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    if most == 0 {
        return String::new();
    }
    // One column stays for the sign.
    let mut out = text[..end_within(text, most - 1)].to_owned();
    out.push(CUT);
    out
}

/// Returns a safe text cut at its begin to a number of columns.
pub(crate) fn fit_end(text: &str, most: usize) -> String {
    if columns(text) <= most {
        return text.to_owned();
    }
    let mut used = 0;
    let mut begin = text.len();
    for (at, character) in text.char_indices().rev() {
        let width = character.width().unwrap_or(0);
        if used + width + 1 > most {
            break;
        }
        used += width;
        // A mark stays with its character.
        if width > 0 {
            begin = at;
        }
    }
    let sign = if most > 0 {
        CUT.to_string()
    } else {
        String::new()
    };
    sign + &text[begin..]
}

/// Returns a safe text in exactly this many columns, filled with spaces.
pub(crate) fn padded(text: &str, width: usize) -> String {
    let mut out = fit(text, width);
    let missing = width.saturating_sub(columns(&out));
    let _ = write!(out, "{:missing$}", "");
    out
}

/// Returns a safe text in exactly this many columns, at their right end.
pub(crate) fn padded_left(text: &str, width: usize) -> String {
    let text = fit(text, width);
    let missing = width.saturating_sub(columns(&text));
    format!("{:missing$}{text}", "")
}

/// Returns safe text in lines of at most this many columns, broken at spaces where possible.
pub(crate) fn wrapped(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ') {
        let mut word = word.to_owned();
        if !line.is_empty() && columns(&line) + 1 + columns(&word) > width {
            lines.push(std::mem::take(&mut line));
        }
        while columns(&word) > width {
            let end = end_within(&word, width);
            // A wide character does not fit into one column.
            if end == 0 {
                break;
            }
            lines.push(word[..end].to_owned());
            word.drain(..end);
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(&word);
    }
    lines.push(line);
    lines
}

/// Returns the length in bytes of the longest begin of a text within a number of columns. Marks
/// stay with their character.
fn end_within(text: &str, most: usize) -> usize {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += character.width().unwrap_or(0);
        if used > most {
            return at;
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn names_that_command_terminals_are_escaped() {
        assert_eq!(safe(b"a\x1b[2Jb\n"), "a\\033[2Jb\\n");
        assert_eq!(safe("x\u{9b}m".as_bytes()), "x\\302\\233m");
        assert_eq!(safe(b"\x7f"), "\\177");
    }

    #[test]
    fn names_that_mislead_are_escaped() {
        assert_eq!(safe("gnp\u{202e}exe".as_bytes()), "gnp\\342\\200\\256exe");
        assert_eq!(safe("a\u{200b}b".as_bytes()), "a\\342\\200\\213b");
        assert_eq!(safe("a\u{a0}b".as_bytes()), "a\\302\\240b");
        // A joiner would make one picture of several.
        assert!(safe("\u{1f468}\u{200d}\u{1f469}".as_bytes()).contains("\\342\\200\\215"));
        assert!(safe("\u{2764}\u{fe0f}".as_bytes()).contains("\\357\\270\\217"));
    }

    #[test]
    fn bytes_that_are_not_text_are_escaped() {
        assert_eq!(safe(b"a\xffb\xc3"), "a\\377b\\303");
    }

    #[test]
    fn letters_of_the_world_stay() {
        for name in [
            "tête",
            "te\u{302}te",
            "漢字",
            "한글",
            "\u{1112}\u{1161}\u{11ab}",
            "ภาษาไทย",
            "🎉",
        ] {
            assert_eq!(safe(name.as_bytes()), name);
        }
    }

    #[test]
    fn marks_without_a_letter_and_piles_of_marks_are_escaped() {
        assert!(safe("\u{301}a".as_bytes()).starts_with("\\314\\201a"));
        let pile = format!("a{}", "\u{301}".repeat(20));
        assert_eq!(safe(pile.as_bytes()).matches('\u{301}').count(), 4);
        // A mark behind an escape has no letter either.
        assert_eq!(safe(b"\xff\xcc\x81"), "\\377\\314\\201");
    }

    #[test]
    fn cut_texts_say_so() {
        assert_eq!(fit("abcdef", 6), "abcdef");
        assert_eq!(fit("abcdef", 5), "abcd~");
        assert_eq!(fit("漢字漢", 5), "漢字~");
        assert_eq!(fit("漢字漢", 4), "漢~");
        assert_eq!(fit("abc", 0), "");
        assert_eq!(fit_end("abcdef", 4), "~def");
        assert_eq!(fit_end("xe\u{301}e\u{301}", 2), "~e\u{301}");
        assert_eq!(padded("漢字漢", 4), "漢~ ");
        assert_eq!(padded_left("12", 4), "  12");
    }

    #[test]
    fn long_lines_are_wrapped() {
        assert_eq!(wrapped("one two three", 7), ["one two", "three"]);
        assert_eq!(wrapped("abcdefgh", 3), ["abc", "def", "gh"]);
        assert_eq!(wrapped("", 3), [""]);
    }

    proptest! {
        #[test]
        fn safe_names_fit_and_hold_nothing_special(
            name in prop::collection::vec(any::<u8>(), 0..40),
            text in ".{0,20}",
            most in 0usize..30,
        ) {
            for name in [name.as_slice(), text.as_bytes()] {
                let safe = safe(name);
                prop_assert!(safe.chars().all(is_plain));
                for cut in [fit(&safe, most), fit_end(&safe, most)] {
                    prop_assert!(columns(&cut) <= most, "{cut:?}");
                }
                prop_assert_eq!(columns(&padded(&safe, most)), most);
                for line in wrapped(&safe, most + 2) {
                    prop_assert!(columns(&line) <= most + 2, "{line:?}");
                }
            }
        }
    }
}
