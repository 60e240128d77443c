//! Times written by a format, as GNU's programs write them in the C locale. The conversions of
//! `strftime(3)`, and also `%N` for nanoseconds, `%q` for the quarter, and `%:z` and the like. They
//! take the flags `_ - 0 + ^ #`, a width, and the modifiers `E` and `O`. Other text is copied.

use crate::civil::{Civil, HOUR, MONTHS, WEEKDAYS};

/// The largest width that is accepted.
const WIDEST: usize = 1 << 16;

/// The shape of a conversion's output.
#[derive(Clone, Copy, Default)]
struct Shape {
    /// `_`, `-`, `0` or `+`. Zero if none was given.
    pad: u8,
    upper: bool,
    swap: bool,
    width: Option<usize>,
    colons: usize,
}

/// Appends `time` in the form of `format`, as GNU's `date`, `ls` and `du` write it.
///
/// Names are English whatever the locale. GNU find writes some conversions as the C library does:
/// years without leading zeros, seconds with a fraction, and no `%N` or `%q`.
pub fn format(format: &[u8], time: &Civil, out: &mut Vec<u8>) {
    write(format, time, false, out);
}

fn write(format: &[u8], time: &Civil, upper: bool, out: &mut Vec<u8>) {
    let mut rest = format;
    while let Some(at) = rest.iter().position(|byte| *byte == b'%') {
        text(&rest[..at], upper, out);
        rest = &rest[at..];
        let (mut shape, used) = shape(rest);
        shape.upper |= upper;
        let modifier = rest.get(used).filter(|byte| matches!(byte, b'E' | b'O'));
        let letter = used + usize::from(modifier.is_some());
        let known = rest.get(letter).is_some_and(|conversion| {
            allowed(*conversion, modifier.copied(), &shape, letter)
                && convert(*conversion, shape, time, out)
        });
        let mut end = (letter + 1).min(rest.len());
        if !known {
            // A second percent sign may begin a conversion of its own.
            if end > 1 && rest[end - 1] == b'%' {
                end -= 1;
            }
            padded(&rest[..end], shape, b' ', out);
        }
        rest = &rest[end..];
    }
    text(rest, upper, out);
}

fn text(literal: &[u8], upper: bool, out: &mut Vec<u8>) {
    if upper {
        out.extend(literal.iter().map(u8::to_ascii_uppercase));
    } else {
        out.extend_from_slice(literal);
    }
}

/// Reads flags, width and colons after the percent sign. Also returns their length with the sign.
fn shape(text: &[u8]) -> (Shape, usize) {
    let mut shape = Shape::default();
    let mut at = 1;
    while let Some(byte) = text.get(at) {
        match byte {
            b'_' | b'-' | b'0' | b'+' => shape.pad = *byte,
            b'^' => shape.upper = true,
            b'#' => shape.swap = true,
            _ => break,
        }
        at += 1;
    }
    while let Some(digit) = text.get(at).filter(|byte| byte.is_ascii_digit()) {
        let width = shape.width.unwrap_or(0) * 10 + usize::from(digit - b'0');
        shape.width = Some(width.min(WIDEST));
        at += 1;
    }
    let colons = text[at..].iter().take_while(|b| **b == b':').count();
    if text.get(at + colons) == Some(&b'z') {
        shape.colons = colons;
        at += colons;
    }
    (shape, at)
}

/// Returns true if the conversion takes that modifier and those colons. `%%` takes neither. In the
/// C locale modifiers change nothing, but GNU refuses some.
fn allowed(conversion: u8, modifier: Option<u8>, shape: &Shape, length: usize) -> bool {
    match modifier {
        Some(b'E') => !b"aAbBdDeFgGhHIjklmMNSuUVwW%".contains(&conversion),
        Some(_) => !b"aAcDFqxXY%".contains(&conversion),
        None => shape.colons <= 3 && (conversion != b'%' || length == 1),
    }
}

