//! Shy groups: Emacs's `\(?:a\|b\)`, a group without a number.
//!
//! glibc has no shy groups. So they become groups with numbers, and back-references get new
//! numbers.

use std::borrow::Cow;

const OPENING: &[u8] = br"\(?:";

/// Returns `pattern`, which is in Emacs's syntax, with plain groups in place of the shy ones.
///
/// # Errors
///
/// A message, if a new number of a back-reference has more than its one digit.
pub(super) fn expand(pattern: &[u8]) -> Result<Cow<'_, [u8]>, String> {
    if !pattern.windows(OPENING.len()).any(|part| part == OPENING) {
        return Ok(Cow::Borrowed(pattern));
    }
    let mut expanded = Vec::with_capacity(pattern.len());
    let mut groups = 0_u8;
    // The new number of each group that had one.
    let mut numbers = Vec::new();
    let mut rest = pattern;
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after.first()) {
            (b'\\', Some(b'(')) => {
                groups = groups.saturating_add(1);
                expanded.extend(br"\(");
                rest.strip_prefix(OPENING).unwrap_or_else(|| {
                    numbers.push(groups);
                    &rest[2..]
                })
            }
            (b'\\', Some(digit @ b'1'..=b'9')) => {
                let group = numbers.get(usize::from(digit - b'1'));
                let number = group.filter(|number| **number <= 9);
                let number = number.ok_or("Invalid back reference")?;
                expanded.extend([b'\\', b'0' + number]);
                &rest[2..]
            }
            (b'\\', Some(_)) => copy(&mut expanded, rest, 2),
            (b'[', _) => copy(&mut expanded, rest, bracket(rest)),
            _ => copy(&mut expanded, rest, 1),
        };
    }
    Ok(Cow::Owned(expanded))
}

/// Copies so many bytes, and returns the others.
fn copy<'a>(to: &mut Vec<u8>, from: &'a [u8], length: usize) -> &'a [u8] {
    let (copied, rest) = from.split_at(length);
    to.extend(copied);
    rest
}

/// Returns the length of the bracket expression at the beginning of `text`. A backslash means
/// nothing in it.
fn bracket(text: &[u8]) -> usize {
    let mut at = 1;
    if text.get(at) == Some(&b'^') {
        at += 1;
    }
    let first = at;
    while let Some(byte) = text.get(at) {
        match (byte, text.get(at + 1)) {
            (b']', _) if at > first => return at + 1,
            (b'[', Some(mark @ (b'.' | b'=' | b':'))) => {
                let named = &text[at + 2..];
                let end = named.windows(2).position(|pair| pair == [*mark, b']']);
                at += end.map_or(text.len(), |end| end + 4);
            }
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shy_groups_become_plain_ones() {
        for (pattern, expected) in [
            (r"a\(b\)\1", r"a\(b\)\1"),
            (r"\(?:a\|b\)", r"\(a\|b\)"),
            (r"\(?:a\)\(b\)\1", r"\(a\)\(b\)\2"),
            (r"\(a\)\(?:\(?:b\)\(c\)\)\1\2", r"\(a\)\(\(b\)\(c\)\)\1\4"),
            (r"\\(?:a\(?:b\)", r"\\(?:a\(b\)"),
            (r"[\(?:]\(?:b\)", r"[\(?:]\(b\)"),
            (r"[]\(?:]\(?:b\)", r"[]\(?:]\(b\)"),
            (r"[^]\(?:]\(?:b\)", r"[^]\(?:]\(b\)"),
            (r"[[.].]\(?:]\(?:b\)", r"[[.].]\(?:]\(b\)"),
            (r"[[:alpha:]\(?:]\(?:b\)", r"[[:alpha:]\(?:]\(b\)"),
            (r"\(?:a\)[", r"\(a\)["),
            (r"\(?:a\)[[.", r"\(a\)[[."),
            (r"\(?:a\)\", r"\(a\)\"),
        ] {
            let expanded = expand(pattern.as_bytes()).expect(pattern);
            assert_eq!(expanded, expected.as_bytes(), "{pattern}");
        }
    }

    #[test]
    fn references_to_no_group_are_errors() {
        let far = r"\(?:a\)".repeat(9) + r"\(b\)\1";
        for pattern in [r"\(?:a\)\1", r"\(?:a\)\(b\)\2", &far] {
            assert!(expand(pattern.as_bytes()).is_err(), "{pattern}");
        }
    }
}
