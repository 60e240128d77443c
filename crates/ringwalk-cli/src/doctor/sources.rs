//! Which sources can be used, and what stands in the way of the others.
//!
//! A source that this version does not have is reported all the same, with whether this machine meets its needs: that
//! tells what a later version will bring here, and never claims that it can be used now.

use rustix::fs::{Access, access};
use rustix::io::Errno;
use serde::Serialize;

use super::kernel::{Kernel, Obstacle};
use super::place::Place;
use super::user::User;
use crate::source_name::SourceName;

/// The device of the kernel module.
const MODULE_DEVICE: &str = "/dev/ringwalk";

/// What can be said of one source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Source {
    /// As `--source` names it.
    pub(crate) name: &'static str,
    /// This version of ringwalk has it.
    pub(crate) in_this_version: bool,
    /// This kernel, user and file system meet its needs; none if that cannot be told.
    pub(crate) needs_met: Option<bool>,
    /// Both: a walk can use it here and now.
    pub(crate) usable: bool,
    /// `auto` takes it here.
    pub(crate) chosen_by_auto: bool,
    /// What it needs and does not find.
    pub(crate) obstacles: Vec<Obstacle>,
}

/// Judges every source for `place`.
pub(crate) fn judge(kernel: &Kernel, user: &User, place: &Place) -> Vec<Source> {
    let here = SourceName::ALL.into_iter().filter_map(|name| {
        let obstacles = match name {
            SourceName::Auto => return None,
            SourceName::Syscall => syscall(place),
            SourceName::Ext4 => ext4(place),
            SourceName::Xfs | SourceName::Btrfs => privileged(name.as_str(), user, place),
        };
        let usable = obstacles.is_empty();
        Some(Source {
            name: name.as_str(),
            in_this_version: true,
            needs_met: Some(usable),
            usable,
            chosen_by_auto: usable && name == SourceName::Syscall,
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
            obstacles,
        }
    });
    here.chain(planned).collect()
}

/// System calls always work, but only on what this user may read.
fn syscall(place: &Place) -> Vec<Obstacle> {
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

fn ext4(place: &Place) -> Vec<Obstacle> {
    if let Some(obstacle) = other_file_system("ext4", place) {
        return vec![obstacle];
    }
    let device = &place.device;
    let problem = match (&device.path, &device.unreadable) {
        (Some(_), None) => return Vec::new(),
        (Some(path), Some(reason)) => {
            format!("block device {path} cannot be read by this user: {reason}")
        }
        (None, _) => format!(
            "block device {}:{} has no node in /dev",
            device.major, device.minor
        ),
    };
    let remedy = match (&device.path, device.forbidden) {
        (Some(_), false) => {
            "root, or membership of the group that may read it (on most systems: disk)"
        }
        (Some(_), true) => {
            "allow it in the device rules of the container, service or control group"
        }
        (None, _) => "make the device visible here (in a container: give it the device)",
    };
    vec![Obstacle::new(problem, remedy)]
}

/// The file systems whose bulk calls are the administrator's.
fn privileged(file_system: &str, user: &User, place: &Place) -> Vec<Obstacle> {
    let mut obstacles: Vec<_> = other_file_system(file_system, place).into_iter().collect();
    if !user.sys_admin {
        obstacles.push(Obstacle::new(
            "needs CAP_SYS_ADMIN, which this process does not have",
            "run as root",
        ));
    } else if !user.administers_host() {
        obstacles.push(Obstacle::new(
            "needs CAP_SYS_ADMIN of the host; this process has it in a user namespace only",
            "run as root outside of the container",
        ));
    }
    obstacles
}

fn other_file_system(wanted: &str, place: &Place) -> Option<Obstacle> {
    let remedy = format!("a directory on {wanted}");
    match place.file_system.as_deref() {
        Some(found) if found == wanted => None,
        Some(found) => Some(Obstacle::new(
            format!("not a mount of {wanted}, but of {found}"),
            remedy,
        )),
        None => Some(Obstacle::new(
            "the type of the file system is not known without /proc",
            "mount /proc",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::super::kernel::Ring;
    use super::super::place::Device;
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

    fn user(sys_admin: bool) -> User {
        User {
            uid: 0,
            sys_admin,
            initial_namespace: true,
            seccomp_filter: false,
            groups: vec![],
        }
    }

    fn place(file_system: &str) -> Place {
        Place {
            path: "/x".to_owned(),
            path_hex: None,
            given: "/x".into(),
            mount_point: Some("/".to_owned()),
            file_system: Some(file_system.to_owned()),
            device: Device {
                path: Some("/dev/sdz".to_owned()),
                ..Device::default()
            },
            unreadable: None,
            statx_mask: 0xfff,
        }
    }

    fn needs_met(sources: &[Source], name: &str) -> Option<bool> {
        sources
            .iter()
            .find(|source| source.name == name)
            .unwrap()
            .needs_met
    }

    #[test]
    fn only_what_this_version_has_is_usable() {
        let sources = judge(&kernel("6.12.1"), &user(true), &place("xfs"));
        assert_eq!(needs_met(&sources, "xfs"), Some(true));
        assert_eq!(needs_met(&sources, "btrfs"), Some(false));
        let usable: Vec<_> = sources
            .iter()
            .filter(|source| source.usable)
            .map(|source| source.name)
            .collect();
        assert_eq!(usable, ["syscall", "xfs"]);
    }

    #[test]
    fn a_directory_that_cannot_be_read_helps_nobody() {
        let unreadable = Place {
            unreadable: Some("Permission denied".to_owned()),
            ..place("ext4")
        };
        let sources = judge(&kernel("6.12.1"), &user(false), &unreadable);
        assert!(!sources[0].usable && !sources[0].chosen_by_auto);
        assert!(
            sources[0].obstacles[0]
                .problem
                .contains("Permission denied")
        );
    }

    #[test]
    fn the_block_device_must_be_there_and_readable() {
        let mut place = place("ext4");
        assert_eq!(ext4(&place), []);
        place.device.unreadable = Some("Permission denied".to_owned());
        assert!(ext4(&place)[0].remedy.contains("disk"));
        place.device.forbidden = true;
        assert!(ext4(&place)[0].remedy.contains("device rules"));
        place.device = Device {
            major: 8,
            minor: 1,
            ..Device::default()
        };
        assert!(ext4(&place)[0].problem.contains("8:1"));
    }

    #[test]
    fn privileges_must_be_the_hosts() {
        let contained = User {
            initial_namespace: false,
            ..user(true)
        };
        assert_eq!(privileged("xfs", &user(true), &place("xfs")), []);
        assert!(
            privileged("xfs", &contained, &place("xfs"))[0]
                .problem
                .contains("namespace")
        );
        assert_eq!(privileged("btrfs", &user(false), &place("xfs")).len(), 2);
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
        assert_eq!(
            needs_met(&judge(&kernel, &user(false), &place("tmpfs")), "ring"),
            None
        );
    }
}
