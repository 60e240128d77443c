//! What this kernel, user and file system allow a walk, why not more, and what would help.
//!
//! | file | what it finds out |
//! |---|---|
//! | `kernel.rs` | the release, `io_uring`, system calls: by trying them |
//! | `user.rs` | privileges |
//! | `place.rs` | the directory's file system and device |
//! | `limits.rs`, `cgroup.rs` | limits of the process and the machine |
//! | `sources.rs`, `bulk.rs` | the verdict on every source |
//!
//! Nothing here is run by a walk: reading all of this costs more than counting a small tree. What is *not* here: the report as text
//! for people, which is `ringwalk doctor`'s.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod bulk;
mod cgroup;
mod kernel;
mod limits;
mod place;
mod sources;
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

/// Everything found, in the shape of the JSON object.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Version of Ringwalk.
    pub version: &'static str,
    /// The kernel.
    pub kernel: Kernel,
    /// The user as the kernel sees this process.
    pub user: User,
    /// The directory that was asked about.
    pub directory: Place,
    /// The verdict on every source, in the order in which help shows them.
    pub sources: Vec<Source>,
    /// Whether blocks can be read ahead of system calls.
    pub prefetch: Prefetch,
    /// Limits of the process and the machine.
    pub limits: Limits,
}

/// Whether blocks can be read ahead of system calls.
#[derive(Clone, Debug, Serialize)]
pub struct Prefetch {
    /// They can.
    pub available: bool,
    /// Why they cannot.
    pub obstacles: Vec<Obstacle>,
}

impl Prefetch {
    fn of(directory: &Place) -> Self {
        let obstacles = bulk::device(directory);
        Self {
            available: obstacles.is_empty(),
            obstacles,
        }
    }
}

impl Report {
    /// Looks at `directory`. `workers` is the number that was asked for, `None` if the engine shall find it.
    ///
    /// # Errors
    ///
    /// When it is not there, cannot be reached, or is not a directory.
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
        // Only maps with keys that are no strings and failing serializers fail; there are none.
        shown::json(serde_json::to_string_pretty(self).unwrap_or_default())
    }
}

/// The words for `errno`, for those parts that store a reason.
fn words(errno: Errno) -> String {
    ringwalk_gnu::reason(&errno.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_report_has_the_documented_keys() {
        let report = Report::of(Path::new("/"), None).unwrap();
        let value: serde_json::Value = serde_json::from_str(&report.json()).unwrap();
        for pointer in [
            "/version",
            "/kernel/release",
            "/kernel/io_uring/available",
            "/user/sys_admin",
            "/directory/file_system",
            "/sources/0/usable",
            "/sources/5/obstacles",
            "/sources/1/why_not_auto",
            "/prefetch/available",
            "/prefetch/obstacles",
            "/user/dac_read_search",
            "/limits/open_files_soft",
            "/limits/cpu_quota",
        ] {
            assert!(value.pointer(pointer).is_some(), "{pointer}");
        }
        assert_eq!(value.pointer("/directory/path").unwrap(), "/");
    }
}
