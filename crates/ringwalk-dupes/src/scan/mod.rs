//! Where the files come from: live directories, and snapshots.
//!
//! | file | contents |
//! |---|---|
//! | `live.rs` | the visitor of a walk |
//! | `saved.rs` | the rows of a snapshot |

pub(crate) mod live;
pub(crate) mod saved;
