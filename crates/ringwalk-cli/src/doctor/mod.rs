//! `ringwalk doctor`: what this kernel, user and file system allow, why not more, and what would help.
//!
//! | file | what it finds out |
//! |---|---|
//! | `kernel.rs` | the release, `io_uring`, system calls: by trying them |
//! | `user.rs` | privileges |
//! | `place.rs` | the directory's file system and device |
//! | `limits.rs`, `cgroup.rs` | limits of the process and the machine |
//! | `sources.rs`, `bulk.rs` | the verdict on every source |
//! | `report.rs` | the report as text |
//!
//! Nothing here is run by a walk: reading all of this costs more than counting a small tree.

mod bulk;
mod cgroup;
mod kernel;
mod limits;
mod place;
mod report;
mod sources;
mod user;

use std::process::ExitCode;

use rustix::io::Errno;
use serde::Serialize;

use crate::cli::DoctorArgs;
use crate::console;
use crate::engine_options::EngineOptions;
use crate::quote::quoted;
use crate::source_name::SourceName;
use kernel::{Kernel, Obstacle};
use limits::Limits;
use place::Place;
use sources::{Engine, Source};
use user::User;

/// Everything found, in the shape of the JSON object.
#[derive(Clone, Debug, Serialize)]
struct Report {
    version: &'static str,
    kernel: Kernel,
    user: User,
    directory: Place,
    sources: Vec<Source>,
    prefetch: Prefetch,
    limits: Limits,
}

/// Whether blocks can be read ahead of system calls.
#[derive(Clone, Debug, Serialize)]
struct Prefetch {
    available: bool,
    obstacles: Vec<Obstacle>,
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

/// Looks at `args.directory` and prints the report.
pub fn run(args: &DoctorArgs, options: &EngineOptions) -> ExitCode {
    let directory = match Place::read(args.directory.as_ref()) {
        Ok(directory) => directory,
        Err(errno) => {
            let reason = console::reason(&errno.into());
            console::error(format_args!(
                "cannot access {}: {reason}",
                quoted(&args.directory)
            ));
            return ExitCode::FAILURE;
        }
    };
    let user = User::read();
    let kernel = Kernel::read(&user);
    let engine = Engine::ask(&directory);
    let mut sources = sources::judge(&kernel, &user, &directory, &engine);
    if options.source != SourceName::Auto {
        sources.retain(|source| source.name == options.source.as_str());
    }
    let limits = Limits::read(options.workers);
    let report = Report {
        version: env!("CARGO_PKG_VERSION"),
        prefetch: Prefetch::of(&directory),
        kernel,
        user,
        directory,
        sources,
        limits,
    };
    let output = if args.json {
        json(&report)
    } else {
        report::text(&report)
    };
    if let Err(status) = console::print(output.as_bytes()) {
        return status;
    }
    if options.explain {
        console::note(report::evidence(&report));
    }
    ExitCode::SUCCESS
}

fn json(report: &Report) -> String {
    // Only maps with keys that are no strings and failing serializers fail; there are none.
    let mut text = serde_json::to_string_pretty(report).unwrap_or_default();
    text.push('\n');
    text
}

/// The words for `errno`, for those parts that store a reason.
fn words(errno: Errno) -> String {
    console::reason(&errno.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn the_report_has_the_documented_keys() {
        let user = User::read();
        let kernel = Kernel::read(&user);
        let directory = Place::read(Path::new("/")).unwrap();
        let sources = sources::judge(&kernel, &user, &directory, &Engine::ask(&directory));
        let report = Report {
            version: "0",
            prefetch: Prefetch::of(&directory),
            kernel,
            user,
            directory,
            sources,
            limits: Limits::read(None),
        };
        let value: serde_json::Value = serde_json::from_str(&json(&report)).unwrap();
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
