//! A hash function at work, for bytes in their order.

use crate::{Algorithm, Digest, ReadBuffer};
use sha2::Digest as _;
use std::io::{self, Read};
use twox_hash::xxhash3_128;

/// The state of a hash function.
pub(crate) enum Hasher {
    Blake3(Box<blake3::Hasher>),
    Xxh3(Box<xxhash3_128::Hasher>),
    Sha256(Box<sha2::Sha256>),
}

impl Hasher {
    pub(crate) fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Blake3 => Self::Blake3(Box::default()),
            Algorithm::Xxh3 => Self::Xxh3(Box::new(xxhash3_128::Hasher::new())),
            Algorithm::Sha256 => Self::Sha256(Box::default()),
        }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Blake3(hasher) => {
                hasher.update(bytes);
            }
            Self::Xxh3(hasher) => hasher.write(bytes),
            Self::Sha256(hasher) => hasher.update(bytes),
        }
    }

    /// Returns the digest, and makes the state ready for another file.
    pub(crate) fn finish(&mut self) -> Digest {
        match self {
            Self::Blake3(hasher) => {
                let digest: [u8; 32] = hasher.finalize().into();
                hasher.reset();
                digest.into()
            }
            Self::Xxh3(hasher) => {
                let digest = hasher.finish_128().to_be_bytes();
                **hasher = xxhash3_128::Hasher::new();
                digest.into()
            }
            Self::Sha256(hasher) => {
                let digest: [u8; 32] = hasher.finalize_reset().into();
                digest.into()
            }
        }
    }
}

/// Hashes what a reader gives, to its end.
///
/// # Errors
///
/// The errors of the reader, except [`io::ErrorKind::Interrupted`].
pub fn hash_reader(mut reader: impl Read, algorithm: Algorithm) -> io::Result<Digest> {
    let mut hasher = Hasher::new(algorithm);
    let mut buffer = ReadBuffer::default();
    loop {
        match reader.read(&mut buffer) {
            Ok(0) => return Ok(hasher.finish()),
            Ok(read) => hasher.update(&buffer[..read]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Returns a hash of 128 bits of text in memory, by XXH3. It is fast, and must not be relied on
/// against people who choose the text.
pub fn quick_hash(text: &[u8]) -> u128 {
    xxhash3_128::Hasher::oneshot(text)
}

#[cfg(test)]
mod tests {
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
}
