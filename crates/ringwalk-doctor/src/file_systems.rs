//! The obstacles to sources that read past the VFS and to reading ahead, and their remedies.
//! `sources.rs` has the obstacles to the other sources.

use std::fs::OpenOptions;
use std::os::unix::fs::OpenOptionsExt as _;

use rustix::fs::OFlags;

use crate::kernel::Obstacle;
use crate::place::Place;
use crate::user::User;
use ringwalk::{DeviceProblem, SourceChoice, SourceNeeds};

/// Returns the obstacles to `source`, which the engine refuses for `reason`. If nothing more
/// helpful is found, the obstacle is that reason.
pub(crate) fn obstacles(
    source: SourceChoice,
    reason: &str,
    user: &User,
    place: &Place,
) -> Vec<Obstacle> {
    let mut found = match source.needs() {
        SourceNeeds::BlockDevice => device(source, place),
        SourceNeeds::SysAdmin => privileged(source, user, place),
        SourceNeeds::Nothing | SourceNeeds::Module | SourceNeeds::PatchedKernel => Vec::new(),
    };
    found.extend(mount(place));
    if !user.initial_namespace {
        found.push(Obstacle::new(
            "this process is in a user namespace, where ids are mapped",
            "run outside of the container",
        ));
    }
    if found.is_empty() {
        let remedy = "no remedy is known; system calls read it as well";
        found.push(Obstacle::new(reason, remedy));
    }
    found
}

/// Returns the reasons why `source` cannot read the block device of the file system. Reading ahead
/// of system calls needs the same as the source `ext4`.
pub(crate) fn device(source: SourceChoice, place: &Place) -> Vec<Obstacle> {
    if let Some(obstacle) = other_file_system(source, place) {
        return vec![obstacle];
    }
    let device = &place.device;
    let Some(path) = &device.path else {
        return vec![Obstacle::new(
            format!(
                "block device {}:{} has no node in /dev",
                device.major, device.minor
            ),
            "make the device visible here (in a container: give it the device)",
        )];
    };
    if let Some(reason) = &device.unreadable {
        let remedy = if device.forbidden {
            "allow it in the device rules of the container, service or control group"
        } else {
            "root, or membership of the group that may read it (on most systems: disk)"
        };
        return vec![Obstacle::new(
            format!("block device {path} cannot be read by this user: {reason}"),
            remedy,
        )];
    }
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let opened = OpenOptions::new().read(true).custom_flags(flags).open(path);
    let checked = match opened {
        Ok(device) => source.check_device(&device),
        Err(error) => Err(DeviceProblem {
            problem: error.to_string(),
            remedy: "check that the device is there and can be read",
        }),
    };
    let problem = checked.err().map(|found| {
        let problem = format!("{path}: {}", found.problem);
        Obstacle::new(problem, found.remedy)
    });
    problem.into_iter().collect()
}

/// Returns the options of a mount that make its files differ from those of the file system.
fn mount(place: &Place) -> Vec<Obstacle> {
    let mount = place.mount.as_ref();
    let has = |option| mount.is_some_and(|mount| mount.has_option(option));
    [
        ("idmapped", "a mount of it that is not idmapped"),
        ("lazytime", "mount it without lazytime"),
        ("dax", "mount it without dax"),
        ("dax=always", "mount it without dax"),
    ]
    .into_iter()
    .filter(|(option, _)| has(option))
    .map(|(option, remedy)| Obstacle::new(format!("it is mounted with {option}"), remedy))
    .collect()
}

/// Returns the obstacles to file systems that allow bulk calls only to the administrator.
fn privileged(source: SourceChoice, user: &User, place: &Place) -> Vec<Obstacle> {
    let mut obstacles: Vec<_> = other_file_system(source, place).into_iter().collect();
    if !user.sys_admin {
        obstacles.push(Obstacle::new(
            "needs CAP_SYS_ADMIN, which this process does not have",
            "run as root",
        ));
    }
    obstacles
}

fn other_file_system(source: SourceChoice, place: &Place) -> Option<Obstacle> {
    let wanted = source.file_systems();
    let name = wanted.first()?;
    match place.file_system.as_deref() {
        Some(found) if wanted.contains(&found) => None,
        Some(found) => Some(Obstacle::new(
            format!("not a mount of {name}, but of {found}"),
            format!("a directory on {}", wanted.join(", ")),
        )),
        None => Some(match &place.mounts_unread {
            Some(reason) => Obstacle::new(
                format!("the type of the file system is not known: {reason}"),
                "mount /proc, or allow more open files",
            ),
            None => Obstacle::new(
                "the type of the file system is not known: its mount is not in /proc/self/mountinfo",
                "run where the mount can be seen, in the same mount namespace",
            ),
        }),
    }
}

#[cfg(test)]
mod tests;
