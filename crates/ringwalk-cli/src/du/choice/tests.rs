use super::*;

const WORDS: &[Choice<u8>] = &[("one", 1), ("once", 1), ("two", 2), ("twofold", 3)];

#[test]
fn words() {
    assert_eq!(choose("x", b"one", WORDS), Ok(1));
    assert_eq!(choose("x", b"on", WORDS), Ok(1));
    assert_eq!(choose("x", b"two", WORDS), Ok(2));
    assert_eq!(choose("x", b"twof", WORDS), Ok(3));
}

#[test]
fn messages() {
    let plain = |text: String| text.replace(['‘', '’'], "'");
    assert_eq!(
        plain(choose("--x", b"three", WORDS).unwrap_err()),
        "invalid argument 'three' for '--x'"
    );
    assert_eq!(
        plain(choose("--x", b"tw", WORDS).unwrap_err()),
        "ambiguous argument 'tw' for '--x'"
    );
    assert_eq!(
        plain(list(WORDS)),
        "Valid arguments are:\n  - 'one', 'once'\n  - 'two'\n  - 'twofold'"
    );
}
