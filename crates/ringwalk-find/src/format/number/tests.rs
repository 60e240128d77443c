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
