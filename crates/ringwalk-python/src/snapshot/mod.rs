//! `snapshot`, `open_snapshot`, `diff` and `report`.
//!
//! | file | contents |
//! |---|---|
//! | `take.rs` | taking a snapshot |
//! | `open.rs` | a snapshot that is open for reading |
//! | `stream.rs` | its rows as a stream of Arrow |
//! | `input.rs` | snapshots as callers name them: a path, an open one, a directory |
//! | `info.rs` | what a snapshot says of itself, as a dictionary |
//! | `diff.rs`, `change.rs` | the comparison of two snapshots |
//! | `report.rs` | sums by owner, age and other keys |
//! | `failure.rs` | errors as exceptions |
//!
//! `python/ringwalk/_snapshot.py` has the public functions, which call these.

mod change;
mod diff;
mod failure;
mod info;
mod input;
mod open;
mod report;
mod stream;
mod take;

pub(crate) use change::{Change, FileVersion};
pub(crate) use diff::{Diff, compare};
pub(crate) use failure::Failure;
pub(crate) use info::dictionary as info_dictionary;
pub(crate) use open::OpenSnapshot;
pub(crate) use report::add_up;
pub(crate) use take::take_snapshot;
