//! The data that a visitor is given, and its answers.
//!
//! | file | contents |
//! |---|---|
//! | `visitor.rs` | the trait of visitors, and what they answer |
//! | `batch.rs`, `entry.rs` | entries of one directory, borrowed from the buffer they were read into |
//! | `dir.rs`, `name.rs` | a directory of the walk: its path, depth, parent and the visitor's state |
//! | `leftover.rs` | what a walk leaves unread when its budget is spent |
//! | `left.rs` | a directory of which everything below has been visited |
//! | `metadata.rs` | metadata of a file, and which fields are known |
//! | `candidate.rs` | a directory that a filter decides about |
//! | `sibling.rs` | an entry that is compared with others of its directory |
//! | `error.rs` | errors of a walk: operation, path, errno |
//! | `summary.rs` | what a walk reports at its end |

pub(crate) mod batch;
pub(crate) mod candidate;
pub(crate) mod dir;
pub(crate) mod entry;
pub(crate) mod error;
pub(crate) mod left;
pub(crate) mod leftover;
pub(crate) mod metadata;
pub(crate) mod name;
pub(crate) mod sibling;
pub(crate) mod summary;
pub(crate) mod visitor;
