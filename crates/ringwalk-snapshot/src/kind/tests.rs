use super::*;

#[test]
fn every_letter_comes_back_as_its_type() {
    for (file_type, letter) in LETTERS {
        assert_eq!(type_letter(file_type), Some(letter));
        assert_eq!(type_of_letter(Some(letter.as_bytes())), file_type);
    }
    assert_eq!(type_letter(FileType::Unknown), None);
    for other in [None, Some(&b"D"[..]), Some(b""), Some(b"ff")] {
        assert_eq!(type_of_letter(other), FileType::Unknown, "{other:?}");
    }
}

#[test]
fn an_extension_is_short_text_behind_a_dot_that_does_not_begin_the_name() {
    let of = |name: &'static [u8]| extension(FileType::Regular, name);
    assert_eq!(of(b"a.tar.gz"), Some("gz"));
    assert_eq!(of(b"a.1234567890123456"), Some("1234567890123456"));
    for without in [
        &b"a"[..],
        b".profile",
        b"a.",
        b"a.12345678901234567",
        b"a.\xff",
    ] {
        assert_eq!(of(without), None, "{}", without.escape_ascii());
    }
    assert_eq!(extension(FileType::Directory, b"conf.d"), None);
}
