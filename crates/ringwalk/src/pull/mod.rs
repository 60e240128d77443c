//! Pull interfaces: the caller asks for entries, where a visitor would be called.
//!
//! | file | contents |
//! |---|---|
//! | `entries.rs`, `batches.rs` | the walk as an iterator, of entries and of batches |
//! | `depth_first.rs` | the walk as an iterator in depth-first order |
//! | `background.rs`, `sending.rs` | a walk on threads of its own, ahead of its consumer |
//! | `ended.rs` | the end of such a walk: its summary, and what it has left over |
//! | `channel.rs` | the bounded channel between the two |
//! | `canceller.rs` | ending such a walk from any thread |
//! | `next.rs` | the answer of a wait with a limit: an item, the end, or not yet |
//! | `ordered/` | results in one stable order, whatever the timing |
//! | `ordered_walk/` | whole directories in the order of a depth-first walk, read ahead |
//! | `directory.rs`, `entry_buffer.rs` | one directory, read by its owner without a walk |

pub(crate) mod background;
pub(crate) mod batches;
pub(crate) mod canceller;
pub(crate) mod channel;
pub(crate) mod depth_first;
pub(crate) mod directory;
pub(crate) mod ended;
pub(crate) mod entries;
pub(crate) mod entry_buffer;
pub(crate) mod next;
pub mod ordered;
pub(crate) mod ordered_walk;
pub(crate) mod sending;
