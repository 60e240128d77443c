//! Reads directory trees and their metadata at the speed the kernel and the disk allow.
//!
//! A [`Walk`] is set up and run with a [`Visitor`] for each worker; the visitor is called with one [`Batch`] of entries
//! at a time, borrowed from the buffer they were read into.
//!
//! | file | what is in it |
//! |---|---|
//! | `walk.rs`, `options.rs`, `root.rs` | what is asked for, and running it |
//! | `visitor.rs`, `batch.rs`, `dir.rs`, `left.rs`, `name.rs`, `metadata.rs`, `error.rs` | what a visitor is given |
//! | `ordered.rs` | results in one stable order whatever the timing |
//! | `entries.rs`, `batches.rs` | the walk as an iterator, of entries and of batches |
//! | `at_hand.rs` | what can be found out without asking a server |
//! | `background.rs`, `handoff.rs`, `sending.rs` | a walk ahead of who takes what it finds |
//! | `timed_wait.rs` | waiting on a condition variable, with or without a limit |
//! | `directory.rs`, `entry_buffer.rs` | one directory, read by its owner without a walk |
//! | `aio/` | the same, and the walk, for tasks of any runtime (feature `async`) |
//! | `preorder/` | whole directories in the order of a depth-first walk, read ahead |
//! | `summary.rs`, `monitor.rs` | what a walk says of itself, afterwards and meanwhile |
//! | `source_choice.rs` | which source `auto` comes to |
//! | `source/` | where directory data comes from, behind one interface |
//! | `raw_batch.rs`, `stat.rs` | the buffer a source fills; metadata of its entries |
//! | `boundary.rs` | the devices and mounts that a walk stays on |
//! | `worker/`, `scheduler.rs` | the loop of one worker; work between workers |
//! | `regime.rs`, `meter.rs`, `filesystem.rs` | how many workers, by what is measured, on what kind of file system |
//! | `shown.rs` | text of foreign origin in messages, made safe for terminals |
//! | `block/` | many places of a block device or a file read at once |
//! | `descriptor/` | open directories as a cache with a budget |
//!
//! Data goes one way: source, batch, visitor, result. What is *not* here: any `unsafe` code (in `ringwalk-sys`), any
//! output, and any opinion on what to do with entries.

#[cfg(feature = "async")]
pub mod aio;
mod at_hand;
mod background;
mod batch;
mod batches;
pub mod block;
mod boundary;
mod descriptor;
pub mod device;
mod dir;
mod directory;
mod entries;
mod entry_buffer;
mod error;
mod filesystem;
mod handoff;
mod left;
mod metadata;
mod meter;
mod monitor;
pub mod mounts;
mod name;
mod options;
pub mod ordered;
mod prefetch;
mod preorder;
pub mod privilege;
mod raw_batch;
mod regime;
mod root;
mod scan;
mod scheduler;
mod sending;
pub mod shown;
mod source;
mod source_choice;
mod stat;
mod summary;
mod timed_wait;
mod visitor;
mod volume;
mod walk;
mod worker;

pub use at_hand::{is_local, is_local_file};
pub use background::{Background, Canceller, Sender, TimedOut};
pub use batch::{Batch, Candidate, Entry};
pub use batches::{Batches, OwnedBatch};
pub use dir::Dir;
pub use directory::Directory;
pub use entries::{Entries, OwnedEntry};
pub use entry_buffer::{EntryBuffer, EntryRef};
pub use error::{Error, Operation};
pub use handoff::Closed;
pub use left::{Left, ParentFd};
pub use metadata::{Fields, Identity, Metadata, Timestamp};
pub use monitor::Monitor;
pub use options::{Follow, Order, Prefetch, SourceChoice, SourceError, Stay, UnknownSource};
pub use preorder::{Chosen, Listing, Preorder, Turn, path_below};
pub use regime::{WorkerChange, warm_workers};
pub use root::Root;
pub use scan::{Declined, Scan, ScanVisitor};
pub use source_choice::LikelySource;
pub use summary::{Outcome, Prefetched, Summary};
pub use visitor::{Flow, Visitor};
pub use walk::Walk;

pub use ringwalk_sys::RawFileType as FileType;
pub use rustix::io::Errno;

/// The programs of `docs/api.md` are documentation tests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/api.md")]
mod api {}
