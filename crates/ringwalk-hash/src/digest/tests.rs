#![expect(clippy::cast_possible_truncation, reason = "bytes of test data")]

use super::*;

#[test]
fn digits_are_read_as_they_are_written() {
    let digest = Digest::from(std::array::from_fn(|at| at as u8 * 7) as [u8; 32]);
    let text = digest.to_string();
    assert!(text.starts_with("00070e15"), "{text}");
    assert_eq!(
        Digest::parse(Algorithm::Sha256, text.as_bytes()),
        Ok(digest)
    );
    let upper = text.to_uppercase();
    assert_eq!(
        Digest::parse(Algorithm::Blake3, upper.as_bytes()),
        Ok(digest)
    );
}

#[test]
fn other_text_is_no_digest() {
    let digits = "0".repeat(64);
    for (algorithm, text) in [
        (Algorithm::Sha256, &digits[1..]),
        (Algorithm::Xxh3, &digits),
        (Algorithm::Xxh3, "0123456789abcdef0123456789abcdeg"),
        (Algorithm::Xxh3, "+123456789abcdef0123456789abcde "),
    ] {
        assert_eq!(
            Digest::parse(algorithm, text.as_bytes()),
            Err(ParseDigestError)
        );
    }
}
