use super::*;

#[test]
fn codesets() {
    assert!(names_utf8("C.UTF-8"));
    assert!(names_utf8("de_DE.utf8@euro"));
    assert!(!names_utf8("C"));
    assert!(!names_utf8("de_DE.ISO-8859-15@UTF-8"));
}

#[test]
fn characters() {
    assert_eq!(first(b"", true), None);
    assert_eq!(first(b"ab", true), Some((Ok('a'), 1)));
    assert_eq!(first("éa".as_bytes(), true), Some((Ok('é'), 2)));
    assert_eq!(first("é".as_bytes(), false), Some((Err(0xc3), 1)));
    assert_eq!(first(b"\xc3(", true), Some((Err(0xc3), 1)));
    assert_eq!(first("😀".as_bytes(), true), Some((Ok('😀'), 4)));
}
