//! Browsing directory trees on a terminal.
//!
//! | folder or file | contents |
//! |---|---|
//! | `delete/` | deletion of entries that were shown, and of nothing else |
#![warn(clippy::print_stdout, clippy::print_stderr)]

pub mod delete;
