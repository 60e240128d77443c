//! The raw system interface of Ringwalk: what rustix does not offer, in safe clothes.
//!
//! | file | what is in it |
//! |---|---|
//! | `accounts.rs` | users and groups by name and by number |
//! | `arguments.rs` | the words of a command, in one buffer |
//! | `btrfs/` | ioctls of btrfs: searching trees, committing
//! | `character_locale.rs` | what the C library knows of characters, in a locale of our own |
//! | `directory_fd.rs` | an open directory, closed with fewer steps |
//! | `directory_ring/` | directories opened and read on an `io_uring` |
//! | `dirent.rs` | the records that `getdents64` writes, checked and read in place |
//! | `environment.rs` | what the environment takes of a new program's room |
//! | `fiemap.rs` | where the contents of a file are, and whether others share them |
//! | `file_handle.rs` | files opened by inode number and generation |
//! | `fnmatch.rs`, `gnu_regex.rs` | the C library's patterns and regular expressions |
//! | `getdents.rs` | the call itself, into a buffer of the caller |
//! | `module_device.rs`, `uapi.rs` | the kernel module's device, recognised and asked; its interface |
//! | `opcode/` | entries that read directories, for rings of others |
//! | `page_buffer.rs` | pages of memory of our own |
//! | `page_cache.rs` | what of a file is in the page cache |
//! | `probe.rs` | what `io_uring` offers to this process, by asking it |
//! | `read_ring.rs` | reads of one file on an `io_uring` |
//! | `readdirplus.rs` | the records of READDIRPLUS, checked and read in place |
//! | `records.rs` | a buffer of records with an index |
//! | `signals.rs` | what was done with signals when the program began |
//! | `spawn.rs` | starting a program and waiting for its end |
//! | `standard_streams.rs` | whether standard input and output were closed when the program began |
//! | `statx.rs` | metadata of a file, into a buffer of the caller |
//! | `thread_usage.rs` | CPU time and voluntary waits of the calling thread |
//! | `xfs.rs` | XFS's geometry, inode chunks and metadata in bulk |
//!
//! All `unsafe` code of the project lives in this crate. What is *not* here: opening, limits and everything
//! else for which [rustix] already is the safe interface, and every decision about when to call what (the engine's).

mod accounts;
mod arguments;
pub mod btrfs;
mod character_locale;
mod directory_fd;
mod directory_ring;
mod dirent;
mod environment;
mod fiemap;
mod file_handle;
mod fnmatch;
mod getdents;
mod gnu_regex;
mod module_device;
pub mod opcode;
mod page_buffer;
mod page_cache;
mod probe;
mod read_ring;
mod readdirplus;
mod records;
mod signals;
mod spawn;
mod standard_streams;
mod statx;
mod thread_usage;
pub mod uapi;
mod xfs;

pub use accounts::{group_by_name, group_name, user_by_name, user_name};
pub use arguments::Arguments;
pub use character_locale::{CharacterClass, CharacterLocale};
pub use directory_fd::{DirectoryFd, duplicate};
pub use directory_ring::{Completion, DirectoryReader, DirectoryRing};
pub use dirent::{Dirent, DirentError, Dirents, RawFileType};
pub use environment::environment_size;
pub use fiemap::{ExtentMap, FileExtent};
pub use file_handle::{FileHandle, open_by_handle};
pub use fnmatch::fnmatch;
pub use getdents::getdents64;
pub use gnu_regex::GnuRegex;
pub use module_device::{Filled, ModuleDevice, ModuleRefused, What};
pub use opcode::DirectoryOpcodes;
pub use page_buffer::PageBuffer;
pub use page_cache::{Cachestat, cachestat};
pub use probe::{IoUring, IoWorkers, PROBE_ENTRIES};
pub use read_ring::{ReadRing, ReadRingOptions};
pub use readdirplus::{PlusEntries, PlusEntry, PlusLayout, PlusStat};
pub use records::Records;
pub use signals::with_signals_blocked;
pub use spawn::{Child, Ended, Spawn};
pub use standard_streams::{StandardInput, stdout_was_closed};
pub use statx::{Statx, statx, statx_at};
pub use thread_usage::ThreadUsage;
pub use xfs::{XfsBulk, XfsBulkstat, XfsGeometry, XfsInodeChunk, xfs_geometry};

pub use io_uring;
pub use rustix;
