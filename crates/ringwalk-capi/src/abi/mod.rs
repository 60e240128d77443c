//! What C sees: structs, numbers and the type of the callback. Only what is declared here and in `calls.rs` is in `ringwalk.h`.
//!
//! Comments here are the header's: they speak to C programmers.

#![allow(
    clippy::doc_markdown,
    reason = "the header's comments, which are no Markdown"
)]

mod entry;
mod numbers;
mod options;
mod results;

pub use entry::{RingwalkEntry, RingwalkMetadata, RingwalkTimestamp};
pub use numbers::*;
pub use options::RingwalkOptions;
pub use results::{RingwalkBatch, RingwalkError, RingwalkSummary, RingwalkVisitor};

/// A walk. The pointer is a number that names it, not an address: never read through it.
#[derive(Debug)]
pub struct RingwalkWalk {
    _opaque: (),
}

/// The directory that a callback is called for. The pointer is a number, as that of a walk; it says something only to the
/// thread that the callback runs on, and only until the callback returns.
#[derive(Debug)]
pub struct RingwalkVisit {
    _opaque: (),
}

// SAFETY: their pointers are followed by C only, which has what they point to from this library for as long as it says.
#[allow(unsafe_code, reason = "the pointers are data here")]
unsafe impl Send for RingwalkEntry {}
// SAFETY: the same.
#[allow(unsafe_code, reason = "the pointers are data here")]
unsafe impl Send for RingwalkError {}
