//! Text of others in a page: names, paths, owners.
//!
//! Bytes that are not UTF-8 are written as in the column `path` of a snapshot. Characters that
//! control, break or turn text are written as escapes of Rust, so no name looks like another one
//! or like a part of the page.

use ringwalk::shown::is_plain;
use ringwalk_text::escaped;
use std::fmt::Write as _;

/// Returns text with escapes in place of all characters that are not plain.
pub(super) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            _ if is_plain(character) => out.push(character),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            // Writing to a string cannot fail.
            _ => drop(write!(out, "\\u{{{:x}}}", u32::from(character))),
        }
    }
    out
}

/// Returns bytes as text, as [`visible`] does.
pub(super) fn visible_bytes(bytes: &[u8]) -> String {
    visible(&escaped(bytes))
}

/// Characters of a path in a table. Longer ones lose their middle.
const LONGEST: usize = 500;

/// Returns a path for a table.
pub(super) fn visible_path(path: &[u8]) -> String {
    let path = visible_bytes(path);
    let length = path.chars().count();
    if length <= LONGEST {
        return path;
    }
    let first: String = path.chars().take(LONGEST / 2).collect();
    let last = path.chars().skip(length - LONGEST / 2);
    first + "…" + &last.collect::<String>()
}

/// Appends text as text of HTML, which may also stand in an attribute.
pub(super) fn push_html(text: &str, out: &mut String) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            _ => out.push(character),
        }
    }
}

/// Returns text as text of HTML.
pub(super) fn html(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    push_html(text, &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_turns_or_breaks_text() {
        let bytes = b"a\n\r\t\x1b\x7f\xff\xe2\x80\xae\xc3\xa9\\";
        let expected = "a\\n\\r\\t\\u{1b}\\u{7f}\\xff\\u{202e}é\\";
        assert_eq!(visible_bytes(bytes), expected);
    }

    #[test]
    fn markup_is_text() {
        let shown = html("</script><a b=\"c\" d='e'>&amp;");
        let expected = "&lt;/script&gt;&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;amp;";
        assert_eq!(shown, expected);
    }

    #[test]
    fn a_long_path_loses_its_middle() {
        let path = [&b"a"[..], &[b'/'; 2000], "é".as_bytes()].concat();
        let shown = visible_path(&path);
        assert_eq!(shown.chars().count(), LONGEST + 1);
        assert!(shown.starts_with("a/") && shown.contains("/…/") && shown.ends_with("/é"));
        assert_eq!(visible_path(b"short"), "short");
    }
}
