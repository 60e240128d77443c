//! Text split into words as a shell does.

use std::ffi::OsString;
use std::iter::Peekable;
use std::str::Chars;

/// Splits text at white space. Quotes and backslashes have the meaning that they have in a POSIX
/// shell; nothing else is special, so `*`, `$`, `(` and `;` need no quotes.
///
/// # Errors
///
/// A message, if a quote is not closed or the text ends with a backslash.
pub fn split(text: &str) -> Result<Vec<OsString>, String> {
    let mut words = Vec::new();
    // `None` between words. A word may be empty: ''.
    let mut word: Option<String> = None;
    let mut rest = text.chars().peekable();
    while let Some(next) = rest.next() {
        if next.is_whitespace() {
            words.extend(word.take().map(OsString::from));
            continue;
        }
        let word = word.get_or_insert_default();
        match next {
            '\'' => single(&mut rest, word)?,
            '"' => double(&mut rest, word)?,
            '\\' => {
                let escaped = rest.next();
                word.push(escaped.ok_or("the text ends with a backslash: expected a character")?);
            }
            other => word.push(other),
        }
    }
    words.extend(word.map(OsString::from));
    Ok(words)
}

/// Reads up to the next single quote. Nothing is special.
fn single(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    for next in rest {
        if next == '\'' {
            return Ok(());
        }
        word.push(next);
    }
    Err("a quote is not closed: expected '".to_owned())
}

/// Reads up to the next double quote. A backslash is special before some characters only.
fn double(rest: &mut Peekable<Chars<'_>>, word: &mut String) -> Result<(), String> {
    while let Some(next) = rest.next() {
        match next {
            '"' => return Ok(()),
            '\\' => match rest.next_if(|escaped| matches!(escaped, '"' | '\\' | '$' | '`')) {
                Some(escaped) => word.push(escaped),
                None => word.push('\\'),
            },
            other => word.push(other),
        }
    }
    Err("a quote is not closed: expected \"".to_owned())
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn words_are_split_as_a_shell_splits_them() {
        for (text, words) in [
            ("", &[][..]),
            ("  \t\n", &[]),
            ("-name *.o", &["-name", "*.o"]),
            (
                "-name '*.o' -mtime  +30 ",
                &["-name", "*.o", "-mtime", "+30"],
            ),
            (r#"-name "a b"c'd e'"#, &["-name", "a bcd e"]),
            (
                r"\( -type f \) \! a\ b",
                &["(", "-type", "f", ")", "!", "a b"],
            ),
            (r#""\"\\\$\`\a" '\n'"#, &["\"\\$`\\a", "\\n"]),
            ("'' \"\"x", &["", "x"]),
            ("ä 'ö ü'", &["ä", "ö ü"]),
        ] {
            assert_eq!(split(text).unwrap(), words, "{text}");
        }
    }

    #[test]
    fn quotes_must_be_closed() {
        assert!(split("-name 'x").unwrap_err().contains("expected '"));
        assert!(split("-name \"x'").unwrap_err().contains("expected \""));
        assert!(split("x\\").unwrap_err().contains("backslash"));
    }
}
