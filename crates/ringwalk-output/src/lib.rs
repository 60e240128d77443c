//! Output files: where a path leads, and files that appear whole.
//!
//! The user names the file, and other users may have put something at that name before. All files
//! that a user names as an output are created and replaced here. `tests/repository/test_writers.py`
//! lists the other places that create files, with their reasons.
//!
//! | file | contents |
//! |---|---|
//! | `place.rs` | the folder and the name that a path leads to; strangers' links and files |
//! | `publish.rs` | a file that appears whole or not at all |
//! | `rights.rs` | owner, group, permissions and access control list of a replaced file |

mod place;
mod publish;
mod rights;

pub use place::Place;
pub use publish::Unpublished;
pub use rights::NotKept;
