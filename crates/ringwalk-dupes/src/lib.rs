//! Files and directories with the same contents.
//!
//! [`Search`] finds them, below live directories and in snapshots with hashes.
//!
//! | file | contents |
//! |---|---|
//! | `search.rs` | the search: what is searched, and how |
//! | `found.rs` | what was found |
//! | `candidates.rs` | the files that may have copies: what `ringwalk hash --save` hashes |
//! | `inventory/`, `inventory/` | all files that were found, in little memory |
//! | `scan/` | where the files come from: live directories, snapshots |
//! | `known.rs` | hashes that are known without reading: those of the cache |
//! | `matching/` | which files have the same contents |
//! | `groups.rs` | the groups of files, as they are reported |
//! | `directories/`, `directories/` | directories with the same contents, or much in common |
//! | `act/` | what is done with the files: sharing blocks, hard links, deletion, the trash |
//! | `output/` | what was found, in formats for other programs |

pub mod act;
mod candidates;
mod directories;
mod found;
mod groups;
mod inventory;
mod known;
mod matching;
pub mod output;
mod scan;
mod search;

pub use candidates::{Candidate, Candidates};
pub use directories::{DirectoryGroup, SimilarDirectories};
pub use found::Found;
pub use groups::{Copy, Group, Name};
pub use matching::{FileFault, MatchProgress};
pub use output::Totals;
pub use scan::live::ScanError;
pub use search::{Directories, Missed, Search, SearchError, is_live_root};
