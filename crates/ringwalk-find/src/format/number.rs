//! Numbers as C's printf writes them: `%d`, `%o`, `%g` with flags, width and precision.

use super::directive::Shape;

/// No f64 has more significant digits than this; further digits are zeros.
const MOST_DIGITS: usize = 1100;

/// Appends a number that cannot be negative, without any flags.
pub(super) fn plain(number: u64, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
}

/// `%d`.
pub(super) fn decimal(number: i64, shape: Shape, out: &mut Vec<u8>) {
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(number.unsigned_abs()).as_bytes();
    integer(sign(number < 0, shape), digits, shape, out);
}

/// `%o`.
pub(super) fn octal(number: u32, shape: Shape, out: &mut Vec<u8>) {
    let mut digits = [b'0'; 12];
    let mut first = digits.len() - 1;
    let mut rest = number;
    loop {
        digits[first] += (rest & 7) as u8;
        rest >>= 3;
        if rest == 0 {
            break;
        }
        first -= 1;
    }
    // With `#` the number begins with a zero. The zero that `%o` writes anyway is enough.
    let length = digits.len() - first;
    let begins_with_zero = match shape.precision {
        Some(precision) => precision > length,
        None => number == 0 || shape.zero && !shape.left && shape.width > length,
    };
    if shape.alternate && number != 0 && !begins_with_zero {
        first -= 1;
    }
    if number == 0 && shape.alternate && shape.precision == Some(0) {
        let shape = Shape {
            precision: None,
            zero: false,
            ..shape
        };
        return integer(b"", b"0", shape, out);
    }
    integer(b"", &digits[first..], shape, out);
}

fn sign(negative: bool, shape: Shape) -> &'static [u8] {
    match (negative, shape.plus, shape.space) {
        (true, ..) => b"-",
        (_, true, _) => b"+",
        (.., true) => b" ",
        _ => b"",
    }
}

fn integer(sign: &[u8], digits: &[u8], shape: Shape, out: &mut Vec<u8>) {
    let digits = if shape.precision == Some(0) && digits == b"0" {
        b""
    } else {
        digits
    };
    let least = shape.precision.unwrap_or(0);
    let zeros = least.saturating_sub(digits.len());
    let zero = shape.zero && shape.precision.is_none();
    let start = out.len();
    out.extend_from_slice(sign);
    out.resize(out.len() + zeros, b'0');
    out.extend_from_slice(digits);
    fill(start, sign.len(), Shape { zero, ..shape }, out);
}

/// Pads the output from `start` on to its width, with zeros after the sign if the flags ask for
/// them.
fn fill(start: usize, sign: usize, shape: Shape, out: &mut Vec<u8>) {
    let missing = shape.width.saturating_sub(out.len() - start);
    if missing == 0 || shape.left || !shape.zero {
        return pad(start, shape, out);
    }
    let begin = start + sign;
    out.resize(out.len() + missing, b'0');
    out[begin..].rotate_right(missing);
}

/// Pads the output from `start` on to its width with spaces.
pub(super) fn pad(start: usize, shape: Shape, out: &mut Vec<u8>) {
    let missing = shape.width.saturating_sub(out.len() - start);
    out.resize(out.len() + missing, b' ');
    if !shape.left {
        out[start..].rotate_right(missing);
    }
}