/// Writes one conversion. Returns false if no conversion has that letter.
fn convert(conversion: u8, shape: Shape, time: &Civil, out: &mut Vec<u8>) -> bool {
    let twelve = (time.hour + 11) % 12 + 1;
    let half = if time.hour < 12 { "AM" } else { "PM" };
    let century = time.year / 100;
    let monday = (time.weekday + 6) % 7;
    match conversion {
        b'%' => out.push(b'%'),
        b'n' => padded(b"\n", shape, b' ', out),
        b't' => padded(b"\t", shape, b' ', out),
        b'a' => name(&name_of(&WEEKDAYS, time.weekday)[..3], shape, out),
        b'A' => name(name_of(&WEEKDAYS, time.weekday), shape, out),
        b'b' | b'h' => name(&name_of(&MONTHS, time.month - 1)[..3], shape, out),
        b'B' => name(name_of(&MONTHS, time.month - 1), shape, out),
        b'p' if shape.swap => padded(half.to_ascii_lowercase().as_bytes(), shape, b' ', out),
        b'p' => padded(half.as_bytes(), shape, b' ', out),
        b'P' => padded(half.to_ascii_lowercase().as_bytes(), shape, b' ', out),
        b'Z' if shape.swap => padded(time.zone.to_ascii_lowercase().as_bytes(), shape, b' ', out),
        b'Z' => name(&time.zone, shape, out),
        b'c' => nested(b"%a %b %e %H:%M:%S %Y", shape, time, out),
        b'D' | b'x' => nested(b"%m/%d/%y", shape, time, out),
        b'r' => nested(b"%I:%M:%S %p", shape, time, out),
        b'R' => nested(b"%H:%M", shape, time, out),
        b'T' | b'X' => nested(b"%H:%M:%S", shape, time, out),
        b'F' => iso_date(shape, time, out),
        b'Y' => year(time.year, 4, shape, out),
        b'G' => year(time.iso_week().0, 4, shape, out),
        b'C' => year(century, 2, shape, out),
        b'y' => number(time.year.abs() % 100, 2, shape, b'0', out),
        b'g' => number(time.iso_week().0.abs() % 100, 2, shape, b'0', out),
        b'q' => number((time.month + 2) / 3, 1, shape, b'0', out),
        b'm' => number(time.month, 2, shape, b'0', out),
        b'd' => number(time.day, 2, shape, b'0', out),
        b'e' => number(time.day, 2, shape, b'_', out),
        b'j' => number(time.yearday + 1, 3, shape, b'0', out),
        b'u' => number(monday + 1, 1, shape, b'0', out),
        b'w' => number(time.weekday, 1, shape, b'0', out),
        b'U' => number((time.yearday + 7 - time.weekday) / 7, 2, shape, b'0', out),
        b'W' => number((time.yearday + 7 - monday) / 7, 2, shape, b'0', out),
        b'V' => number(time.iso_week().1, 2, shape, b'0', out),
        b'H' => number(time.hour, 2, shape, b'0', out),
        b'k' => number(time.hour, 2, shape, b'_', out),
        b'I' => number(twelve, 2, shape, b'0', out),
        b'l' => number(twelve, 2, shape, b'_', out),
        b'M' => number(time.minute, 2, shape, b'0', out),
        b'S' => number(time.second, 2, shape, b'0', out),
        b's' => number(time.epoch, 1, shape, b'0', out),
        b'N' => nanoseconds(time.nanos, shape, out),
        b'z' => offset(time.offset, shape, out),
        _ => return false,
    }
    true
}

fn name_of<'a>(names: &[&'a str], index: i64) -> &'a str {
    usize::try_from(index)
        .ok()
        .and_then(|index| names.get(index).copied())
        .unwrap_or("???")
}

fn name(name: &str, shape: Shape, out: &mut Vec<u8>) {
    if shape.upper || shape.swap {
        padded(name.to_ascii_uppercase().as_bytes(), shape, b' ', out);
    } else {
        padded(name.as_bytes(), shape, b' ', out);
    }
}

fn nested(format: &[u8], shape: Shape, time: &Civil, out: &mut Vec<u8>) {
    let mut inner = Vec::with_capacity(32);
    write(format, time, shape.upper, &mut inner);
    padded(&inner, shape, b' ', out);
}

/// Writes the year with at least four digits, unless a width says otherwise, the month and the day.
fn iso_date(shape: Shape, time: &Civil, out: &mut Vec<u8>) {
    let of_year = if shape.pad == 0 && shape.width.is_none() {
        Shape {
            pad: b'+',
            width: Some(4),
            ..shape
        }
    } else {
        let width = shape.width.unwrap_or(0).saturating_sub("-mm-dd".len());
        Shape {
            width: Some(width),
            ..shape
        }
    };
    year(time.year, 4, of_year, out);
    write(b"-%m-%d", time, false, out);
}

