//! The declarations that C sees: structs, numbers and the type of the callback. `ringwalk.h` has
//! only the declarations here and in `calls.rs`.
//!
//! Comments in these files are the comments of the header, and address C programmers.

#![allow(
    clippy::doc_markdown,
    reason = "the header's comments, which are no Markdown"
)]

mod entry;
mod leftover;
mod numbers;
mod options;
mod results;

pub use entry::{RingwalkEntry, RingwalkMetadata, RingwalkTimestamp};
pub use leftover::RingwalkLeftover;
pub use numbers::*;
pub use options::RingwalkOptions;
pub use results::{RingwalkBatch, RingwalkError, RingwalkSummary, RingwalkVisitor};

/// A walk. The pointer is a number that identifies the walk, not an address: never dereference it.
#[derive(Debug)]
pub struct RingwalkWalk {
    _opaque: (),
}

/// The directory that a callback is called for. The pointer is a number, as for a walk. It is valid
/// only on the thread that runs the callback, and only until the callback returns.
#[derive(Debug)]
pub struct RingwalkVisit {
    _opaque: (),
}

// SAFETY: only C follows these pointers. The memory they point to belongs to this library for as
// long as its documentation says.
#[allow(unsafe_code, reason = "the pointers are data here")]
unsafe impl Send for RingwalkEntry {}
// SAFETY: the same.
#[allow(unsafe_code, reason = "the pointers are data here")]
unsafe impl Send for RingwalkError {}
// SAFETY: the same.
#[allow(unsafe_code, reason = "the pointers are data here")]
unsafe impl Send for RingwalkLeftover {}
