//! Ringwalk for C: what `ringwalk.h` declares, and the shared and static libraries have.
//!
//! The header is made from `abi/` and `calls.rs` by `cargo run -p xtask -- header`; the comments there are its
//! documentation.
//!
//! | file | what is in it |
//! |---|---|
//! | `abi/` | structs and numbers, as C sees them |
//! | `calls.rs` | the functions |
//! | `guard.rs` | results and panics at the boundary |
//! | `input.rs`, `sized.rs` | what C's pointers point to; structs that may grow |
//! | `request.rs` | options, checked, as a walk |
//! | `registry.rs`, `cancel.rs` | what is open: walks by handle, batches by number; after a fork; cancelling without a lock |
//! | `walk.rs` | an open walk and its states |
//! | `held.rs` | a batch that C holds |
//! | `visit.rs`, `current.rs` | the callback, and what it may ask |
//! | `summary.rs` | the end of a walk |
//!
//! `unsafe` is where pointers of C are followed (`input.rs`, `sized.rs`, `calls.rs`), where C is called (`visit.rs`,
//! `current.rs`), and in `registry.rs`, which is replaced after a fork. A handle of C is a number that is looked up,
//! never an address; so one that is no longer valid is an error, whatever is done with it. Not here: anything that
//! reads directories, which is the engine's (`ringwalk`).

pub mod abi;
pub mod calls;
mod cancel;
mod current;
mod guard;
mod held;
mod input;
mod registry;
mod request;
mod sized;
mod summary;
mod visit;
mod walk;
