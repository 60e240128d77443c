//! The one thing of the locale that du depends on here: whether text is UTF-8.
//!
//! It decides which bytes of a name can be shown as they are, which quotes stand around values in
//! messages, and what `?` in a pattern matches. Everything else is as in the C locale.

use std::sync::OnceLock;

/// Whether the environment asks for UTF-8 (`LC_ALL`, else `LC_CTYPE`, else `LANG`).
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

/// Whether a locale's name (`language_territory.codeset@modifier`) has UTF-8 for its codeset.
fn names_utf8(name: &str) -> bool {
    let name = name.split('@').next().unwrap_or(name);
    let codeset = name.split_once('.').map_or("", |(_, codeset)| codeset);
    codeset.eq_ignore_ascii_case("UTF-8") || codeset.eq_ignore_ascii_case("UTF8")
}

/// The character that `text` begins with and the number of its bytes; a byte that begins none
/// stands for itself. None at the end.
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
