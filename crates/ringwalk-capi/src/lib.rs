//! The C library: the functions that `ringwalk.h` declares.
//!
//! `cargo run -p xtask -- header` makes the header from `abi/` and `calls.rs`. The comments of
//! these files are its documentation, and the text of the man pages.
//!
//! | file | contents |
//! |---|---|
//! | `abi/` | structs and numbers of the header |
//! | `calls.rs` | the functions |
//! | `guard.rs` | results and panics at the boundary |
//! | `input.rs`, `sized.rs` | memory that C's pointers point to; structs that grow |
//! | `request.rs` | options, checked and made into a walk |
//! | `registry.rs`, `cancel.rs` | open walks by handle, batches by number; forks; cancelling without a lock |
//! | `walk.rs` | an open walk and its states |
//! | `held.rs` | a batch that C holds |
//! | `leftovers.rs` | what walks with a budget leave over |
//! | `visit.rs`, `current.rs` | callbacks, and their requests |
//! | `summary.rs` | the end of a walk |
//!
//! The crate has `unsafe` code where it follows pointers of C (`input.rs`, `sized.rs`, `calls.rs`),
//! where it calls C (`visit.rs`, `current.rs`), and in `registry.rs`, which is replaced after a
//! fork. A handle of C is a number that the library looks up, never an address. So an invalid
//! handle is an error in every function. This crate does not read directories: the engine
//! (`ringwalk`) does.

pub mod abi;
pub mod calls;
mod cancel;
mod current;
mod guard;
mod held;
mod input;
mod leftovers;
mod registry;
mod request;
mod sized;
mod summary;
mod visit;
mod walk;
