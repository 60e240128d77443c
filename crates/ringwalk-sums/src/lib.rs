//! Sums over directory trees: how many files there are, and how much space they take.
//!
//! | file | what is in it |
//! |---|---|
//! | `tally.rs` | files by type, by each of their names |
//! | `usage.rs` | space, of each file once |
//! | `met.rs` | files met before |
//! | `location.rs` | where directories lie, and those that lie within themselves |
//! | `trouble.rs` | what could not be read, and whether to go on |
//!
//! `ringwalk count` and the Python package count with [`Tally`]. `ringwalk du` has visitors of its own, as its lines have an order
//! and its options are GNU's; what a file takes and which are met again it takes from here. What is *not* here: any output.

mod location;
mod met;
mod tally;
mod trouble;
mod usage;

pub use location::{Location, lies_within_itself};
pub use met::Met;
pub use tally::{Scanned, Tally};
pub use trouble::{Stop, Tell, Trouble};
pub use usage::{Measurer, Measuring, Usage, allocated_size, apparent_size};
