//! Counts of the files below directories.
//!
//! | file | contents |
//! |---|---|
//! | `tally.rs` | files by type and their sizes, each file by each of its names |
//! | `read_error.rs` | read errors that visitors report, and the callback that ends their work |
//!
//! `ringwalk count` and Python's `count` use [`Tally`]. `ringwalk-du` reports its read errors as
//! [`ReadError`], too. This crate writes no output.

mod read_error;
mod tally;

pub use read_error::{ReadError, Report, Stop};
pub use tally::{SweptTally, Tally};
