//! Numbers as the C library reads them.

use crate::expression::Compare;

/// The sign before a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sign {
    /// `-`.
    Less,
    /// No sign.
    Exactly,
    /// `+`.
    More,
}

/// Splits a text into the sign and the number.
pub(super) fn sign(text: &[u8]) -> (Sign, &[u8]) {
    match text {
        [b'-', rest @ ..] => (Sign::Less, rest),
        [b'+', rest @ ..] => (Sign::More, rest),
        _ => (Sign::Exactly, text),
    }
}

/// Reads `+N`, `-N` or `N`. GNU find reads the digits with the C library's functions, so blanks and
/// another `+` may precede them.
pub(super) fn compare(text: &[u8]) -> Option<Compare> {
    let (sign, digits) = sign(text);
    let number = whole(digits)?;
    Some(match sign {
        Sign::Less => Compare::Less(number),
        Sign::Exactly => Compare::Exactly(number),
        Sign::More => Compare::More(number),
    })
}

pub(super) fn whole(text: &[u8]) -> Option<u64> {
    let text = skip_blanks(text);
    let digits = text.strip_prefix(b"+").unwrap_or(text);
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Reads a number with a fraction and an exponent, decimal or (after `0x`) hexadecimal, and also
/// `inf` and `nan`. Returns none for other text and for numbers that are too large.
pub(super) fn real(text: &[u8]) -> Option<f64> {
    let text = std::str::from_utf8(skip_blanks(text)).ok()?;
    let (negative, digits) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    if digits.starts_with(['+', '-']) {
        return None;
    }
    let size = match digits
        .strip_prefix("0x")
        .or_else(|| digits.strip_prefix("0X"))
    {
        Some(hexadecimal) => hexadecimal_real(hexadecimal)?,
        None if is_nan(digits) => f64::NAN,
        None => digits.parse::<f64>().ok()?,
    };
    let named = digits.starts_with(['i', 'I']);
    if size.is_infinite() && !named {
        return None;
    }
    Some(if negative { -size } else { size })
}

/// Returns true for `nan`, in letters of either case, and for `nan(x1)`.
fn is_nan(text: &str) -> bool {
    let Some((name, rest)) = text.split_at_checked(3) else {
        return false;
    };
    let kind = rest
        .strip_prefix('(')
        .and_then(|rest| rest.strip_suffix(')'));
    let known = |kind: &str| {
        kind.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    name.eq_ignore_ascii_case("nan") && (rest.is_empty() || kind.is_some_and(known))
}

/// Reads digits, a point, digits, `p` and a decimal exponent of 2.
fn hexadecimal_real(text: &str) -> Option<f64> {
    let (digits, exponent) = match text.split_once(['p', 'P']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
    if before.is_empty() && after.is_empty() {
        return None;
    }
    let mut value = 0.0;
    for digit in before.chars().chain(after.chars()) {
        value = value * 16.0 + f64::from(digit.to_digit(16)?);
    }
    let places = i32::try_from(after.len()).ok()?;
    Some(value * 2.0_f64.powi(exponent.checked_sub(places.checked_mul(4)?)?))
}

fn skip_blanks(text: &[u8]) -> &[u8] {
    let blanks = text
        .iter()
        .take_while(|byte| matches!(byte, b' ' | b'\t'..=b'\r'))
        .count();
    &text[blanks..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers() {
        for (text, number) in [
            ("1", Some(Compare::Exactly(1))),
            ("+1", Some(Compare::More(1))),
            ("-1", Some(Compare::Less(1))),
            ("++1", Some(Compare::More(1))),
            ("-+1", Some(Compare::Less(1))),
            ("+ 1", Some(Compare::More(1))),
            (" +1", Some(Compare::Exactly(1))),
            ("18446744073709551615", Some(Compare::Exactly(u64::MAX))),
            ("18446744073709551616", None),
            ("", None),
            ("+", None),
            ("+-1", None),
            ("+++1", None),
            ("1 ", None),
            ("1.5", None),
            ("0x1", None),
        ] {
            assert_eq!(compare(text.as_bytes()), number, "{text}");
        }
    }

    #[test]
    fn real_numbers() {
        for (text, number) in [
            ("1", Some(1.0)),
            ("1.", Some(1.0)),
            (".5", Some(0.5)),
            ("-1.5", Some(-1.5)),
            ("+1e2", Some(100.0)),
            ("1e+2", Some(100.0)),
            (" 1", Some(1.0)),
            ("0x1p3", Some(8.0)),
            ("0x1.8", Some(1.5)),
            ("-0x.8p-1", Some(-0.25)),
            ("inf", Some(f64::INFINITY)),
            ("-INFINITY", Some(f64::NEG_INFINITY)),
            ("1e400", None),
            ("nanx", None),
            ("nan(", None),
            ("nan(-)", None),
            ("na", None),
            ("infinit", None),
            ("", None),
            ("+", None),
            ("--1", None),
            ("1x", None),
            ("1 ", None),
            ("0x", None),
            ("0x1p", None),
            ("1e", None),
            ("1_0", None),
        ] {
            assert_eq!(real(text.as_bytes()), number, "{text}");
        }
        for text in ["nan", "-NaN", "nan()", "+nan(x_1)"] {
            assert!(real(text.as_bytes()).is_some_and(f64::is_nan), "{text}");
        }
    }
}
