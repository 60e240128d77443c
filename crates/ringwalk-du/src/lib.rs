//! How much space directory trees take: which files count, for which directory, and their sums.
//!
//! One rule decides which files count and how often. Two adapters apply it to the files of a walk:
//!
//! ```text
//! entries of a walk --+            +--> ordered/     lines in the order of the tree: ringwalk du
//!                     +--> rule.rs +
//! inodes of a volume -+            +--> one_sum.rs   one sum, in any order: Python's du
//! ```
//!
//! `ringwalk du` uses `one_sum.rs` too, for the sum of a whole file system (`du -s` of a mount
//! point).
//!
//! | file | contents |
//! |---|---|
//! | `rule.rs` | the rule: which files count, and how often; **how hard links are charged** |
//! | `location.rs` | the locations of directories, and directories within themselves |
//! | `operands.rs` | operands that may lie within each other |
//! | `seen_inodes.rs` | the set of inodes seen |
//! | `measurement.rs` | the sizes and times of a file |
//! | `exclusive.rs`, `compressed.rs` | space that belongs to a file alone |
//! | `totals.rs`, `linked_files.rs` | totals of files, and lists of files that count once |
//! | `one_sum.rs` | the adapter for one sum |
//! | `ordered/` | the adapter for ordered lines |
//! | `tally.rs` | without the rule: files by type, each file by each of its names: `count` |
//! | `read_error.rs` | read errors that visitors report, and the callback that ends their work |
//! | `host.rs` | the program around a measurement |
//! | `test_host.rs` | a program for unit tests |
//!
//! This crate does not know GNU du's options, the format of its lines, or standard output. The
//! program (`ringwalk-cli`) has these.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod compressed;
pub mod exclusive;
mod host;
mod linked_files;
mod location;
mod measurement;
mod one_sum;
mod operands;
mod ordered;
mod read_error;
mod rule;
mod seen_inodes;
mod tally;
#[cfg(test)]
mod test_host;
mod totals;

pub use host::Host;
pub use location::{Ancestors, Located, Location};
pub use measurement::{Measurement, Size, TimeKind};
pub use one_sum::Usage;
pub use ordered::{Measured, measure};
pub use read_error::{ReadError, Report, Stop};
pub use rule::{Charge, Rule, Verdict};
pub use tally::{SweptTally, Tally, type_name};
pub use totals::Totals;
