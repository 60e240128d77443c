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
mod tests;
