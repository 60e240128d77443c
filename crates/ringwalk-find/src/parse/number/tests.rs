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