/// `%g`.
pub(super) fn general(number: f64, shape: Shape, out: &mut Vec<u8>) {
    let start = out.len();
    let sign = sign(number.is_sign_negative(), shape);
    out.extend_from_slice(sign);
    if !number.is_finite() {
        out.extend_from_slice(if number.is_nan() { b"nan" } else { b"inf" });
        return pad(start, shape, out);
    }
    let precision = shape.precision.unwrap_or(6).max(1);
    let known = precision.min(MOST_DIGITS);
    let written = format!("{:.*e}", known - 1, number.abs());
    let (mantissa, exponent) = written.split_once('e').unwrap_or((&written, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let mut digits: Vec<u8> = mantissa.bytes().filter(u8::is_ascii_digit).collect();
    if shape.alternate {
        digits.resize(precision, b'0');
    } else {
        let end = digits.iter().rposition(|digit| *digit != b'0');
        digits.truncate(end.map_or(1, |last| last + 1));
    }
    let fits = usize::try_from(exponent).is_ok_and(|exponent| exponent < precision);
    if fits || (-4..0).contains(&exponent) {
        fixed(&mut digits, exponent, shape, out);
    } else {
        fraction(&digits, 1, shape, out);
        out.extend_from_slice(if exponent < 0 { b"e-" } else { b"e+" });
        out.extend_from_slice(format!("{:02}", exponent.unsigned_abs()).as_bytes());
    }
    fill(start, sign.len(), shape, out);
}

/// Writes the number without an exponent.
fn fixed(digits: &mut Vec<u8>, exponent: i32, shape: Shape, out: &mut Vec<u8>) {
    if let Ok(exponent) = usize::try_from(exponent) {
        let whole = exponent + 1;
        if digits.len() < whole {
            digits.resize(whole, b'0');
        }
        return fraction(digits, whole, shape, out);
    }
    let zeros = exponent.unsigned_abs() as usize;
    digits.resize(digits.len() + zeros, b'0');
    digits.rotate_right(zeros);
    fraction(digits, 1, shape, out);
}

/// Writes digits with a point after the first `whole` of them. `#` keeps the point even at the end.
fn fraction(digits: &[u8], whole: usize, shape: Shape, out: &mut Vec<u8>) {
    let (whole, rest) = digits.split_at(whole);
    out.extend_from_slice(whole);
    if !rest.is_empty() || shape.alternate {
        out.push(b'.');
        out.extend_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the shape that stands in a conversion of C, without the letter at its end.
    fn shape(text: &str) -> Shape {
        let flags_end = text[1..].find(|c: char| !"-0+ #".contains(c));
        let (flags, rest) = text[1..].split_at(flags_end.unwrap_or(text.len() - 1));
        let (width, precision) = match rest.split_once('.') {
            Some((width, precision)) => (width, precision.parse().ok()),
            None => (rest, None),
        };
        Shape {
            left: flags.contains('-'),
            zero: flags.contains('0'),
            plus: flags.contains('+'),
            space: flags.contains(' '),
            alternate: flags.contains('#'),
            width: width.parse().unwrap_or(0),
            precision,
        }
    }

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = b"x".to_vec();
        write(&mut out);
        String::from_utf8(out).unwrap()[1..].to_owned()
    }

    // What glibc 2.36 wrote.

    #[test]
    fn decimals() {
        for (number, by, expected) in [
            (0, "%", "0"),
            (0, "%5", "    0"),
            (0, "%+05", "+0000"),
            (0, "%8.3", "     000"),
            (0, "%08.3", "     000"),
            (0, "%.0", ""),
            (0, "%+.0", "+"),
            (0, "%5.0", "     "),
            (0, "%-08", "0       "),
            (7, "% 05", " 0007"),
            (1234, "%.3", "1234"),
            (-5, "%8.3", "    -005"),
            (-5, "%05", "-0005"),
            (-5, "%-+6.2", "-05   "),
        ] {
            assert_eq!(
                written(|out| decimal(number, shape(by), out)),
                expected,
                "{by}"
            );
        }
        assert_eq!(written(|out| plain(u64::MAX, out)), "18446744073709551615");
    }

    #[test]
    fn octals() {
        for (number, by, expected) in [
            (0, "%", "0"),
            (0, "%#", "0"),
            (0, "%#05", "00000"),
            (0, "%.0", ""),
            (0, "%#.0", "0"),
            (0, "%#5.0", "    0"),
            (0, "%-6", "0     "),
            (0, "%#06.2", "    00"),
            (0o644, "%", "644"),
            (0o644, "%#", "0644"),
            (0o644, "%#05", "00644"),
            (0o644, "%#04", "0644"),
            (0o644, "%#.5", "00644"),
            (0o644, "%#8.3", "    0644"),
            (0o644, "%.0", "644"),
            (0o644, "%#-6", "0644  "),
            (0o644, "%#06.2", "  0644"),
            (0o7777, "%#", "07777"),
            (0o7777, "%#05", "07777"),
            (1, "%#8.3", "     001"),
            (u32::MAX, "%#", "037777777777"),
        ] {
            assert_eq!(
                written(|out| octal(number, shape(by), out)),
                expected,
                "{by}"
            );
        }
    }

    #[test]
    fn fractions() {
        for (number, by, expected) in [
            (0.0, "%", "0"),
            (0.0, "%#", "0.00000"),
            (0.0, "%#.0", "0."),
            (0.0, "%010", "0000000000"),
            (0.0, "%#+012.4", "+0000000.000"),
            (1.0, "%.20", "1"),
            (682.666_666_6, "%", "682.667"),
            (682.666_666_6, "%.0", "7e+02"),
            (682.666_666_6, "%#.0", "7.e+02"),
            (682.666_666_6, "%.2", "6.8e+02"),
            (682.666_666_6, "%+10.3", "      +683"),
            (682.666_666_6, "%010", "000682.667"),
            (85.333_333_333_333_33, "%.20", "85.333333333333328596"),
            (1e6, "%", "1e+06"),
            (1e6, "%#", "1.00000e+06"),
            (999_999.5, "%", "1e+06"),
            (123_456.0, "%", "123456"),
            (1_234_567.0, "%", "1.23457e+06"),
            (0.0001, "%", "0.0001"),
            (0.0001, "%#.3", "0.000100"),
            (0.000_012_34, "%-12", "1.234e-05   "),
            (3.333_333_333e-7, "%", "3.33333e-07"),
            (-4.440_89e-16, "%", "-4.44089e-16"),
            (2.5, "%.1", "2"),
            (1e100, "%", "1e+100"),
            (f64::INFINITY, "%", "inf"),
            (f64::INFINITY, "%010", "       inf"),
            (f64::NEG_INFINITY, "%-6", "-inf  "),
        ] {
            assert_eq!(
                written(|out| general(number, shape(by), out)),
                expected,
                "{by}"
            );
        }
        let long = written(|out| general(0.5, shape("%#.70000"), out));
        assert_eq!(long.len(), 70_002);
    }
}
