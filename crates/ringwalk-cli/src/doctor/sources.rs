//! Which sources can be used, and what stands in the way of the others.

use ringwalk::{Follow, LikelySource, Walk};
use serde::Serialize;

use super::bulk;
use super::kernel::{Kernel, Obstacle};
use super::place::Place;
use super::user::User;
use crate::source_name::SourceName;

/// What can be said of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Source {
    /// As `--source` names it.
    pub(crate) name: &'static str,
    /// A walk can use it here and now.
    pub(crate) usable: bool,
    /// What it is: versions and features.
    pub(crate) details: Option<String>,
    /// `auto` takes it here.
    pub(crate) chosen_by_auto: bool,
    /// Why `auto` does not take it, although it is usable.
    pub(crate) why_not_auto: Option<String>,
    /// What it needs and does not find.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// What the engine itself says of a directory.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    /// What `auto` comes to.
    auto: LikelySource,
    /// Sources that cannot be used, and why.
    refused: Vec<(SourceName, String)>,
}

impl Engine {
    /// Asks it, as programs do before a walk.
    pub(crate) fn ask(place: &Place) -> Self {
        let walk = || Walk::new(place.given.as_path()).follow(Follow::CommandLine);
        let refusal = |name: SourceName| {
            let error = walk().source(name.into()).check_source().err()?;
            Some((name, error.reason().to_owned()))
        };
        Self {
            auto: walk().likely_source(),
            refused: SourceName::ALL.into_iter().filter_map(refusal).collect(),
        }
    }

    fn refusal(&self, name: SourceName) -> Option<&str> {
        let refused = self.refused.iter().find(|(refused, _)| *refused == name);
        refused.map(|(_, reason)| reason.as_str())
    }
}

/// Judges every source for `place`. Whether one can be used, and what `auto` takes, is what `engine` says; obstacles are found here.
pub(crate) fn judge(kernel: &Kernel, user: &User, place: &Place, engine: &Engine) -> Vec<Source> {
    let here = SourceName::ALL.into_iter().filter_map(|name| {
        let mut obstacles = unreadable(place);
        if name == SourceName::Auto {
            return None;
        }
        if let Some(reason) = engine.refusal(name) {
            obstacles.extend(bulk::obstacles(name, reason, user, place));
        }
        let usable = obstacles.is_empty();
        let chosen_by_auto = usable && engine.auto.source == name.as_str();
        let is_left = usable && !chosen_by_auto && name != SourceName::Syscall;
        Some(Source {
            name: name.as_str(),
            in_this_version: true,
            needs_met: Some(usable),
            usable,
            chosen_by_auto,
            why_not_auto: is_left.then(|| engine.auto.reason.clone()),
            obstacles,
        })
    });
    let planned = SourceName::PLANNED.into_iter().map(|name| {
        let (obstacles, unsure) = if name == "ring" {
            ring(kernel)
        } else {
            let device = access(MODULE_DEVICE, Access::READ_OK | Access::WRITE_OK);
            (module(kernel, device), false)
        };
        Source {
            name,
            in_this_version: false,
            needs_met: (!unsure).then_some(obstacles.is_empty()),
            usable: false,
            chosen_by_auto: false,
            why_not_auto: None,
            obstacles,
        }
    });
    here.chain(planned).collect()
}

/// What stands in the way of all sources: system calls always work, but only on what this user may read.
fn unreadable(place: &Place) -> Vec<Obstacle> {
    let unreadable = place.unreadable.as_ref().map(|reason| {
        Obstacle::new(
            format!("this directory cannot be read: {reason}"),
            "read permission on it, or another user",
        )
    });
    unreadable.into_iter().collect()
}

/// A ring that reads directories. Whether a kernel that knows more than we do can is not to be told.
fn ring(kernel: &Kernel) -> (Vec<Obstacle>, bool) {
    let ring = &kernel.io_uring;
    if let Some(obstacle) = &ring.obstacle {
        return (vec![obstacle.clone()], false);
    }
    match ring.getdents {
        Some(false) => {
            let problem = format!(
                "no GETDENTS operation in io_uring of this kernel (its last operation is number {}, and none up to 64 reads directories)",
                ring.last_operation
            );
            (
                vec![Obstacle::new(
                    problem,
                    "a kernel built with the GETDENTS patch series",
                )],
                false,
            )
        }
        _ => (Vec::new(), true),
    }
}

