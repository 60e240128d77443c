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
mod tests;
