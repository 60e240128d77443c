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
