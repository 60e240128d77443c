//! Names in messages, quoted as GNU's programs quote them. [`file()`] and [`file_always`] quote for
//! pasting into a shell. [`value`] puts the locale's quotes around text with C escapes.

use crate::locale::{first, utf8};
use ringwalk::shown::push_escape;

/// Returns a file's name, quoted only if a shell would misread it: `name`, `'two words'`.
pub fn file(name: &[u8]) -> String {
    shell(name, false, utf8())
}

/// Returns a file's name, always quoted.
pub fn file_always(name: &[u8]) -> String {
    shell(name, true, utf8())
}

/// Returns an argument's value, between single quotes (‘these’ in UTF-8).
pub fn value(text: &[u8]) -> String {
    locale_quoted(text, utf8())
}

/// A character of a name, or a byte that is part of no character.
type Unit = Result<char, u8>;

fn units(text: &[u8], utf8: bool) -> impl Iterator<Item = (Unit, &[u8])> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (unit, length) = first(rest, utf8)?;
        let (head, tail) = rest.split_at(length);
        rest = tail;
        Some((unit, head))
    })
}

/// Returns true if a terminal shows the character, as in C's `iswprint`. Unassigned characters
/// count as printable.
fn printable(unit: Unit) -> bool {
    unit.is_ok_and(|c| !c.is_control() && !matches!(c, '\u{2028}' | '\u{2029}'))
}

/// Returns true if a shell could misread the character. `alone`: the character is the whole name.
fn special(c: char, at: usize, alone: bool) -> bool {
    match c {
        '{' | '}' => alone,
        '#' | '~' => at == 0,
        ' ' | '!' | '"' | '$' | '&' | '(' | ')' | '*' | ';' | '<' | '=' | '>' | '[' | '^' | '`'
        | '|' | '?' | '\\' | '\''
        // No shell needs quotes here, but in `name: message` the colon would be misread.
        | ':' => true,
        _ => false,
    }
}

/// Returns true if the character stands for itself between double quotes, by GNU's cautious list.
fn plain_in_double_quotes(c: char, at: usize, alone: bool) -> bool {
    match c {
        '{' | '}' => alone,
        '#' | '~' => at == 0,
        '!' | '"' | '$' | '&' | '(' | ')' | '*' | ';' | '<' | '=' | '>' | '[' | '^' | '`' | '|'
        | '?' | '\\' => false,
        _ => printable(Ok(c)),
    }
}

fn shell(name: &[u8], always: bool, utf8: bool) -> String {
    let alone = name.len() == 1;
    let suspicious = |(at, (unit, _)): (usize, (Unit, &[u8]))| {
        !printable(unit) || unit.is_ok_and(|c| special(c, at, alone))
    };
    if !always && !name.is_empty() && !units(name, utf8).enumerate().any(suspicious) {
        return String::from_utf8_lossy(name).into_owned();
    }
    let quoted = name.contains(&b'\'');
    let simple = units(name, utf8)
        .enumerate()
        .all(|(at, (unit, _))| unit.is_ok_and(|c| plain_in_double_quotes(c, at, alone)));
    if quoted && simple {
        return format!("\"{}\"", String::from_utf8_lossy(name));
    }
    single_quoted(name, quoted, utf8)
}

/// Writes a name between single quotes, with characters that cannot be shown between `$'` and `'`.
fn single_quoted(name: &[u8], quoted: bool, utf8: bool) -> String {
    let mut out = String::from("'");
    // GNU reads a name with a quote in it twice, and keeps this state from the first reading. So
    // such a name that ends in an escape begins as if an escape had just ended.
    let mut escaping = quoted && units(name, utf8).last().is_some_and(|(u, _)| !printable(u));
    for (unit, bytes) in units(name, utf8) {
        match unit {
            Ok('\'') => {
                out.push_str("'\\''");
                escaping = false;
            }
            Ok(c) if printable(unit) => {
                if escaping {
                    out.push_str("''");
                    escaping = false;
                }
                out.push(c);
            }
            _ => {
                if !escaping {
                    out.push_str("'$'");
                    escaping = true;
                }
                for byte in bytes {
                    push_escape(*byte, &mut out);
                }
            }
        }
    }
    out.push('\'');
    out
}

fn locale_quoted(text: &[u8], utf8: bool) -> String {
    let (open, close) = if utf8 { ('‘', '’') } else { ('\'', '\'') };
    let mut out = String::from(open);
    for (unit, bytes) in units(text, utf8) {
        match unit {
            Ok(c) if c == '\\' || c == close => {
                out.push('\\');
                out.push(c);
            }
            Ok(c) if printable(unit) => out.push(c),
            _ => bytes.iter().for_each(|byte| push_escape(*byte, &mut out)),
        }
    }
    out.push(close);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names, and how GNU du 9.1 wrote them in "cannot access" in the C locale.
    const ALWAYS: &[(&[u8], &str)] = &[
        (b"", "''"),
        (b"nx", "'nx'"),
        (b"n x", "'n x'"),
        (b"n'x", "\"n'x\""),
        (b"n\"x", "'n\"x'"),
        (b"n\nx", "'n'$'\\n''x'"),
        (b"n\x01x", "'n'$'\\001''x'"),
        (b"\xc3\xa9", "''$'\\303\\251'"),
        (b"n'\xff", "'''n'\\'''$'\\377'"),
        (b"n'\n\"", "'n'\\'''$'\\n''\"'"),
        (b"a'b\tc", "'a'\\''b'$'\\t''c'"),
        (b"\x01\x02", "''$'\\001\\002'"),
        (b"'\x01'", "''\\'''$'\\001'\\'''"),
        (b"\x01'\x01", "'\\001'\\'''$'\\001'"),
        (b"''", "\"''\""),
        (b"\"'", "'\"'\\'''"),
    ];

    #[test]
    fn always() {
        for (name, expected) in ALWAYS {
            assert_eq!(&shell(name, true, false), expected, "{name:?}");
        }
    }

    #[test]
    fn only_if_needed() {
        for name in [
            "nx", "a~", "a#", "a{", "{}", "a,b", "a%b", "a@b", "a+b", "]", "%", "-x",
        ] {
            assert_eq!(shell(name.as_bytes(), false, false), name);
        }
        for name in [
            "n x", "~x", "#x", "{", "}", "[a]", "a*", "a?", "a=b", "a:b", "a^b", "a!b", "a\\b",
            "a|b", "a(b", "a&b", "a;b", "a<b", "a$b", "a`b", "!", "",
        ] {
            assert_eq!(
                shell(name.as_bytes(), false, false),
                format!("'{name}'"),
                "{name}"
            );
        }
    }

    #[test]
    fn utf8_is_shown() {
        assert_eq!(shell("é".as_bytes(), true, true), "'é'");
        assert_eq!(shell("é".as_bytes(), false, true), "é");
        assert_eq!(shell("n'é".as_bytes(), false, true), "\"n'é\"");
        assert_eq!(shell("\u{80}".as_bytes(), true, true), "''$'\\302\\200'");
        assert_eq!(shell(b"n'\xc3\xa9\xff", true, true), "'''n'\\''é'$'\\377'");
    }

    #[test]
    fn values() {
        assert_eq!(locale_quoted(b"x'y", false), "'x\\'y'");
        assert_eq!(locale_quoted(b"x'y", true), "‘x'y’");
        assert_eq!(locale_quoted(b"a\nb\x01\\\"", false), "'a\\nb\\001\\\\\"'");
        assert_eq!(locale_quoted("é".as_bytes(), false), "'\\303\\251'");
        assert_eq!(locale_quoted("é".as_bytes(), true), "‘é’");
    }
}
