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
mod tests {
    use super::*;
    use crate::place::Device;
    use crate::testing::{place, user};
    use ringwalk_sys::magic;

    fn problems(source: SourceChoice, user: &User, place: &Place) -> Vec<String> {
        obstacles(source, "the reason", user, place)
            .into_iter()
            .map(|obstacle| obstacle.problem)
            .collect()
    }

    #[test]
    fn the_block_device_must_be_there_and_readable() {
        let device = |place: &Place| device(SourceChoice::Ext4, place);
        for name in SourceChoice::Ext4.file_systems() {
            let mut place = place(name);
            let null = device(&place);
            assert!(null[0].problem.contains("/dev/null"), "no file system");
            place.device.unreadable = Some("Permission denied".to_owned());
            assert!(device(&place)[0].remedy.contains("disk"));
            place.device.forbidden = true;
            assert!(device(&place)[0].remedy.contains("device rules"));
            place.device = Device {
                major: 8,
                minor: 1,
                ..Device::default()
            };
            assert!(device(&place)[0].problem.contains("8:1"));
        }
        assert!(device(&place("xfs"))[0].problem.contains("but of xfs"));
    }

    #[test]
    fn an_unknown_feature_is_named() {
        // A superblock (Documentation/filesystems/ext4/globals.rst) of revision 1 that wants
        // `dirdata` to be known.
        let mut image = vec![0; 64 * 1024];
        for (at, value) in [
            (0x38, u32::try_from(magic::EXT4).unwrap()),
            (0x4c, 1),
            (0x60, 0x1000),
        ] {
            image[1024 + at..][..4].copy_from_slice(&value.to_le_bytes());
        }
        let path = std::env::temp_dir().join(format!("ringwalk-dirdata-{}", std::process::id()));
        std::fs::write(&path, image).unwrap();
        let mut place = place("ext4");
        place.device.path = path.to_str().map(str::to_owned);
        let found = device(SourceChoice::Ext4, &place);
        std::fs::remove_file(&path).unwrap();
        assert!(
            found[0].problem.ends_with("unknown feature dirdata"),
            "{found:?}"
        );
        assert!(found[0].remedy.contains("version"));
    }

    #[test]
    fn privileges_must_be_the_hosts() {
        let contained = User {
            initial_namespace: false,
            ..user(true)
        };
        let of = |user: &User| problems(SourceChoice::Xfs, user, &place("xfs"));
        assert_eq!(of(&user(true)), ["the reason"]);
        assert!(of(&user(false))[0].contains("CAP_SYS_ADMIN"));
        assert!(of(&contained)[0].contains("namespace"));
        let both = problems(SourceChoice::Btrfs, &user(false), &place("xfs"));
        assert_eq!(both.len(), 2);
    }

    #[test]
    fn without_the_table_of_mounts_the_reason_is_told() {
        let mut place = place("xfs");
        place.file_system = None;
        let of = |place: &Place| problems(SourceChoice::Xfs, &user(true), place);
        assert!(of(&place)[0].contains("its mount is not in"));
        place.mounts_unread = Some("Too many open files".to_owned());
        assert!(of(&place)[0].ends_with("Too many open files"));
    }

    #[test]
    fn options_of_the_mount_are_named() {
        let line = b"30 27 8:1 / /mnt rw,idmapped - xfs /dev/sda1 rw,lazytime\n";
        let place = Place {
            mount: ringwalk::mounts::parse(line).unwrap().pop(),
            ..place("xfs")
        };
        assert_eq!(
            problems(SourceChoice::Xfs, &user(true), &place),
            ["it is mounted with idmapped", "it is mounted with lazytime"]
        );
    }
}
