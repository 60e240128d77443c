//! Times as `-printf` writes them: `%A`, `%B`, `%C` and `%T` with a letter, and `%a`, `%c` and `%t`.
//!
//! GNU find leaves all but a few letters to the C library's strftime(3), so there is no `%TN` or `%Tq`, and years stand
//! as they are: 68 and not 0068. Seconds have ten digits of fraction, the last of which is always 0. Times of years that
//! C has no number for are written as seconds since 1970 whatever the letter. Names of days and months are English in
//! every locale. All of it found by experiment.

use ringwalk::Timestamp;
use ringwalk_gnu::civil::{Civil, Zone};
use ringwalk_gnu::strftime;

/// Appends `time` as the directive `letter` of `-printf`'s `%T` has it: `%T@` is the letter `@`.
///
/// What is no directive is written with a percent sign before it.
pub fn write_letter(letter: u8, time: Timestamp, zone: &Zone, out: &mut Vec<u8>) {
    if letter == b'@' {
        return write_seconds(time, out);
    }
    match Civil::new(time, zone) {
        Some(civil) => write_civil(letter, &civil, out),
        None if matches!(letter, b'+' | b'S' | b'T' | b'X') => write_seconds(time, out),
        None => out.extend(time.secs.to_string().bytes()),
    }
}

/// Appends `time` as ctime(3) would write it, with a fraction: what `-printf` makes of `%a`, `%c` and `%t`.
pub fn write_ctime(time: Timestamp, zone: &Zone, out: &mut Vec<u8>) {
    let Some(civil) = Civil::new(time, zone) else {
        return write_seconds(time, out);
    };
    strftime::format(b"%a %b %e %H:%M:%S", &civil, out);
    write_fraction(time.nanos, out);
    out.extend(format!(" {:04}", civil.year).bytes());
}

/// Seconds since 1970, which are rounded down, and a fraction that counts forward even before that.
fn write_seconds(time: Timestamp, out: &mut Vec<u8>) {
    out.extend(time.secs.to_string().bytes());
    write_fraction(time.nanos, out);
}

fn write_fraction(nanos: u32, out: &mut Vec<u8>) {
    out.extend(format!(".{nanos:09}0").bytes());
}

fn write_civil(letter: u8, time: &Civil, out: &mut Vec<u8>) {
    let by = |format: &[u8], out: &mut Vec<u8>| strftime::format(format, time, out);
    let short_year = time.year.rem_euclid(100);
    match letter {
        b'S' | b'T' | b'X' => {
            by(if letter == b'S' { b"%S" } else { b"%T" }, out);
            write_fraction(time.nanos, out);
        }
        b'+' => {
            write_civil(b'F', time, out);
            by(b"+%T", out);
            write_fraction(time.nanos, out);
        }
        b'c' => {
            by(b"%a %b %e %T ", out);
            out.extend(time.year.to_string().bytes());
        }
        b'F' => {
            out.extend(time.year.to_string().bytes());
            by(b"-%m-%d", out);
        }
        b'D' | b'x' => {
            by(b"%m/%d/", out);
            out.extend(format!("{short_year:02}").bytes());
        }
        b'Y' => out.extend(time.year.to_string().bytes()),
        b'y' => out.extend(format!("{short_year:02}").bytes()),
        b'C' => out.extend(time.year.div_euclid(100).to_string().bytes()),
        b'G' => out.extend(time.iso_week().0.to_string().bytes()),
        b'g' => {
            let year = time.iso_week().0.rem_euclid(100);
            out.extend(format!("{year:02}").bytes());
        }
        b'N' | b'q' => out.extend([b'%', letter]),
        _ => by(&[b'%', letter], out),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each letter of `letters`, and what is between them.
    fn written(letters: &str, secs: i64, nanos: u32, zone: &str) -> String {
        let mut out = Vec::new();
        for letter in letters.bytes() {
            match letter {
                b' ' => out.push(b' '),
                _ => write_letter(
                    letter,
                    Timestamp { secs, nanos },
                    &Zone::named(zone),
                    &mut out,
                ),
            }
        }
        String::from_utf8(out).unwrap()
    }

    fn ctime(secs: i64, nanos: u32) -> String {
        let mut out = Vec::new();
        write_ctime(Timestamp { secs, nanos }, &Zone::named(""), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fractions() {
        let all = written("@ + S T X", 1_706_933_106, 70_000_001, "Asia/Kolkata");
        let expected = "1706933106.0700000010 2024-02-03+09:35:06.0700000010 06.0700000010 \
                        09:35:06.0700000010 09:35:06.0700000010";
        assert_eq!(all, expected);
        assert_eq!(written("@", -1, 500_000_000, ""), "-1.5000000000");
        assert_eq!(
            ctime(1_706_933_106, 70_000_001),
            "Sat Feb  3 04:05:06.0700000010 2024"
        );
    }

    #[test]
    fn years_of_the_c_library() {
        assert_eq!(
            written("c F C y G D", -60_000_000_000, 0, ""),
            "Mon Sep  3 13:20:00 68 68-09-03 0 68 68 09/03/68"
        );
        assert_eq!(
            written("Y C y g x", -62_198_755_201, 0, ""),
            "-2 -1 98 98 12/31/98"
        );
        assert_eq!(
            ctime(-62_198_755_201, 0),
            "Thu Dec 31 23:59:59.0000000000 -002"
        );
    }

    #[test]
    fn years_beyond() {
        assert_eq!(
            written("@ T H Q", i64::MAX, 5, ""),
            "9223372036854775807.0000000050 9223372036854775807.0000000050 \
             9223372036854775807 9223372036854775807"
        );
        assert_eq!(ctime(i64::MIN, 0), "-9223372036854775808.0000000000");
    }

    #[test]
    fn no_directives() {
        assert_eq!(written("N q % 3 E", 0, 0, ""), "%N %q %  %3 %E");
    }
}
