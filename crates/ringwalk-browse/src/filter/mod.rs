//! Which entries match an expression of find(1).
//!
//! ```text
//!  text --> words --> ringwalk-find: expression --> search, in the background
//!                                                        |  each match
//!  screen <-- matched(), totals(): any time <-- matches <-'
//! ```
//!
//! The search walks over the tree anew. So it sees a live tree as it is now, and entries of a
//! snapshot as they were saved.
//!
//! | file | contents |
//! |---|---|
//! | `words.rs` | text split into words as a shell does |
//! | `matches.rs` | the matches, and the totals of each directory |
//! | `run.rs` | the search in the background |
//! | `from.rs` | a snapshot that is searched |

mod from;
mod matches;
mod run;
#[cfg(test)]
mod tests;
mod words;

pub use matches::Totals;
pub use run::{FilterRun, Searched, SetUp};
pub use words::split;
