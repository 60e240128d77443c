//! Times in local time, in the forms of `-printf` and `-ls`.
//!
//! GNU find gives single letters to the C library's strftime. Unlike the one of du and ls, it does
//! not pad years, and knows no `%N` and no `%q`. Seconds have a fraction of ten digits:
//! nanoseconds, and a zero.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{Civil, DAY, HOUR, NANOS_PER_SECOND, Zone};
use ringwalk_gnu::strftime;
use std::io::Write as _;
use std::sync::OnceLock;

/// Returns the zone of the environment, which is read on first use.
fn zone() -> &'static Zone {
    static ZONE: OnceLock<Zone> = OnceLock::new();
    ZONE.get_or_init(Zone::from_environment)
}

/// Appends `%Ak` and the like, for any `k`.
pub(super) fn by_letter(letter: u8, time: Timestamp, out: &mut Vec<u8>) {
    if letter == b'@' {
        return seconds(time, true, out);
    }
    match Civil::new(time, zone()) {
        Some(civil) => conversion(letter, &civil, out),
        // The year does not fit in C's type.
        None => seconds(time, matches!(letter, b'+' | b'S' | b'T' | b'X'), out),
    }
}

/// `%a`, `%c`, `%t`.
pub(super) fn ctime(time: Timestamp, out: &mut Vec<u8>) {
    let Some(civil) = Civil::new(time, zone()) else {
        return seconds(time, true, out);
    };
    strftime::format(b"%a %b %e %H:%M:%S", &civil, out);
    fraction(time.nanos, out);
    append(out, format_args!(" {:04}", civil.year));
}

/// Appends the date of `-ls` at `now`, in seconds since 1970. It has the time of day if it is less
/// than six months (of 30 days) back and at most an hour ahead, or else the year.
pub(super) fn of_ls(time: Timestamp, now: i64, out: &mut Vec<u8>) {
    const PAST: i64 = 6 * 30 * DAY;
    const AHEAD: i64 = HOUR;
    let Some(civil) = Civil::new(time, zone()) else {
        return seconds(time, false, out);
    };
    if time.secs < now.saturating_sub(PAST) || time.secs > now.saturating_add(AHEAD) {
        strftime::format(b"%b %e  ", &civil, out);
        append(out, format_args!("{}", civil.year));
    } else {
        strftime::format(b"%b %e %H:%M", &civil, out);
    }
}

/// Appends seconds since 1970, with nanoseconds if they are wanted.
fn seconds(time: Timestamp, with_nanos: bool, out: &mut Vec<u8>) {
    out.extend_from_slice(itoa::Buffer::new().format(time.secs).as_bytes());
    if with_nanos {
        fraction(time.nanos, out);
    }
}

fn fraction(nanos: u32, out: &mut Vec<u8>) {
    // A digit in front keeps the leading zeros.
    let mut buffer = itoa::Buffer::new();
    let digits = buffer.format(NANOS_PER_SECOND + nanos);
    out.push(b'.');
    out.extend_from_slice(&digits.as_bytes()[1..]);
    out.push(b'0');
}

fn conversion(letter: u8, civil: &Civil, out: &mut Vec<u8>) {
    match letter {
        b'+' => {
            append(out, format_args!("{}", civil.year));
            strftime::format(b"-%m-%d+%H:%M:%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'S' => {
            strftime::format(b"%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'T' | b'X' => {
            strftime::format(b"%H:%M:%S", civil, out);
            fraction(civil.nanos, out);
        }
        b'C' => append(out, format_args!("{}", civil.year.div_euclid(100))),
        b'Y' => append(out, format_args!("{}", civil.year)),
        b'y' => append(out, format_args!("{:02}", civil.year.rem_euclid(100))),
        b'G' => append(out, format_args!("{}", civil.iso_week().0)),
        b'g' => append(
            out,
            format_args!("{:02}", civil.iso_week().0.rem_euclid(100)),
        ),
        b'F' => {
            append(out, format_args!("{}", civil.year));
            strftime::format(b"-%m-%d", civil, out);
        }
        b'c' => {
            strftime::format(b"%a %b %e %H:%M:%S ", civil, out);
            append(out, format_args!("{}", civil.year));
        }
        b'D' | b'x' => {
            strftime::format(b"%m/%d/", civil, out);
            append(out, format_args!("{:02}", civil.year.rem_euclid(100)));
        }
        b'%' => out.push(b'%'),
        b'3'..=b'9' => {
            // A width without a conversion: the two bytes are padded to that width.
            let width = usize::from(letter - b'0');
            out.resize(out.len() + width - 2, b' ');
            out.extend_from_slice(&[b'%', letter]);
        }
        b'A' | b'B' | b'H' | b'I' | b'M' | b'P' | b'R' | b'U' | b'V' | b'W' | b'Z' | b'a'
        | b'b' | b'd' | b'e' | b'h' | b'j' | b'k' | b'l' | b'm' | b'n' | b'p' | b'r' | b's'
        | b't' | b'u' | b'w' | b'z' => strftime::format(&[b'%', letter], civil, out),
        _ => out.extend_from_slice(&[b'%', letter]),
    }
}

fn append(out: &mut Vec<u8>, text: std::fmt::Arguments<'_>) {
    // A write to memory does not fail.
    let _ = out.write_fmt(text);
}

#[cfg(test)]
mod tests;
