//! Numbers in the syntax of GNU's options: any base of C, then an optional unit.
//!
//! `5`, `0x10`, `010`, `1K`, `1kB`, `1KiB`, `M` (a unit alone means one of that unit). Units are
//! powers of 1024, or of 1000 if `B` follows.

/// The reason why a text is not a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The text does not begin with a number.
    Invalid,
    /// The text after the number is not a unit.
    Suffix,
    /// The number does not fit.
    TooLarge,
}

impl Fault {
    /// Returns GNU's message about this fault. `option` is the option as it was given (`-B` or
    /// `--block-size`).
    pub(crate) fn message(self, option: &str, argument: &[u8]) -> String {
        // These messages put the argument between plain quotes whatever it contains.
        let argument = String::from_utf8_lossy(argument);
        match self {
            Self::Invalid => format!("invalid {option} argument '{argument}'"),
            Self::Suffix => format!("invalid suffix in {option} argument '{argument}'"),
            Self::TooLarge => format!("{option} argument '{argument}' too large"),
        }
    }
}

/// The value and the fault of a text.
///
/// A faulty text can still have a value (`3x` has 3). GNU uses that value if the text came from the
/// environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedNumber {
    /// The value, clamped to the limits. `None` if the text does not begin with a number.
    pub(crate) value: Option<i128>,
    /// The fault of the text, if it has one.
    pub(crate) fault: Option<Fault>,
    /// The text has digits. Otherwise it is a unit alone.
    pub(crate) digits: bool,
}

/// Parses `text` as a number between `least` and `most`, with one of the `units` (letters).
pub(crate) fn parse_number(text: &[u8], units: &[u8], least: i128, most: i128) -> ParsedNumber {
    let invalid = ParsedNumber {
        value: None,
        fault: Some(Fault::Invalid),
        digits: false,
    };
    let space = text.iter().take_while(|b| is_space(**b)).count();
    let (negative, start) = match text.get(space) {
        Some(b'-') => (true, space + 1),
        Some(b'+') => (false, space + 1),
        _ => (false, space),
    };
    if negative && least >= 0 {
        return invalid;
    }
    let (base, body) = base_of(&text[start..]);
    let count = body.iter().take_while(|b| digit(**b, base)).count();
    let digits = count > 0;
    let (magnitude, rest) = if digits {
        (value_of(&body[..count], base), &body[count..])
    } else if text.first().is_some_and(|b| units.contains(b)) {
        (1, text)
    } else {
        return invalid;
    };
    let mut value = if negative { -magnitude } else { magnitude };
    let mut fault = None;
    if !rest.is_empty() {
        match unit(rest, units) {
            Some((factor, length)) => {
                value = value.saturating_mul(factor);
                if length < rest.len() {
                    fault = Some(Fault::Suffix);
                }
            }
            None => fault = Some(Fault::Suffix),
        }
    }
    if !(least..=most).contains(&value) {
        fault = fault.or(Some(Fault::TooLarge));
        value = value.clamp(least, most);
    }
    ParsedNumber {
        value: Some(value),
        fault,
        digits,
    }
}

/// Returns true for the characters of `isspace` in the C locale.
pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}

/// Returns the base that the prefix stands for, and the text with the digits.
fn base_of(text: &[u8]) -> (u32, &[u8]) {
    match text {
        [b'0', b'x' | b'X', digits @ ..] if digits.first().is_some_and(|b| digit(*b, 16)) => {
            (16, digits)
        }
        [b'0', ..] => (8, text),
        _ => (10, text),
    }
}

fn digit(byte: u8, base: u32) -> bool {
    char::from(byte).is_digit(base)
}

fn value_of(digits: &[u8], base: u32) -> i128 {
    digits.iter().fold(0_i128, |value, byte| {
        let digit = char::from(*byte).to_digit(base).unwrap_or(0);
        value
            .saturating_mul(i128::from(base))
            .saturating_add(i128::from(digit))
    })
}

