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
