//! The compiled part of `ringwalk.cluster`: a task, and the snapshot of all parts.
//!
//! | file | contents |
//! |---|---|
//! | `task.rs` | `cluster_task` |
//! | `compact.rs` | `cluster_compact` |
//!
//! The driver is in `python/ringwalk/cluster`.

mod compact;
mod task;

pub(crate) use compact::cluster_compact;
pub(crate) use task::cluster_task;
