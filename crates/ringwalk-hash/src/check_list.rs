//! Lists of hashes, as `sha256sum` and `b3sum` print and check them.
//!
//! A line is the digest, two spaces and the name. In a name, `\`, line feed and carriage return
//! become `\\`, `\n` and `\r`, and a `\` before the line says so. This is the format of GNU
//! coreutils 9 (its manual, "cksum output modes") and of b3sum 1.8. Lists are read as GNU's
//! programs read them: white space before a line, `*` before a name, lines that begin with `#`, and
//! lines in BSD's style, `SHA256 (name) = digest`, are known.

use crate::{Algorithm, Digest};
use std::borrow::Cow;

/// Appends a line with its line feed.
pub fn push_line(line: &mut Vec<u8>, digest: &Digest, name: &[u8]) {
    let escaped = escape(name);
    if matches!(escaped, Cow::Owned(_)) {
        line.push(b'\\');
    }
    line.extend_from_slice(digest.to_string().as_bytes());
    line.extend_from_slice(b"  ");
    line.extend_from_slice(&escaped);
    line.push(b'\n');
}

/// Returns a name as lists have it. It is owned if it has a character that is escaped.
pub fn escape(name: &[u8]) -> Cow<'_, [u8]> {
    if !name
        .iter()
        .any(|byte| matches!(byte, b'\\' | b'\n' | b'\r'))
    {
        return Cow::Borrowed(name);
    }
    let mut escaped = Vec::with_capacity(name.len() + 2);
    for byte in name {
        match byte {
            b'\\' => escaped.extend_from_slice(b"\\\\"),
            b'\n' => escaped.extend_from_slice(b"\\n"),
            b'\r' => escaped.extend_from_slice(b"\\r"),
            byte => escaped.push(*byte),
        }
    }
    Cow::Owned(escaped)
}

fn unescape(name: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = name.iter();
    let mut plain = Vec::with_capacity(name.len());
    while let Some(byte) = bytes.next() {
        plain.push(match byte {
            b'\\' => match bytes.next()? {
                b'\\' => b'\\',
                b'n' => b'\n',
                b'r' => b'\r',
                _ => return None,
            },
            byte => *byte,
        });
    }
    Some(plain)
}

/// A line of a list that says which digest a file has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckLine {
    /// The name of the file.
    pub name: Vec<u8>,
    /// Its digest.
    pub digest: Digest,
}

/// What a line of a list is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// A file and its digest.
    File(CheckLine),
    /// A comment, or an empty line.
    Nothing,
    /// No line of a list of this hash function.
    Malformed,
}

/// Reads a line, without its line feed.
pub fn parse_line(line: &[u8], algorithm: Algorithm) -> Line {
    // Some programs end lines as DOS does.
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    if line.is_empty() || line.starts_with(b"#") {
        return Line::Nothing;
    }
    parse_file(line, algorithm).map_or(Line::Malformed, Line::File)
}

fn parse_file(line: &[u8], algorithm: Algorithm) -> Option<CheckLine> {
    let mut rest = line.trim_ascii_start();
    let is_escaped = rest.starts_with(b"\\");
    if is_escaped {
        rest = &rest[1..];
    }
    let (name, digest) = match split_tagged(rest, algorithm) {
        Some(parts) => parts,
        None => split_plain(rest, algorithm)?,
    };
    let digest = Digest::parse(algorithm, digest).ok()?;
    let name = if is_escaped {
        unescape(name)?
    } else {
        name.to_vec()
    };
    // No file has such a name.
    if name.is_empty() || name.contains(&0) {
        return None;
    }
    Some(CheckLine { name, digest })
}

/// Splits `TAG (name) = digest`.
fn split_tagged(line: &[u8], algorithm: Algorithm) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(algorithm.tag().as_bytes())?;
    let rest = rest
        .strip_prefix(b" (")
        .or_else(|| rest.strip_prefix(b"("))?;
    let digits = 2 * algorithm.digest_len();
    let split = rest.len().checked_sub(digits)?;
    let (name, digest) = rest.split_at(split);
    // GNU's programs take any white space around the sign, or none.
    let name = name.trim_ascii_end().strip_suffix(b"=")?;
    Some((name.trim_ascii_end().strip_suffix(b")")?, digest))
}

