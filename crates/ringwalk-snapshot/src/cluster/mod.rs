//! A walk that several processes share, on one machine or many: its tasks, and the snapshot that is
//! made of their parts.
//!
//! ```text
//!   leftovers ──> task ──> part, leftovers, errors     (each task, by any process)
//!   all parts, errors ──> compact ──> snapshot         (at the end)
//! ```
//!
//! A driver gives leftovers to tasks, and keeps the list of parts that count. It is not in this
//! crate. `docs/snapshot.md` describes the files.
//!
//! | file | contents |
//! |---|---|
//! | `task.rs` | a task: its walk, and what it writes |
//! | `task_error.rs` | why a task cannot be done, or parts cannot become a snapshot |
//! | `lines.rs`, `todo.rs` | leftovers as lines of JSON, and their files |
//! | `huge.rs` | what remains of huge directories, divided among tasks |
//! | `error_lines.rs` | failures as lines of JSON |
//! | `part.rs`, `part_writer.rs` | the file of a task |
//! | `compact.rs` | the snapshot of all parts |
//! | `folder.rs` | the folder of a finished walk: manifest, errors, leftovers |
//! | `files.rs` | the files of the folder: opened without links, created |
//! | `accounts.rs` | which leftovers have been read |
//! | `directories.rs` | the directories of all parts |
//! | `devices.rs` | the file systems of all parts |
//! | `part_rows.rs` | the rows of a part |
//! | `mounts.rs` | file systems that are mounted below the roots |

mod accounts;
mod compact;
mod devices;
mod directories;
mod error_lines;
mod files;
mod folder;
mod huge;
mod lines;
mod mounts;
mod part;
mod part_rows;
mod part_writer;
mod task;
mod task_error;
mod todo;

pub use crate::capture::file_systems::file_system_of;
pub use crate::capture::vanished::VanishedTree;
pub use compact::Compact;
pub use folder::is_live;
pub(crate) use folder::is_shared_walk;
pub use mounts::{MountBelow, mounts_below};
pub use task::{Task, TaskNumber, TaskReport};
pub use task_error::TaskError;
pub use todo::{Piece, TodoChunk};

#[cfg(test)]
mod tests;
