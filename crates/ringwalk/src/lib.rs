//! Reads directory trees and their metadata at the speed the kernel and the disk allow.
//!
//! ```no_run
//! for entry in ringwalk::Walk::new("src") {
//!     println!("{}", entry?.path().display());
//! }
//! # Ok::<(), ringwalk::Error>(())
//! ```
//!
//! A walk reads the metadata that it is asked for, and many files at once. An accessor returns
//! `None` for a field that is not known.
//!
//! ```
//! use ringwalk::{Fields, Walk};
//!
//! let mut largest = None;
//! for entry in Walk::new("src").fields(Fields::SIZE) {
//!     let entry = entry?;
//!     let size = entry.metadata().and_then(|metadata| metadata.size());
//!     if entry.file_type().is_file() {
//!         largest = largest.max(size.map(|size| (size, entry.into_path())));
//!     }
//! }
//! let (size, path) = largest.expect("there are files");
//! println!("{size} {}", path.display());
//! # Ok::<(), ringwalk::Error>(())
//! ```
//!
//! # Where to begin
//!
//! | goal | item |
//! |---|---|
//! | every entry, in any order | [`Walk`] as an iterator |
//! | every entry in an order; skipping directories on the way | [`Walk::depth_first`] |
//! | every entry, on all processors | [`Walk::run_each`] with a closure, [`Walk::run`] with a [`Visitor`] |
//! | many entries at a time | [`Walk::batches`] |
//! | whole directories, and a choice which come next | [`OrderedWalk`] |
//! | one directory | [`Directory`] |
//! | tasks of any runtime | `aio` (feature `async`) |
//!
//! A [`Visitor`] is the fastest way. Each worker has one, and calls it with one [`Batch`] of
//! entries at a time, borrowed from the buffer that they were read into.
//!
//! `docs/api.md` of the repository shows a program that was ported from walkdir, and a table of
//! names that correspond.
//!
//! # Files of this crate
//!
//! | folder or file | contents |
//! |---|---|
//! | `walk/` | the walk: options, roots, workers, the scheduler, the concurrency controller, open directories |
//! | `visit/` | what a visitor is given and gives back: batches, directories, metadata, errors, the summary |
//! | `sources/` | where names and metadata come from: system calls, the kernel module, ext4, XFS, btrfs; reading ahead |
//! | `pull/` | the walk as an iterator, in batches, in order; one directory read without a walk |
//! | `aio/` | directories and walks for tasks of any runtime (feature `async`) |
//! | `block/` | many reads of a block device or a file at once |
//! | `system/` | what the engine asks the system: mounts, devices, privileges, kinds of file systems |
//! | `shown.rs` | foreign text in messages, made safe for terminals |
//!
//! Data goes one way: source, batch, visitor, result. What is *not* here: any `unsafe` code (in
//! `ringwalk-sys`), any output, and any opinion on what to do with entries.

#[cfg(feature = "async")]
pub mod aio;
pub mod block;
mod pull;
pub mod shown;
mod sources;
mod system;
mod visit;
mod walk;

pub use pull::background::{Background, Sender};
pub use pull::batches::{Batches, OwnedBatch};
pub use pull::canceller::Canceller;
pub use pull::channel::Closed;
pub use pull::depth_first::{DepthFirst, DepthFirstEntries, FilterEntry};
pub use pull::directory::Directory;
pub use pull::entries::{Entries, OwnedEntry};
pub use pull::entry_buffer::{EntryBuffer, EntryRef};
pub use pull::next::Next;
pub use pull::ordered;
pub use pull::ordered_walk::{Chosen, Listing, OrderedWalk, Turn, path_below};
pub use sources::choose::{LikelySource, SourceError};
pub use sources::older::{OlderFileSystem, OlderReader, OlderTree};
pub use sources::registry::{DeviceProblem, SourceChoice, SourceNeeds, UnknownSource};
pub use sources::saved::{Listed, SavedBatch, SavedEntry, SavedFile, SavedReader, SavedTree};
pub use sources::sweep::{Declined, InodeSweep, SweepVisitor};
pub use system::at_hand::{is_local, is_local_file};
pub use system::{device, identity, mounts, privilege, time_stamps, write_back};
pub use visit::batch::Batch;
pub use visit::candidate::Candidate;
pub use visit::dir::Dir;
pub use visit::entry::Entry;
pub use visit::error::{Error, Operation};
pub use visit::left::{Left, ParentFd};
pub use visit::leftover::{Leftover, ListedName, Remaining};
pub use visit::metadata::{Fields, Identity, Metadata, Timestamp};
pub use visit::sibling::Sibling;
pub use visit::summary::{Outcome, Prefetched, Summary};
pub use visit::visitor::{Flow, Visitor};
pub use walk::Walk;
pub use walk::budget::Budget;
pub use walk::concurrency::{WorkerChange, warm_workers};
pub use walk::monitor::Monitor;
pub use walk::positions::{divide, list_names};
pub use walk::root::Root;
pub use walk::settings::{Follow, Order, Prefetch, Stay};

pub use ringwalk_sys::RawFileType as FileType;
#[doc(hidden)]
pub use ringwalk_sys::sync;
pub use rustix::io::Errno;

/// The programs of `docs/api.md` are documentation tests. `api.md` of this crate is a link to that
/// file, so that a published crate has it as well.
#[cfg(doctest)]
#[doc = include_str!("../api.md")]
mod api {}