/// Returns the factor of the unit at the start of `text`, and the length of its name in bytes.
fn unit(text: &[u8], units: &[u8]) -> Option<(i128, usize)> {
    let letter = *text.first()?;
    if !units.contains(&letter) {
        return None;
    }
    let power = match letter {
        b'k' | b'K' => 1,
        b'm' | b'M' => 2,
        b'g' | b'G' => 3,
        b't' | b'T' => 4,
        b'P' => 5,
        b'E' => 6,
        b'Z' => 7,
        b'Y' => 8,
        b'R' => 9,
        b'Q' => 10,
        _ => return None,
    };
    Some(match &text[1..] {
        [b'i', b'B', ..] => (1024_i128.pow(power), 3),
        [b'B' | b'D', ..] => (1000_i128.pow(power), 2),
        _ => (1024_i128.pow(power), 1),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNITS: &[u8] = b"kKmMGTPEZYRQ0";

    fn unsigned(text: &str) -> ParsedNumber {
        parse_number(text.as_bytes(), UNITS, 0, u64::MAX.into())
    }

    fn good(text: &str) -> Option<i128> {
        let parsed = unsigned(text);
        parsed.fault.is_none().then_some(parsed.value).flatten()
    }

    #[test]
    fn bases_and_units() {
        assert_eq!(good("10"), Some(10));
        assert_eq!(good(" \t10"), Some(10));
        assert_eq!(good("+10"), Some(10));
        assert_eq!(good("010"), Some(8));
        assert_eq!(good("0x10"), Some(16));
        assert_eq!(good("0"), Some(0));
        assert_eq!(good("2K"), Some(2048));
        assert_eq!(good("2kB"), Some(2000));
        assert_eq!(good("2KiB"), Some(2048));
        assert_eq!(good("M"), Some(1 << 20));
        assert_eq!(good("MB"), Some(1_000_000));
        assert_eq!(good("15E"), Some(15 << 60));
        assert_eq!(good("0R"), Some(0));
        assert_eq!(good("0QiB"), Some(0));
    }

    #[test]
    fn faults() {
        assert_eq!(unsigned("").fault, Some(Fault::Invalid));
        assert_eq!(unsigned("x").fault, Some(Fault::Invalid));
        assert_eq!(unsigned("-1").fault, Some(Fault::Invalid));
        assert_eq!(unsigned(" K").fault, Some(Fault::Invalid));
        assert_eq!(unsigned("1x").fault, Some(Fault::Suffix));
        assert_eq!(unsigned("1Ki").fault, Some(Fault::Suffix));
        assert_eq!(unsigned("1g").fault, Some(Fault::Suffix));
        assert_eq!(unsigned("08").fault, Some(Fault::Suffix));
        assert_eq!(unsigned("0x").fault, Some(Fault::Suffix));
        assert_eq!(unsigned("16E").fault, Some(Fault::TooLarge));
        assert_eq!(unsigned("1Y").fault, Some(Fault::TooLarge));
        assert_eq!(unsigned("1R").fault, Some(Fault::TooLarge));
        assert_eq!(unsigned("1QB").fault, Some(Fault::TooLarge));
        assert_eq!(unsigned(&"9".repeat(60)).fault, Some(Fault::TooLarge));
        assert_eq!(unsigned("99999999999999999999x").fault, Some(Fault::Suffix));
    }

    #[test]
    fn a_faulty_text_keeps_its_value() {
        assert_eq!(unsigned("2kx").value, Some(2048));
        assert_eq!(unsigned("1Y").value, Some(u64::MAX.into()));
    }

    #[test]
    fn signs() {
        let signed =
            |text: &str| parse_number(text.as_bytes(), UNITS, i64::MIN.into(), i64::MAX.into());
        assert_eq!(signed("-8E").value, Some(i64::MIN.into()));
        assert_eq!(signed("-8E").fault, None);
        assert_eq!(signed("8E").fault, Some(Fault::TooLarge));
        assert_eq!(signed("-K").fault, Some(Fault::Invalid));
    }

    #[test]
    fn sentences() {
        assert_eq!(
            Fault::Invalid.message("-B", b"x'"),
            "invalid -B argument 'x''"
        );
        assert_eq!(
            Fault::TooLarge.message("--threshold", b"9Y"),
            "--threshold argument '9Y' too large"
        );
    }
}
