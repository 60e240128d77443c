//! The sources that can be used, and the obstacles to the others.

use ringwalk::{Fields, Follow, LikelySource, Walk};
use ringwalk_sys::{ModuleDevice, ModuleRefused};
use serde::Serialize;

use crate::documentation;
use crate::file_systems;
use crate::kernel::{Kernel, Obstacle};
use crate::place::Place;
use crate::user::User;
use ringwalk::{SourceChoice, SourceNeeds};

/// The verdict on one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Source {
    /// The name, as for `--source`.
    pub name: &'static str,
    /// A walk can use it here and now.
    pub usable: bool,
    /// Versions and features.
    pub details: Option<String>,
    /// `auto` chooses it here.
    pub chosen_by_auto: bool,
    /// The reason why `auto` does not choose it, although it is usable.
    pub why_not_auto: Option<String>,
    /// The reasons why it is not usable.
    pub obstacles: Vec<Obstacle>,
}

/// The engine's answers about a directory.
#[derive(Clone, Debug)]
pub(crate) struct Engine {
    /// The source that `auto` chooses.
    auto: LikelySource,
    /// Sources that cannot be used, with reasons.
    refused: Vec<(SourceChoice, String)>,
    /// Versions and features of the sources that can be used.
    details: Vec<(SourceChoice, String)>,
}

impl Engine {
    /// Asks the engine, as programs do before a walk.
    pub(crate) fn ask(place: &Place) -> Self {
        let walk = || {
            let walk = Walk::new(place.given.as_path()).follow(Follow::CommandLine);
            walk.fields(Fields::SIZE)
        };
        let refusal = |name: SourceChoice| {
            let error = walk().source(name).check_source().err()?;
            Some((name, error.reason().to_owned()))
        };
        let details = |name: SourceChoice| Some((name, walk().source(name).source_details()?));
        Self {
            auto: walk().likely_source(),
            refused: SourceChoice::ALL
                .iter()
                .copied()
                .filter_map(refusal)
                .collect(),
            details: SourceChoice::ALL
                .iter()
                .copied()
                .filter_map(details)
                .collect(),
        }
    }

    fn refusal(&self, name: SourceChoice) -> Option<&str> {
        let refused = self.refused.iter().find(|(refused, _)| *refused == name);
        refused.map(|(_, reason)| reason.as_str())
    }
}

/// Returns the verdict on each source for `place`. `engine` has the sources that can be used and
/// the choice of `auto`. This function finds the obstacles.
pub(crate) fn judge(kernel: &Kernel, user: &User, place: &Place, engine: &Engine) -> Vec<Source> {
    let judged = SourceChoice::ALL.iter().copied().filter_map(|name| {
        let mut obstacles = unreadable(place);
        if name == SourceChoice::Auto {
            return None;
        }
        if let Some(reason) = engine.refusal(name) {
            obstacles.extend(match name.needs() {
                SourceNeeds::Module => module(kernel, ModuleDevice::open().err()),
                SourceNeeds::PatchedKernel => ring(kernel),
                SourceNeeds::Nothing | SourceNeeds::BlockDevice | SourceNeeds::SysAdmin => {
                    file_systems::obstacles(name, reason, user, place)
                }
            });
        }
        let usable = obstacles.is_empty();
        let chosen_by_auto = usable && engine.auto.source == name.as_str();
        let is_left = usable && !chosen_by_auto && name != SourceChoice::Syscall;
        let details = engine.details.iter().find(|(found, _)| *found == name);
        Some(Source {
            name: name.as_str(),
            usable,
            details: details.map(|(_, words)| words.clone()),
            chosen_by_auto,
            why_not_auto: is_left.then(|| engine.auto.reason.clone()),
            obstacles,
        })
    });
    judged.collect()
}

/// Returns the obstacle to all sources. System calls always work, but only on directories that this
/// user may read.
fn unreadable(place: &Place) -> Vec<Obstacle> {
    let unreadable = place.unreadable.as_ref().map(|reason| {
        Obstacle::new(
            format!("this directory cannot be read: {reason}"),
            "read permission on it, or another user",
        )
    });
    unreadable.into_iter().collect()
}

/// Returns the reason why `io_uring` cannot read directories.
fn ring(kernel: &Kernel) -> Vec<Obstacle> {
    let ring = &kernel.io_uring;
    vec![ring.obstacle.clone().unwrap_or_else(|| {
        Obstacle::new(
            "io_uring of this kernel has no operations that read directories (it does not list them in /proc/sys/kernel/ringwalk_operations)",
            format!(
                "a kernel with Ringwalk's patches: see {}; and /proc must be mounted",
                documentation::page("kernel.md")
            ),
        )
    })]
}

