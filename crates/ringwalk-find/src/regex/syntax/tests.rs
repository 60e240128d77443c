use super::*;

/// What GNU find 4.9 gives to `re_set_syntax`, as seen from a library put before the C library.
/// Since findutils 4.11 Emacs's syntax has `RE_CHAR_CLASSES` and `RE_INTERVALS` too.
#[test]
fn bits_are_those_of_gnu_find() {
    let seen = [
        0x0244,
        0x000b_e0cd,
        0x0101_02c6,
        0x0023_ba5c,
        0x0204,
        0x0023_b24d,
        0x0001_0a46,
        0x002b_b2fd,
        0x0101_02c6,
        0x0023_ba5c,
        0x0003_b2fc,
        0x0001_06c4,
        0x0101_02c6,
    ];
    for (name, bits) in Syntax::names().zip(seen) {
        let syntax = Syntax::named(name.as_bytes()).expect("it is listed");
        assert_eq!(syntax.bits(false), bits, "{name}");
        assert_eq!(syntax.bits(true), bits | 0x40_0000, "{name}");
    }
    assert_eq!(Syntax::named(b"perl"), None);
    assert_eq!(Syntax::default(), Syntax::Emacs);
}
