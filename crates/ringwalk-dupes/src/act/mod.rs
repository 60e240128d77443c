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
//! - **Nobody writes meanwhile.** A [read lease](ringwalk_sys::take_read_lease) on both files shows
//!   that nobody has them open for writing. A program that opens one then waits, and is noticed:
//!   the file is kept, and the program goes on. Leases need the owner of the file (or `CAP_LEASE`),
//!   and a file system of this machine. Elsewhere two looks at the times of change take their
//!   place.
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
//! cost of three calls more, and such a file is not lost. The trash and the log are those of
//! `ringwalk-delete`.
//!
//! # What remains possible
//!
//! - *A file is opened for writing by a call that found its name before it was moved aside, and
//!   that is still on its way to the lease after the last look at it.* Some tens of microseconds
//!   lie between the two, so the call must have been held up. Then the file is written after its
//!   last name is gone, as with rm(1).
//! - *A program takes the name while its file is moved aside and cannot go.* Then that file stays
//!   under the temporary name, and is reported. Nothing is lost, but if two programs have replaced
//!   the file in the same microseconds, the first one's file is the one under the temporary name.
//! - *With `hardlink`, two programs do this*: one replaces or opens the file right before the
//!   exchange, and the other one opens the name before it is exchanged back. The second one then
//!   writes to the file to keep.
//! - *The file to keep is replaced in the microseconds* between the last look at it and the
//!   removal. That program has removed the old contents from there, and the other copy is gone,
//!   too.
//! - *Without leases* a program that has the file open may write after the last look at the times
//!   of change. With `hardlink` and `delete` this write is lost. With `trash` it is in the trash.
//! - *The same file seen through two file systems* (FUSE, NFS of this machine, a layer of
//!   overlayfs). Moving it aside changes its time of change, which is then another one for the file
//!   to keep, so it is noticed. A file system that answers from a cache of its own can hide that.
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