/// Writes a year or a century. With the flag `+`, a number of more digits than usual has a sign.
fn year(value: i64, digits: usize, shape: Shape, out: &mut Vec<u8>) {
    let limit = if digits == 2 { 99 } else { 9999 };
    let wide = shape.width.is_some_and(|width| width > digits);
    let sign = if value < 0 {
        "-"
    } else if shape.pad == b'+' && (value > limit || wide) {
        "+"
    } else {
        ""
    };
    signed(sign, value.unsigned_abs(), digits, shape, b'0', out);
}

fn number(value: i64, digits: usize, shape: Shape, pad: u8, out: &mut Vec<u8>) {
    let sign = if value < 0 { "-" } else { "" };
    signed(sign, value.unsigned_abs(), digits, shape, pad, out);
}

fn signed(sign: &str, value: u64, digits: usize, shape: Shape, pad: u8, out: &mut Vec<u8>) {
    let digits_of = value.to_string();
    let pad = if shape.pad == 0 { pad } else { shape.pad };
    // A width includes the sign; the usual number of digits does not.
    let width = shape.width.unwrap_or(digits + sign.len());
    filled(sign, &digits_of, width, pad, out);
}

/// Writes sign and digits with at least `width` bytes. Zeros follow the sign, spaces precede it.
fn filled(sign: &str, digits: &str, width: usize, pad: u8, out: &mut Vec<u8>) {
    let missing = width.saturating_sub(sign.len() + digits.len());
    match pad {
        b'-' => out.extend_from_slice(sign.as_bytes()),
        b'_' => {
            out.extend(std::iter::repeat_n(b' ', missing));
            out.extend_from_slice(sign.as_bytes());
        }
        _ => {
            out.extend_from_slice(sign.as_bytes());
            out.extend(std::iter::repeat_n(b'0', missing));
        }
    }
    out.extend_from_slice(digits.as_bytes());
}

/// Writes text with at least the width that was given.
fn padded(text: &[u8], shape: Shape, usual: u8, out: &mut Vec<u8>) {
    let fill = match shape.pad {
        b'0' | b'+' => b'0',
        _ => usual,
    };
    let missing = shape.width.unwrap_or(0).saturating_sub(text.len());
    if shape.pad != b'-' {
        out.extend(std::iter::repeat_n(fill, missing));
    }
    out.extend_from_slice(text);
}

/// Writes a fraction. A width cuts its digits or adds zeros after them.
fn nanoseconds(nanos: u32, shape: Shape, out: &mut Vec<u8>) {
    let width = shape.width.filter(|width| *width > 0).unwrap_or(9);
    let digits = format!("{nanos:09}");
    let mut shown = &digits[..width.min(9)];
    let fill = match shape.pad {
        b'_' | b'-' => {
            let trimmed = shown.trim_end_matches('0');
            shown = &shown[..trimmed.len().max(1)];
            b' '
        }
        _ => b'0',
    };
    out.extend_from_slice(shown.as_bytes());
    if shape.pad != b'-' {
        out.extend(std::iter::repeat_n(fill, width - shown.len()));
    }
}

