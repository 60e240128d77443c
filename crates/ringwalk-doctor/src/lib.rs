//! The sources that this kernel, user and file system allow a walk, the obstacles to the others,
//! and their remedies.
//!
//! | file | contents |
//! |---|---|
//! | `kernel.rs` | the release, `io_uring`, system calls, found by trying them |
//! | `user.rs` | privileges |
//! | `place.rs` | the directory's file system and device |
//! | `limits.rs`, `cgroup.rs` | limits of the process and the machine |
//! | `documentation.rs` | where users find a page of the documentation |
//! | `sources.rs`, `file_systems.rs` | the verdict on every source |
//! | `testing.rs` | a user and a directory for unit tests |
//!
//! A walk runs nothing of this crate: finding all of this out costs more than counting a small
//! tree. `ringwalk doctor` writes the report as text.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod cgroup;
mod documentation;
mod file_systems;
mod kernel;
mod limits;
mod place;
mod sources;
#[cfg(test)]
mod testing;
mod user;

pub use kernel::{Kernel, Obstacle, Ring};
pub use limits::Limits;
pub use place::{Device, Place};
pub use sources::Source;
pub use user::User;

use ringwalk::Errno;
use ringwalk::shown;
use serde::Serialize;
use sources::Engine;
use std::num::NonZeroUsize;
use std::path::Path;

/// The report, in the shape of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of Ringwalk.
    pub version: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The user as the kernel sees this process.
    pub user: User,
    /// The directory that was examined.
    pub directory: Place,
    /// The verdict on every source, in the order in which help shows them.
    pub sources: Vec<Source>,
    /// The verdict on reading blocks ahead of system calls.
    pub prefetch: Prefetch,
    /// Limits of the process and the machine.
    pub limits: Limits,
}

/// The verdict on reading blocks ahead of system calls.
#[derive(Clone, Debug, Serialize)]
pub struct Prefetch {
    /// Blocks can be read ahead.
    pub available: bool,
    /// The reasons why they cannot.
    pub obstacles: Vec<Obstacle>,
}

impl Prefetch {
    fn of(directory: &Place) -> Self {
        let obstacles = file_systems::device(ringwalk::SourceChoice::Ext4, directory);
        Self {
            available: obstacles.is_empty(),
            obstacles,
        }
    }
}

impl Report {
    /// Examines `directory`. `workers` is the requested number of workers, or `None` if the engine
    /// chooses it.
    ///
    /// # Errors
    ///
    /// When the directory does not exist, cannot be reached, or is not a directory.
    pub fn of(directory: &Path, workers: Option<NonZeroUsize>) -> Result<Self, Errno> {
        let directory = Place::read(directory)?;
        let user = User::read();
        let kernel = Kernel::read(&user);
        let engine = Engine::ask(&directory);
        let sources = sources::judge(&kernel, &user, &directory, &engine);
        Ok(Self {
            version: env!("CARGO_PKG_VERSION"),
            prefetch: Prefetch::of(&directory),
            kernel,
            user,
            directory,
            sources,
            limits: Limits::read(workers),
        })
    }

    /// The report as a JSON object, over several lines; control characters in strings are escaped.
    pub fn json(&self) -> String {
        // Only maps with keys that are not strings, and serializers that fail, can cause an error.
        // There are none here.
        shown::json(serde_json::to_string_pretty(self).unwrap_or_default())
    }
}

/// The words for `errno`, for those parts that store a reason.
fn words(errno: Errno) -> String {
    ringwalk_gnu::reason(&errno.into())
}

#[cfg(test)]
mod tests;
