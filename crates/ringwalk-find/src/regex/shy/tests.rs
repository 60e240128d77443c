use super::*;

#[test]
fn shy_groups_become_plain_ones() {
    for (pattern, expected) in [
        (r"a\(b\)\1", r"a\(b\)\1"),
        (r"\(?:a\|b\)", r"\(a\|b\)"),
        (r"\(?:a\)\(b\)\1", r"\(a\)\(b\)\2"),
        (r"\(a\)\(?:\(?:b\)\(c\)\)\1\2", r"\(a\)\(\(b\)\(c\)\)\1\4"),
        (r"\\(?:a\(?:b\)", r"\\(?:a\(b\)"),
        (r"[\(?:]\(?:b\)", r"[\(?:]\(b\)"),
        (r"[]\(?:]\(?:b\)", r"[]\(?:]\(b\)"),
        (r"[^]\(?:]\(?:b\)", r"[^]\(?:]\(b\)"),
        (r"[[.].]\(?:]\(?:b\)", r"[[.].]\(?:]\(b\)"),
        (r"[[:alpha:]\(?:]\(?:b\)", r"[[:alpha:]\(?:]\(b\)"),
        (r"\(?:a\)[", r"\(a\)["),
        (r"\(?:a\)[[.", r"\(a\)[[."),
        (r"\(?:a\)\", r"\(a\)\"),
    ] {
        let expanded = expand(pattern.as_bytes()).expect(pattern);
        assert_eq!(expanded, expected.as_bytes(), "{pattern}");
    }
}

#[test]
fn references_to_no_group_are_errors() {
    let far = r"\(?:a\)".repeat(9) + r"\(b\)\1";
    for pattern in [r"\(?:a\)\1", r"\(?:a\)\(b\)\2", &far] {
        assert!(expand(pattern.as_bytes()).is_err(), "{pattern}");
    }
}
