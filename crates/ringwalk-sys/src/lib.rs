//! The raw system interface of Ringwalk: safe wrappers for what rustix does not offer.
//!
//! | file | contents |
//! |---|---|
//! | `accounts.rs` | looks up users and groups by name and by number |
//! | `allocator.rs` | the C library's allocator: gives freed memory back, limits arenas |
//! | `arguments.rs` | the arguments of a command, in one buffer |
//! | `btrfs/` | btrfs ioctls: searches trees, commits transactions |
//! | `character_locale.rs` | character classes and case of a locale, without changing the process's locale |
//! | `dedupe_range.rs` | shares the blocks of equal ranges of two files |
//! | `directory_fd.rs` | an open directory that closes with fewer steps |
//! | `directory_ring/` | opens and reads directories on an `io_uring` |
//! | `dirent.rs` | checks and reads the records of `getdents64` in place |
//! | `environment.rs` | the size of the environment that a new program gets |
//! | `fiemap.rs` | where the contents of a file are, and whether other files share them |
//! | `file_system_uuid.rs` | what identifies a file system: UUID and subvolume |
//! | `file_handle.rs` | opens files by inode number and generation |
//! | `files_ring.rs` | reads many files at once on an `io_uring` |
//! | `fnmatch.rs`, `gnu_regex.rs` | the C library's patterns and regular expressions |
//! | `getdents.rs` | the `getdents64` system call |
//! | `lease.rs` | leases: programs that want to change a file wait |
//! | `magic.rs` | types of file systems, as statfs(2) reports them |
//! | `module_device.rs`, `uapi.rs` | the device of the kernel module; its interface |
//! | `open_files.rs` | how many files this process has open |
//! | `opcode/` | submission entries that read directories, for rings of other programs |
//! | `page_buffer.rs` | memory in whole pages |
//! | `page_cache.rs` | which part of a file is in the page cache |
//! | `probe.rs` | what `io_uring` offers to this process |
//! | `project_id.rs` | project ids of files, by name and of open files |
//! | `read_ring.rs` | reads of one file on an `io_uring` |
//! | `readdirplus.rs` | checks and reads the records of READDIRPLUS in place |
//! | `records.rs` | a buffer of records with an index |
//! | `ring_setup.rs` | what rings that read files have in common |
//! | `signals.rs` | the signal actions that the program began with |
//! | `spawn.rs` | starts a program and waits for its end |
//! | `standard_streams.rs` | whether standard input and output were closed when the program began |
//! | `statx.rs` | the `statx` system call, and `fstatat` where a sandbox refuses it |
//! | `sync.rs` | locks that ignore poison |
//! | `thread_usage.rs` | CPU time and voluntary waits of the calling thread |
//! | `tree_groups.rs` | checks and reads the groups of READTREE in place |
//! | `xfs.rs` | XFS ioctls: geometry, inode chunks, metadata of many inodes |
//!
//! All `unsafe` code of the project is in this crate and at the C boundary of `ringwalk-capi`. This
//! crate has no wrapper where [rustix] already has a safe one. The engine decides when to make
//! which call.

mod accounts;
mod allocator;
mod arguments;
pub mod btrfs;
mod character_locale;
mod dedupe_range;
mod directory_fd;
mod directory_ring;
mod dirent;
mod environment;
mod fiemap;
mod file_handle;
mod file_system_uuid;
mod files_ring;
mod fnmatch;
mod getdents;
mod gnu_regex;
mod lease;
pub mod magic;
mod module_device;
pub mod opcode;
mod open_files;
mod page_buffer;
mod page_cache;
mod probe;
mod project_id;
mod read_ring;
mod readdirplus;
mod records;
mod ring_setup;
mod signals;
mod spawn;
mod standard_streams;
mod statx;
pub mod sync;
mod thread_usage;
mod tree_groups;
pub mod uapi;
mod xfs;

pub use accounts::{group_by_name, group_name, user_by_name, user_name};
pub use allocator::{limit_arenas, release_free_memory};
pub use arguments::Arguments;
pub use character_locale::{CharacterClass, CharacterLocale};
pub use dedupe_range::{Deduped, dedupe_range};
pub use directory_fd::{DirectoryFd, duplicate};
pub use directory_ring::{Completion, DirectoryReader, DirectoryRing};
pub use dirent::{Dirent, DirentError, Dirents, RawFileType};
pub use environment::environment_size;
pub use fiemap::{ExtentMap, FileExtent};
pub use file_handle::{FileHandle, open_by_handle};
pub use file_system_uuid::{FileSystemIdentity, file_system_uuid};
pub use files_ring::{FileBytes, FileRead, FilesRing};
pub use fnmatch::fnmatch;
pub use getdents::getdents64;
pub use gnu_regex::GnuRegex;
pub use lease::{end_lease, is_leased, take_read_lease};
pub use module_device::{Filled, ModuleDevice, ModuleRefused, TreeBounds, What};
pub use opcode::DirectoryOpcodes;
pub use open_files::open_file_count;
pub use page_buffer::PageBuffer;
pub use page_cache::{Cachestat, cachestat};
pub use probe::{IoUring, IoWorkers, PROBE_ENTRIES};
pub use project_id::{project_id, project_id_at};
pub use read_ring::{ReadRing, ReadRingOptions};
pub use readdirplus::{PlusEntries, PlusEntry, PlusLayout, PlusStat};
pub use records::Records;
pub use signals::with_signals_blocked;
pub use spawn::{Child, Ended, Spawn};
pub use standard_streams::{StandardInput, stdout_was_closed};
pub use statx::{Statx, refuses_statx, statx, statx_at};
pub use thread_usage::ThreadUsage;
pub use tree_groups::TreeGroup;
pub use xfs::{XfsBulk, XfsBulkstat, XfsGeometry, XfsInodeChunk, xfs_geometry};

pub use io_uring;
pub use rustix;