/// Writes the distance from UTC, with the given number of colons. Three colons mean the shortest
/// exact form.
fn offset(offset: i64, shape: Shape, out: &mut Vec<u8>) {
    let sign = if offset < 0 { "-" } else { "+" };
    let (hours, minutes, seconds) = (
        offset.abs() / HOUR,
        offset.abs() / 60 % 60,
        offset.abs() % 60,
    );
    let colons = match shape.colons {
        3 if seconds != 0 => 2,
        3 if minutes != 0 => 1,
        3 => 3,
        colons => colons,
    };
    let (body, usual) = match colons {
        0 => ((hours * 100 + minutes).to_string(), "+hhmm".len()),
        1 => (format!("{hours}:{minutes:02}"), "+hh:mm".len()),
        2 => (
            format!("{hours}:{minutes:02}:{seconds:02}"),
            "+hh:mm:ss".len(),
        ),
        _ => (hours.to_string(), "+hh".len()),
    };
    let pad = if shape.pad == 0 { b'0' } else { shape.pad };
    filled(sign, &body, shape.width.unwrap_or(0).max(usual), pad, out);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Saturday 3 February 2024, 09:35:06.07 in India.
    fn moment() -> Civil {
        Civil {
            year: 2024,
            month: 2,
            day: 3,
            hour: 9,
            minute: 35,
            second: 6,
            weekday: 6,
            yearday: 33,
            offset: 19_800,
            zone: "IST".to_owned(),
            epoch: 1_706_933_106,
            nanos: 70_000_000,
        }
    }

    fn written(time: &Civil, by: &str) -> String {
        let mut out = Vec::new();
        format(by.as_bytes(), time, &mut out);
        String::from_utf8(out).unwrap()
    }

    /// Formats, and what GNU du 9.1 made of them.
    const SEEN: &[(&str, &str)] = &[
        ("%5d", "00003"),
        ("%-5d", "3"),
        ("%_5d", "    3"),
        ("%5e", "    3"),
        ("%05e", "00003"),
        ("%1d", "3"),
        ("%-_d", " 3"),
        ("%+5d", "00003"),
        ("%10a", "       Sat"),
        ("%010a", "0000000Sat"),
        ("%-10a", "Sat"),
        ("%^a%#a", "SATSAT"),
        ("%p%P%#p%^P", "AMamamam"),
        ("%Z%#Z%10Z", "ISTist       IST"),
        ("%z %:z %::z %:::z", "+0530 +05:30 +05:30:00 +05:30"),
        ("%::::z", "%::::z"),
        ("%:8z", "%:8z"),
        ("%_z", " +530"),
        ("%-z", "+530"),
        ("%8z", "+0000530"),
        ("%_8z", "    +530"),
        ("%_::z", " +5:30:00"),
        ("%-:z", "+5:30"),
        ("%N", "070000000"),
        ("%3N", "070"),
        ("%-N", "07"),
        ("%_N", "07       "),
        ("%12N", "070000000000"),
        ("%_3N", "07 "),
        ("%Ey%Od", "2403"),
        ("%Q%5Q", "%Q  %5Q"),
        ("%E", "%E"),
        ("%", "%"),
        ("%5", "   %5"),
        ("%5%", "   %5%"),
        ("%_%", "%_%"),
        ("%%", "%"),
        ("%n%t", "\n\t"),
        ("%10D", "  02/03/24"),
        ("%010D", "0002/03/24"),
        ("%r", "09:35:06 AM"),
        ("%c", "Sat Feb  3 09:35:06 2024"),
        ("%^c", "SAT FEB  3 09:35:06 2024"),
        ("%x %X %R", "02/03/24 09:35:06 09:35"),
        ("%j%5j%-j", "0340003434"),
        ("%U%V%W%u%w%q", "040505661"),
        ("%s %20s", "1706933106 00000000001706933106"),
        ("%+4C", "+020"),
        ("%OY%Ed%E5d", "%OY%Ed%E5d"),
        ("%OB%Ep", "FebruaryAM"),
        ("%k%l%I", " 9 909"),
        ("%F %8F %+F", "2024-02-03 2024-02-03 2024-02-03"),
        ("%:x%", "%:x%"),
        ("ab%Lcd", "ab%Lcd"),
    ];

    #[test]
    fn seen() {
        for (by, expected) in SEEN {
            assert_eq!(&written(&moment(), by), expected, "{by}");
        }
    }

    #[test]
    fn far_years() {
        let at = |year| Civil { year, ..moment() };
        let all = "%Y|%C|%y|%F|%+Y|%_Y|%8Y|%8F|%+8Y";
        assert_eq!(
            written(&at(10_000), all),
            "10000|100|00|+10000-02-03|+10000|10000|00010000|10000-02-03|+0010000"
        );
        assert_eq!(
            written(&at(68), all),
            "0068|00|68|0068-02-03|0068|  68|00000068|68-02-03|+0000068"
        );
        assert_eq!(
            written(&at(-1199), all),
            "-1199|-11|99|-1199-02-03|-1199|-1199|-0001199|-1199-02-03|-0001199"
        );
    }

    #[test]
    fn west_of_utc() {
        let west = Civil {
            offset: -12_600,
            ..moment()
        };
        assert_eq!(written(&west, "%z%:z%:::z"), "-0330-03:30-03:30");
        let utc = Civil {
            offset: 0,
            ..moment()
        };
        assert_eq!(written(&utc, "%z%:::z"), "+0000+00");
    }
}
