//! What is done with files of equal contents: sharing their blocks, hard links, deletion, the
//! trash.
//!
//! | file | contents |
//! |---|---|
//! | `group.rs` | what the caller gives and receives: groups, actions, results |
//! | `reason.rs` | why a file was kept |
//! | `roots.rs` | the roots, and how a file below them is found |
//! | `held.rs` | an open file that nobody changes unseen |
//! | `attributes.rs` | what else two hard links have in common |
//! | `compare.rs` | the comparison byte by byte |
//! | `aside.rs` | temporary names, and moving a file to one and back |
//! | `replace.rs` | a file replaced by a hard link |
//! | `remove.rs` | deletion, and the move to the trash |
//! | `dedupe.rs` | sharing blocks |
//! | `freed.rs` | the bytes that an action frees |
//! | `run.rs` | the loop over groups |
//!
//! # Rules
//!
//! - **Descriptors, never paths.** Each root is opened once. Below it each directory is opened by
//!   one name in the directory above, with `openat2` and no links, no way up. All calls on a file
//!   go through its open directory.
//! - **Only the file that the search saw.** Device, inode number, time of birth, size and both
//!   times of change must be the same. Otherwise the file is kept.
//! - **The last copy stays.** The file to keep is never changed. Right before each change it must
//!   be under its name, with the version that the search saw. Otherwise nothing more happens in its
//!   group. Its contents are on the disk before the first change.
//! - **Equal now.** The contents are compared byte by byte right before the change. For `dedupe`
//!   the kernel does that itself.
//! - **Nobody writes meanwhile.** The kernel grants a [read lease](ringwalk_sys::take_read_lease)
//!   only on a file that no program has open for writing. So a lease is taken on both files. If a
//!   program then opens one of them for writing, the kernel lets it wait and reports it here: the
//!   file is kept, the leases are given up, and the program continues. Only the owner of a file, or
//!   a process with `CAP_LEASE`, can take a lease, and only on a local file system. Without a lease
//!   the times of change are compared before and after the comparison of the contents.
//! - **Moved aside first.** Linux cannot remove a name only if it belongs to a certain file. So the
//!   name is changed to a temporary one. If the file that was moved is the wrong one, it goes back.
//!   If its name is taken by then, it stays under the temporary name, and the report says so.
//! - **A log.** Without a line in the [log](ringwalk_delete::Log) nothing is changed.
//!
//! # Steps
//!
//! ```text
//!  delete    compare ─> rename FILE to TEMP ──────> is TEMP the file? leases? keep? ─> unlink TEMP
//!                                                    └── no: rename TEMP to FILE
//!  hardlink  compare ─> link KEEP to TEMP ─> exchange TEMP and FILE ─> the same ────> unlink TEMP
//!                                                    └── no: exchange again, unlink TEMP
//!  trash     compare ─> rename FILE into the trash ─> the same
//!                                                    └── no: rename it back
//!  dedupe    FIDEDUPERANGE: the kernel locks both files, compares, shares
//! ```
//!
//! A program that is killed leaves at most one temporary name ([`is_temporary_name`]). Its contents
//! are also in the file that was kept, or it is a file that another program had put there in the
//! last microseconds.
//!
//! The browser's deletion (`ringwalk-delete`) removes a name right after it has compared which file
//! it is. A file that takes the name in between is lost. Here the file is moved aside first, at the
//! cost of three calls more, and such a file is not lost. The trash and the log come from
//! `ringwalk-delete`.
//!
//! # What remains possible
//!
//! - *A slow open(2) is not noticed.* Another program's open(2) for writing has found the name
//!   before the file was moved aside, but reaches the lease only after it was checked for the last
//!   time. Some tens of microseconds lie between the two, so that call must have been delayed. The
//!   program then writes to a file without a name, as after rm(1).
//! - *A file stays under its temporary name.* The file must go back, but a program has created
//!   another one under its name. The report says so, and nothing is lost. If two programs have
//!   replaced the file within the same microseconds, the one moved aside is of the first program.
//! - *With `hardlink` a program writes to the file to keep.* That needs two programs: one replaces
//!   or opens the file right before the exchange, and the other opens the name before the two names
//!   are exchanged back.
//! - *The last copy is lost.* Within the microseconds between the last check of the file to keep
//!   and the removal of its copy, a program replaces the file to keep.
//! - *A write is lost without leases.* A program that has the file open may write after the times
//!   of change were checked for the last time. With `trash` the written data is in the trash.
//! - *One file is seen through two file systems* (FUSE, NFS of this machine, a layer of overlayfs).
//!   Moving it aside changes its time of change. The file to keep then has a new time of change,
//!   too, and this is noticed, unless a file system answers from a cache of its own.
//!
//! The calling thread does the work. Asking and printing is the program's part.

mod aside;
mod attributes;
mod compare;
mod dedupe;
mod freed;
mod group;
mod held;
mod reason;
mod remove;
mod replace;
mod roots;
mod run;

pub use aside::is_temporary_name;
pub use freed::{Freed, plan};
pub use group::{Action, Done, File, Group, Name, Observer, Outcome, Settings};
pub use reason::Reason;
pub use roots::Roots;
pub use run::act;

#[cfg(test)]
mod tests;