/// Splits `digest  name` and `digest *name`.
fn split_plain(line: &[u8], algorithm: Algorithm) -> Option<(&[u8], &[u8])> {
    let digits = 2 * algorithm.digest_len();
    let (digest, rest) = line.split_at_checked(digits)?;
    let rest = rest
        .strip_prefix(b" ")
        .or_else(|| rest.strip_prefix(b"\t"))?;
    let name = rest.strip_prefix(b" ").or_else(|| rest.strip_prefix(b"*"));
    // Old lists of BSD have one space.
    Some((name.unwrap_or(rest), digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIGITS: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    fn digest() -> Digest {
        Digest::parse(Algorithm::Sha256, DIGITS.as_bytes()).unwrap()
    }

    fn parsed(line: &str) -> Line {
        parse_line(line.as_bytes(), Algorithm::Sha256)
    }

    fn file(name: &[u8]) -> Line {
        Line::File(CheckLine {
            name: name.to_vec(),
            digest: digest(),
        })
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        for name in [
            &b"a"[..],
            b" a ",
            b"*a",
            b"a\\b",
            b"a\nb\r\\",
            b"\xff\xfe",
            b"#",
            b"(x) = y",
        ] {
            let mut line = Vec::new();
            push_line(&mut line, &digest(), name);
            assert_eq!(line.pop(), Some(b'\n'));
            assert!(!line.contains(&b'\n'));
            assert_eq!(parse_line(&line, Algorithm::Sha256), file(name), "{name:?}");
        }
    }

    #[test]
    fn lines_are_those_of_sha256sum() {
        let mut lines = Vec::new();
        push_line(&mut lines, &digest(), b"a b");
        push_line(&mut lines, &digest(), b"a\nb\\");
        assert_eq!(
            String::from_utf8(lines).unwrap(),
            format!("{DIGITS}  a b\n\\{DIGITS}  a\\nb\\\\\n")
        );
    }

    #[test]
    fn other_styles_are_read() {
        let upper = DIGITS.to_uppercase();
        for line in [
            format!("{DIGITS} *a"),
            format!("{DIGITS} a"),
            format!("  {upper}  a"),
            format!("{DIGITS}  a\r"),
            format!("SHA256 (a) = {DIGITS}"),
            format!("SHA256(a) = {DIGITS}"),
            format!("SHA256(a)= {DIGITS}"),
            format!("SHA256 (a)={DIGITS}"),
            format!("SHA256 (a)\t= \t{DIGITS}"),
        ] {
            assert_eq!(parsed(&line), file(b"a"), "{line}");
        }
        assert_eq!(
            parsed(&format!("\\SHA256 (a\\nb) = {DIGITS}")),
            file(b"a\nb")
        );
        assert_eq!(
            parsed(&format!("SHA256 (a) = b) = {DIGITS}")),
            file(b"a) = b")
        );
    }

    #[test]
    fn everything_else_is_malformed() {
        for line in ["", "# comment", "\r"] {
            assert_eq!(parsed(line), Line::Nothing, "{line:?}");
        }
        for line in [
            DIGITS.to_owned(),
            format!("{DIGITS}  "),
            format!("{}  a", &DIGITS[2..]),
            format!("{DIGITS}0  a"),
            format!("{DIGITS}a"),
            format!("\\{DIGITS}  a\\"),
            format!("\\{DIGITS}  a\\x"),
            format!("{DIGITS}  a\0b"),
            format!("MD5 (a) = {DIGITS}"),
            format!("SHA256 (a) = {}", &DIGITS[1..]),
            "SHA256 (a) = ".to_owned(),
            format!("SHA256 (a) {DIGITS}"),
            format!("SHA256 (a = {DIGITS}"),
        ] {
            assert_eq!(parsed(&line), Line::Malformed, "{line:?}");
        }
    }
}
