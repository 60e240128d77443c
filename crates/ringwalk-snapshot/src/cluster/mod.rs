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
//! | `lines.rs` | leftovers as lines of JSON |
//! | `huge.rs` | what remains of huge directories, divided among tasks |
//! | `error_lines.rs` | failures as lines of JSON |
//! | `part.rs`, `part_writer.rs` | the file of a task |

mod error_lines;
mod huge;
mod lines;
mod part;
mod part_writer;
mod task;
mod task_error;

pub use task::{Piece, Task, TaskNumber, TaskReport, TodoChunk};
pub use task_error::TaskError;
