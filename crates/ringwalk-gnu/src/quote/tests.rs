use super::*;

/// Names, and how GNU du 9.1 wrote them in "cannot access" in the C locale.
const ALWAYS: &[(&[u8], &str)] = &[
    (b"", "''"),
    (b"nx", "'nx'"),
    (b"n x", "'n x'"),
    (b"n'x", "\"n'x\""),
    (b"n\"x", "'n\"x'"),
    (b"n\nx", "'n'$'\\n''x'"),
    (b"n\x01x", "'n'$'\\001''x'"),
    (b"\xc3\xa9", "''$'\\303\\251'"),
    (b"n'\xff", "'''n'\\'''$'\\377'"),
    (b"n'\n\"", "'n'\\'''$'\\n''\"'"),
    (b"a'b\tc", "'a'\\''b'$'\\t''c'"),
    (b"\x01\x02", "''$'\\001\\002'"),
    (b"'\x01'", "''\\'''$'\\001'\\'''"),
    (b"\x01'\x01", "'\\001'\\'''$'\\001'"),
    (b"''", "\"''\""),
    (b"\"'", "'\"'\\'''"),
];

#[test]
fn always() {
    for (name, expected) in ALWAYS {
        assert_eq!(&shell(name, true, false), expected, "{name:?}");
    }
}

#[test]
fn only_if_needed() {
    for name in [
        "nx", "a~", "a#", "a{", "{}", "a,b", "a%b", "a@b", "a+b", "]", "%", "-x",
    ] {
        assert_eq!(shell(name.as_bytes(), false, false), name);
    }
    for name in [
        "n x", "~x", "#x", "{", "}", "[a]", "a*", "a?", "a=b", "a:b", "a^b", "a!b", "a\\b", "a|b",
        "a(b", "a&b", "a;b", "a<b", "a$b", "a`b", "!", "",
    ] {
        assert_eq!(
            shell(name.as_bytes(), false, false),
            format!("'{name}'"),
            "{name}"
        );
    }
}

#[test]
fn utf8_is_shown() {
    assert_eq!(shell("é".as_bytes(), true, true), "'é'");
    assert_eq!(shell("é".as_bytes(), false, true), "é");
    assert_eq!(shell("n'é".as_bytes(), false, true), "\"n'é\"");
    assert_eq!(shell("\u{80}".as_bytes(), true, true), "''$'\\302\\200'");
    assert_eq!(shell(b"n'\xc3\xa9\xff", true, true), "'''n'\\''é'$'\\377'");
}

#[test]
fn values() {
    assert_eq!(locale_quoted(b"x'y", false), "'x\\'y'");
    assert_eq!(locale_quoted(b"x'y", true), "‘x'y’");
    assert_eq!(locale_quoted(b"a\nb\x01\\\"", false), "'a\\nb\\001\\\\\"'");
    assert_eq!(locale_quoted("é".as_bytes(), false), "'\\303\\251'");
    assert_eq!(locale_quoted("é".as_bytes(), true), "‘é’");
}
