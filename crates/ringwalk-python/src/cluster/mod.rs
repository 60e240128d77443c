//! The compiled part of `ringwalk.cluster`: a task, the snapshot of all parts, and the identity of
//! roots and of what is mounted below them.
//!
//! | file | contents |
//! |---|---|
//! | `task.rs` | `cluster_task` |
//! | `compact.rs` | `cluster_compact` |
//! | `file_system.rs` | `cluster_file_system` |
//! | `mounts.rs` | `cluster_mounts` |
//!
//! The driver is in `python/ringwalk/cluster`.

mod compact;
mod file_system;
mod mounts;
mod task;

pub(crate) use compact::cluster_compact;
pub(crate) use file_system::cluster_file_system;
pub(crate) use mounts::cluster_mounts;
pub(crate) use task::cluster_task;
