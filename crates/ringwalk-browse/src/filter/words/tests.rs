use super::split;

#[test]
fn words_are_split_as_a_shell_splits_them() {
    for (text, words) in [
        ("", &[][..]),
        ("  \t\n", &[]),
        ("-name *.o", &["-name", "*.o"]),
        (
            "-name '*.o' -mtime  +30 ",
            &["-name", "*.o", "-mtime", "+30"],
        ),
        (r#"-name "a b"c'd e'"#, &["-name", "a bcd e"]),
        (
            r"\( -type f \) \! a\ b",
            &["(", "-type", "f", ")", "!", "a b"],
        ),
        (r#""\"\\\$\`\a" '\n'"#, &["\"\\$`\\a", "\\n"]),
        ("'' \"\"x", &["", "x"]),
        ("ä 'ö ü'", &["ä", "ö ü"]),
    ] {
        assert_eq!(split(text).unwrap(), words, "{text}");
    }
}

#[test]
fn quotes_must_be_closed() {
    assert!(split("-name 'x").unwrap_err().contains("expected '"));
    assert!(split("-name \"x'").unwrap_err().contains("expected \""));
    assert!(split("x\\").unwrap_err().contains("backslash"));
}
