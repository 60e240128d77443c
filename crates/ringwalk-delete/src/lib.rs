//! Deletion of entries that were shown, and of nothing else.
//!
//! | file | contents |
//! |---|---|
//! | `identity.rs` | which file an entry is: device, inode number, mark |
//! | `shown.rs` | what the caller gives and receives: entries, selections, results |
//! | `reason.rs` | why an entry was kept |
//! | `rename.rs` | renaming to a name that must be free |
//! | `root.rs` | the root of a view, and how a file below it is opened |
//! | `chain.rs` | the open directories from the root to where the deletion is |
//! | `run.rs` | deletion: the loop over entries |
//! | `trash/`, `trash/` | moving entries to the trash |
//! | `log.rs` | the log of deletions |
//! | `testing.rs` | trees on disk as they were shown, for tests |
//!
//! The rules:
//!
//! - **Descriptors, never paths.** The root is opened once. Each directory below it is opened by
//!   one name in the open directory above, with `openat2` and no links, no mounts, no way up. An
//!   entry is removed by its name in such a directory. A directory that was replaced by a symbolic
//!   link leads nowhere.
//! - **Only what was shown.** The caller gives the entries, each with its identity. The identity is
//!   compared right before each removal. A directory that has other entries, too, stays.
//! - **Refused:** roots of the view, mount points, other file systems and subvolumes, the log.
//! - **A log.** Without a line in the [log](Log) nothing is deleted.
//! - **One entry's failure is not the end.** It is reported with its reason, and so are the
//!   directories that hold it.
//!
//! The calling thread does the work. What deleting would free is not computed here.

mod chain;
mod identity;
mod log;
mod reason;
mod rename;
mod root;
mod run;
mod shown;
mod trash;

pub use identity::{Found, Identity, Known, Mark};
pub use log::{Line, Log, LogError};
pub use reason::Reason;
pub use rename::{is_unsupported, rename_back, rename_to_new};
pub use root::{Root, RootError, RootProblem, real_path};
pub use run::delete;
pub use shown::{Component, Doomed, Observer, Outcome, Selection, Shown};
pub use trash::{Candidate, Trash, TrashOptions, is_trash, trash};

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
