//! Browsing directory trees on a terminal.
//!
//! Data flows in one direction. A tree says what is there; a view is the part of it that somebody
//! looks at, sorted and filtered; a screen draws the view.
//!
//! ```text
//!  live walk ---> live/  \                          filter/   which entries match an expression
//!                         >-- tree/ ---> view/ <--- compare/  what has grown since a snapshot
//!  snapshot ----> saved/ /                 |
//!                                          v
//!          ringwalk-delete <---------- screen/ <--- keys/     the table of keys
//! ```
//!
//! | folder or file | contents |
//! |---|---|
//! | `tree/` | what every tree answers: entries, totals, listings in an order |
//! | `live/` | a tree that a walk fills while somebody looks at it |
//! | `saved/` | the tree of a snapshot, read when somebody looks at it |
//! | `filter/` | which entries match an expression of find(1) |
//! | `compare/` | what has grown since an older snapshot |
//! | `unshared.rs` | the space that deletion frees, without extents that other files share |
//! | `service.rs` | what the browser asks of others: matches, growth, deletion, actions |
//! | `view/` | what somebody looks at: a directory, its order, the cursor, marks, panes |
//! | `screen/` | drawing |
//! | `keys/` | the table of keys |
//! | `fake/` | a tree in memory and services, for tests |
//! | `program/` | the browser put together: a tree, and the services that belong to it |
//! | `app/` | the browser itself: what keys do, and the loop on a terminal |
#![warn(clippy::print_stdout, clippy::print_stderr)]

mod app;
pub mod compare;
#[cfg(test)]
mod fake;
pub mod filter;
pub mod keys;
pub mod live;
mod program;
pub mod saved;
mod screen;
pub mod service;
pub mod tree;
mod unshared;
mod view;

pub use app::{App, End, Options};
pub use program::{Browser, Request, SetUp, open};
pub use screen::FLAGS;
