//! The settings of the environment that GNU's programs share: whether text is UTF-8, and
//! `POSIXLY_CORRECT`.
//!
//! UTF-8 decides which bytes of a name are shown unchanged, which quotes stand around values in
//! messages, and what `?` in a pattern matches. Everything else is the same as in the C locale.

use std::sync::OnceLock;

/// Returns true if the environment asks for UTF-8 (`LC_ALL`, else `LC_CTYPE`, else `LANG`).
pub fn utf8() -> bool {
    static UTF8: OnceLock<bool> = OnceLock::new();
    *UTF8.get_or_init(|| {
        ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .filter_map(std::env::var_os)
            .find(|value| !value.is_empty())
            .is_some_and(|value| names_utf8(&value.to_string_lossy()))
    })
}

/// Returns true if `POSIXLY_CORRECT` is set: then POSIX decides where GNU's defaults differ from
/// it.
pub fn posixly_correct() -> bool {
    std::env::var_os("POSIXLY_CORRECT").is_some()
}

/// Returns true if the codeset of a locale's name (`language_territory.codeset@modifier`) is UTF-8.
fn names_utf8(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let codeset = name.split_once('.').map_or("", |(_, codeset)| codeset);
    codeset.eq_ignore_ascii_case("UTF-8") || codeset.eq_ignore_ascii_case("UTF8")
}

/// Returns the first character of `text` and the number of its bytes. A byte that begins no
/// character is returned as it is. None at the end.
pub fn first(text: &[u8], utf8: bool) -> Option<(Result<char, u8>, usize)> {
    let byte = *text.first()?;
    if byte.is_ascii() {
        return Some((Ok(char::from(byte)), 1));
    }
    if utf8 {
        for length in 2..=text.len().min(4) {
            if let Ok(found) = std::str::from_utf8(&text[..length]) {
                return found.chars().next().map(|found| (Ok(found), length));
            }
        }
    }
    Some((Err(byte), 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codesets() {
        assert!(names_utf8("C.UTF-8"));
        assert!(names_utf8("de_DE.utf8@euro"));
        assert!(!names_utf8("C"));
        assert!(!names_utf8("de_DE.ISO-8859-15@UTF-8"));
    }

    #[test]
    fn characters() {
        assert_eq!(first(b"", true), None);
        assert_eq!(first(b"ab", true), Some((Ok('a'), 1)));
        assert_eq!(first("éa".as_bytes(), true), Some((Ok('é'), 2)));
        assert_eq!(first("é".as_bytes(), false), Some((Err(0xc3), 1)));
        assert_eq!(first(b"\xc3(", true), Some((Err(0xc3), 1)));
        assert_eq!(first("😀".as_bytes(), true), Some((Ok('😀'), 4)));
    }
}
