use super::*;

/// The digests that `b3sum`, `xxhsum -H128` and `sha256sum` give.
const KNOWN: [(Algorithm, &str, &str); 6] = [
    (
        Algorithm::Blake3,
        "",
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
    ),
    (
        Algorithm::Blake3,
        "abc",
        "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85",
    ),
    (Algorithm::Xxh3, "", "99aa06d3014798d86001c324468d497f"),
    (Algorithm::Xxh3, "abc", "06b05ab6733a618578af5f94892f3950"),
    (
        Algorithm::Sha256,
        "",
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    ),
    (
        Algorithm::Sha256,
        "abc",
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
    ),
];

#[test]
fn digests_are_those_of_the_known_programs() {
    for (algorithm, text, expected) in KNOWN {
        let mut hasher = Hasher::new(algorithm);
        // The second file of one hasher does not depend on the first.
        for _ in 0..2 {
            text.bytes().for_each(|byte| hasher.update(&[byte]));
            assert_eq!(
                hasher.finish().to_string(),
                expected,
                "{algorithm:?} of {text:?}"
            );
        }
    }
}