fn module(kernel: &Kernel, device: Result<(), Errno>) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if !kernel.at_least(6, 1) {
        obstacles.push(Obstacle::new(
            format!("kernel {} is too old", kernel.release),
            "a kernel of 6.1 or later",
        ));
    }
    if let Some(obstacle) = &kernel.io_uring.obstacle {
        obstacles.push(obstacle.clone());
    } else if !kernel.io_uring.uring_cmd {
        obstacles.push(Obstacle::new(
            "io_uring of this kernel has no URING_CMD operation",
            "a kernel of 6.1 or later",
        ));
    }
    match device {
        Ok(()) => {}
        Err(Errno::NOENT) => obstacles.push(Obstacle::new(
            format!("the kernel module is not loaded: there is no {MODULE_DEVICE}"),
            "build, install and load the module",
        )),
        Err(errno) => obstacles.push(Obstacle::new(
            format!("{MODULE_DEVICE} cannot be opened: {}", super::words(errno)),
            "root, or read and write permission on it",
        )),
    }
    obstacles
}

#[cfg(test)]
mod tests {
    use super::super::bulk::testing::{place, user};
    use super::super::kernel::Ring;
    use super::*;

    fn kernel(release: &str) -> Kernel {
        let io_uring = Ring {
            available: true,
            last_operation: 64,
            uring_cmd: true,
            getdents: Some(false),
            ..Ring::default()
        };
        Kernel {
            release: release.to_owned(),
            machine: "x86_64".to_owned(),
            io_uring,
            openat2: true,
        }
    }

    fn engine(auto: &'static str, refused: &[SourceName]) -> Engine {
        let reason = |name: &SourceName| (*name, "it is on another one".to_owned());
        Engine {
            auto: LikelySource {
                source: auto,
                reason: "it was found best".to_owned(),
            },
            refused: refused.iter().map(reason).collect(),
        }
    }

    fn found<'s>(sources: &'s [Source], name: &str) -> &'s Source {
        let found = sources.iter().find(|source| source.name == name);
        found.expect(name)
    }

    #[test]
    fn what_the_engine_refuses_is_not_usable() {
        use SourceName::{Btrfs, Ext4, Xfs};
        let refusing = |refused: &[SourceName]| {
            let engine = engine("syscall", refused);
            judge(&kernel("6.12.1"), &user(true), &place("tmpfs"), &engine)
        };
        let sources = refusing(&[Ext4, Xfs, Btrfs]);
        let usable = |source: &&Source| source.usable;
        let names: Vec<_> = sources.iter().filter(usable).map(|s| s.name).collect();
        assert_eq!(names, ["syscall"]);
        assert!(found(&sources, "syscall").chosen_by_auto);
        assert!(!found(&sources, "xfs").obstacles.is_empty());
        let sources = refusing(&[Xfs, Btrfs]);
        let ext4 = found(&sources, "ext4");
        assert!(ext4.usable && !ext4.chosen_by_auto);
        assert_eq!(ext4.why_not_auto.as_deref(), Some("it was found best"));
    }

    #[test]
    fn auto_takes_what_the_engine_says() {
        let refused = [SourceName::Xfs, SourceName::Btrfs];
        let engine = engine("ext4", &refused);
        let sources = judge(&kernel("6.12.1"), &user(true), &place("ext4"), &engine);
        let chosen = |source: &&Source| source.chosen_by_auto;
        let names: Vec<_> = sources.iter().filter(chosen).map(|s| s.name).collect();
        assert_eq!(names, ["ext4"]);
        assert_eq!(found(&sources, "syscall").why_not_auto, None);
    }

    #[test]
    fn a_directory_that_cannot_be_read_helps_nobody() {
        let unreadable = Place {
            unreadable: Some("Permission denied".to_owned()),
            ..place("ext4")
        };
        let engine = engine("syscall", &[]);
        let sources = judge(&kernel("6.12.1"), &user(false), &unreadable, &engine);
        for source in sources.iter().filter(|source| source.in_this_version) {
            assert!(!source.usable && !source.chosen_by_auto, "{}", source.name);
            assert!(source.obstacles[0].problem.contains("Permission denied"));
        }
    }

    #[test]
    fn the_modules_needs_are_told_one_by_one() {
        assert_eq!(module(&kernel("6.1.0"), Ok(())), []);
        let old = module(&kernel("5.15.0"), Err(Errno::NOENT));
        assert!(old[0].problem.contains("5.15.0") && old[1].problem.contains("not loaded"));
        assert!(
            module(&kernel("6.1.0"), Err(Errno::ACCESS))[0]
                .problem
                .contains("Permission denied")
        );
    }

    #[test]
    fn an_unknown_newer_kernel_is_not_guessed_about() {
        let mut kernel = kernel("9.0.0");
        kernel.io_uring.getdents = None;
        let engine = engine("syscall", &[]);
        let sources = judge(&kernel, &user(false), &place("tmpfs"), &engine);
        assert_eq!(found(&sources, "ring").needs_met, None);
    }
}
