//! Hashes of the contents of many files.
//!
//! ```
//! use ringwalk_hash::{Algorithm, OpenRoot, hash_file};
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("file");
//! std::fs::write(&path, "abc")?;
//! let digest = hash_file(&OpenRoot::Working, &path, Algorithm::Sha256);
//! assert!(digest.unwrap().to_string().starts_with("ba7816bf8f01cfea"));
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! | file | contents |
//! |---|---|
//! | `digest.rs` | hash functions and their results |
//! | `hasher.rs` | a hash function at work |
//! | `tree.rs` | BLAKE3 of a file whose pieces are hashed one by one |
//! | `check_list.rs` | lists of hashes, as `sha256sum` and `b3sum` print them |
//! | `file_version.rs` | what says that a file has not changed |
//! | `fault.rs` | why a file has no hash |
//! | `kernel_files.rs` | file systems whose files the kernel makes up |
//! | `root_directory.rs` | the directory of a root, which is kept open if few are |
//! | `open_file.rs` | opening a file, and the version of it that is read |
//! | `read.rs` | reading a part of a file, without its holes |
//! | `multi_file.rs` | small files, many by one call |
//! | `file_permits.rs` | how many files workers may have open beside one each |
//! | `large.rs` | one large file by several threads |
//! | `crew.rs` | threads that work on files, as many as help |
//! | `hash_files.rs` | many files at once |
//! | `files_below.rs` | the files below roots |
//! | `sequence.rs` | their results, in the order of the files |
//! | `cache/` | hashes that are kept in a file, for files that do not change |

pub mod cache;
pub mod check_list;
mod crew;
mod digest;
mod fault;
mod file_permits;
mod file_version;
mod files_below;
mod hash_files;
mod hasher;
mod kernel_files;
mod large;
mod multi_file;
mod open_file;
mod read;
mod root_directory;
mod sequence;
mod tree;

pub use crew::{Crew, MOST};
pub use digest::{Algorithm, Digest, ParseDigestError};
pub use fault::Fault;
pub use file_permits::{FilePermits, Permits, file_permits, raise_file_limit};
pub use file_version::FileVersion;
pub use files_below::FilesBelow;
pub use hash_files::{FileToHash, HashOptions, Hashed, hash_file, hash_files};
pub use hasher::{hash_reader, quick_hash};
pub use kernel_files::{is_kernel_type, kernel_file_system};
pub use multi_file::{MULTI_BYTES, MULTI_FILES, MultiFileReader, suits_multi_file_reads};
pub use open_file::{OpenFile, OpenRoot};
pub use read::{BUFFER, ReadBuffer, ends_at, read_range};
pub use root_directory::{RootDirectory, most_open_roots};
pub use tree::{PIECE, PieceHasher, Tree};
