//! A tree in memory and services, for tests.
//!
//! | file | contents |
//! |---|---|
//! | `tree.rs` | the tree |
//! | `services.rs` | the services |
//! | `stage.rs` | a browser on a screen in memory |

mod services;
mod stage;
mod tree;

pub(crate) use services::{FakeActions, FakeComparison, FakeDeleter, FakeFilter};
pub(crate) use stage::{Stage, sample};
pub(crate) use tree::FakeTree;
