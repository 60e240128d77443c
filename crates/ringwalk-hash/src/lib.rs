//! Hashes of the contents of many files.
//!
//! | file | contents |
//! |---|---|
//! | `digest.rs` | hash functions and their results |
//! | `file_version.rs` | what says that a file has not changed |

mod digest;
mod file_version;

pub use digest::{Algorithm, Digest, ParseDigestError};
pub use file_version::FileVersion;