/// Returns the reasons why the kernel module cannot be used. `refused` is the failure to open its
/// device.
fn module(kernel: &Kernel, refused: Option<ModuleRefused>) -> Vec<Obstacle> {
    let mut obstacles = Vec::new();
    if !kernel.at_least(6, 1) {
        obstacles.push(Obstacle::new(
            format!("kernel {} is too old", kernel.release),
            "a kernel of 6.1 or later",
        ));
    }
    if let Some(refused) = refused {
        let remedy = match refused {
            ModuleRefused::Missing => {
                let page = documentation::page("kernel.md");
                format!("build, install and load the module: see {page}")
            }
            ModuleRefused::Open(_) => "root, or read permission on it".to_owned(),
            ModuleRefused::Foreign(_) => {
                "load the module, and have udev make its device".to_owned()
            }
            ModuleRefused::Version(_) | ModuleRefused::Commands => {
                "the module of the same version as ringwalk".to_owned()
            }
        };
        obstacles.push(Obstacle::new(refused.to_string(), remedy));
    }
    obstacles
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Ring;
    use crate::testing::{place, user};
    use rustix::io::Errno;

    fn kernel(release: &str) -> Kernel {
        let io_uring = Ring {
            available: true,
            last_operation: 64,
            uring_cmd: true,
            ..Ring::default()
        };
        Kernel {
            release: release.to_owned(),
            machine: "x86_64".to_owned(),
            io_uring,
            openat2: true,
        }
    }

    fn engine(auto: &'static str, refused: &[SourceChoice]) -> Engine {
        let reason = |name: &SourceChoice| (*name, "it is on another one".to_owned());
        Engine {
            auto: LikelySource {
                source: auto,
                reason: "it was found best".to_owned(),
            },
            refused: refused.iter().map(reason).collect(),
            details: vec![(SourceChoice::Ring, "its numbers".to_owned())],
        }
    }

    fn found<'s>(sources: &'s [Source], name: &str) -> &'s Source {
        let found = sources.iter().find(|source| source.name == name);
        found.expect(name)
    }

    #[test]
    fn what_the_engine_refuses_is_not_usable() {
        use SourceChoice::{Btrfs, Syscall, Xfs};
        let refusing = |refused: &[SourceChoice]| {
            let engine = engine("syscall", refused);
            judge(&kernel("6.12.1"), &user(true), &place("tmpfs"), &engine)
        };
        let others = SourceChoice::ALL.iter().copied();
        let others: Vec<_> = others.filter(|name| *name != Syscall).collect();
        let sources = refusing(&others);
        let usable = |source: &&Source| source.usable;
        let names: Vec<_> = sources.iter().filter(usable).map(|s| s.name).collect();
        assert_eq!(names, ["syscall"]);
        assert!(found(&sources, "syscall").chosen_by_auto);
        assert!(!found(&sources, "xfs").obstacles.is_empty());
        assert!(
            found(&sources, "ring").obstacles[0]
                .problem
                .contains("no operations")
        );
        let sources = refusing(&[Xfs, Btrfs]);
        let ring = found(&sources, "ring");
        assert_eq!(ring.details.as_deref(), Some("its numbers"));
        let ext4 = found(&sources, "ext4");
        assert!(ext4.usable && !ext4.chosen_by_auto);
        assert_eq!(ext4.why_not_auto.as_deref(), Some("it was found best"));
    }

    #[test]
    fn auto_takes_what_the_engine_says() {
        let refused = [SourceChoice::Xfs, SourceChoice::Btrfs];
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
        for source in &sources {
            assert!(!source.usable && !source.chosen_by_auto, "{}", source.name);
            assert!(source.obstacles[0].problem.contains("Permission denied"));
        }
    }

    #[test]
    fn the_modules_needs_are_told_one_by_one() {
        let old = module(&kernel("5.15.0"), Some(ModuleRefused::Missing));
        assert!(old[0].problem.contains("5.15.0") && old[1].problem.contains("not loaded"));
        let new = kernel("6.1.0");
        let missing = &module(&new, Some(ModuleRefused::Missing))[0];
        assert!(missing.remedy.contains("load the module: see "));
        assert!(missing.remedy.ends_with("/kernel.md"));
        let closed = module(&new, Some(ModuleRefused::Open(Errno::ACCESS)));
        assert!(closed[0].problem.contains("Permission denied"));
        let other = module(&new, Some(ModuleRefused::Version(7)));
        assert!(other[0].problem.contains("version 7"));
    }
}
