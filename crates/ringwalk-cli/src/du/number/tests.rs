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
