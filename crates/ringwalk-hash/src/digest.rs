//! Hash functions and their results.

use ringwalk_text::{from_hex, hex};
use std::fmt;

/// A hash function for the contents of files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Algorithm {
    /// BLAKE3 with 32 bytes, as `b3sum` gives it. One large file can be hashed by several threads.
    #[default]
    Blake3,
    /// XXH3 with 16 bytes, as `xxhsum -H128` gives it. It is fast, and no protection against files
    /// that somebody has made to have the same hash.
    Xxh3,
    /// SHA-256, as `sha256sum` gives it.
    Sha256,
}

impl Algorithm {
    /// Returns the length of a digest in bytes.
    pub fn digest_len(self) -> usize {
        match self {
            Self::Blake3 | Self::Sha256 => 32,
            Self::Xxh3 => 16,
        }
    }

    /// Returns the name in check lists of BSD's style, such as `SHA256 (name) = digest`.
    pub fn tag(self) -> &'static str {
        match self {
            Self::Blake3 => "BLAKE3",
            Self::Xxh3 => "XXH128",
            Self::Sha256 => "SHA256",
        }
    }
}

/// The result of a hash function: 16 or 32 bytes. It is displayed as lower-case hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Digest {
    bytes: [u8; 32],
    len: u8,
}

/// Text that is no digest of the algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParseDigestError;

impl fmt::Display for ParseDigestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a digest of this algorithm")
    }
}

impl std::error::Error for ParseDigestError {}

impl Digest {
    /// Reads hexadecimal digits of either case.
    ///
    /// # Errors
    ///
    /// If there are other characters, or not two digits for each byte.
    pub fn parse(algorithm: Algorithm, digits: &[u8]) -> Result<Self, ParseDigestError> {
        let bytes = from_hex(digits).ok_or(ParseDigestError)?;
        let digest = match algorithm.digest_len() {
            16 => <[u8; 16]>::try_from(bytes).map(Self::from),
            _ => <[u8; 32]>::try_from(bytes).map(Self::from),
        };
        digest.map_err(|_| ParseDigestError)
    }

    /// Returns the bytes: 16 or 32.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

impl From<[u8; 32]> for Digest {
    fn from(bytes: [u8; 32]) -> Self {
        Self { bytes, len: 32 }
    }
}

impl From<[u8; 16]> for Digest {
    fn from(short: [u8; 16]) -> Self {
        let mut bytes = [0; 32];
        bytes[..16].copy_from_slice(&short);
        Self { bytes, len: 16 }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex(self.as_bytes()))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
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
}
