//! The limits that control groups set for the CPU time and the memory of this process.
//!
//! The limits of all groups apply, from the group of this process up to the highest visible one. So
//! the lowest limit counts. Both hierarchies are read, since a host may have `cpu` in one and
//! `memory` in the other (cgroups(7)).

use std::path::{Path, PathBuf};

use ringwalk::mounts::Mount;

/// The limits of control groups. `None` where nothing limits, or no limit is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct GroupLimits {
    /// CPU time a second, in CPUs.
    pub(crate) cpus: Option<f64>,
    /// Bytes.
    pub(crate) memory: Option<u64>,
}

/// Version 1 shows "no limit" as the largest multiple of a page that fits a signed 64-bit number.
const UNLIMITED_V1: u64 = 1 << 62;

/// Returns the limits. `membership` is the text of `/proc/self/cgroup`, and `read` returns the text
/// of a file.
pub(crate) fn limits(
    membership: &str,
    mounts: &[Mount],
    read: impl Fn(&Path) -> Option<String>,
) -> GroupLimits {
    let mut limits = GroupLimits::default();
    for line in membership.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(_), Some(controllers), Some(group)) = (parts.next(), parts.next(), parts.next())
        else {
            continue;
        };
        for directory in hierarchy(mounts, controllers, Path::new(group)) {
            let number = |name: &str| read(&directory.join(name))?.trim().parse::<u64>().ok();
            let quota = if controllers.is_empty() {
                read(&directory.join("cpu.max")).and_then(|text| cpu_max(&text))
            } else {
                quota_v1(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
            };
            let memory = number("memory.max").or_else(|| number("memory.limit_in_bytes"));
            limits.cpus = tighter(limits.cpus, quota, f64::min);
            limits.memory = tighter(
                limits.memory,
                memory.filter(|bytes| *bytes < UNLIMITED_V1),
                u64::min,
            );
        }
    }
    limits
}

fn tighter<T>(old: Option<T>, new: Option<T>, least: impl Fn(T, T) -> T) -> Option<T> {
    match (old, new) {
        (Some(old), Some(new)) => Some(least(old, new)),
        (old, new) => old.or(new),
    }
}

/// Returns the directories of `group` and of the groups above it, in the hierarchy that has these
/// controllers.
fn hierarchy(mounts: &[Mount], controllers: &str, group: &Path) -> Vec<PathBuf> {
    let first = controllers.split(',').next().unwrap_or_default();
    let mount = mounts.iter().find(|mount| {
        if controllers.is_empty() {
            mount.file_system == "cgroup2"
        } else {
            mount.file_system == "cgroup"
                && mount.super_options.split(',').any(|option| option == first)
        }
    });
    let Some(mount) = mount else {
        return Vec::new();
    };
    // In a container the mount often begins at the group of the container. Groups outside of the
    // mount cannot be seen.
    let Ok(below) = group.strip_prefix(&mount.root) else {
        return vec![mount.point.clone()];
    };
    below
        .ancestors()
        .map(|part| mount.point.join(part))
        .collect()
}

/// Parses `cpu.max`: quota and period in microseconds, or `max` and a period.
fn cpu_max(text: &str) -> Option<f64> {
    let mut words = text.split_ascii_whitespace();
    let quota: f64 = words.next()?.parse().ok()?;
    let period: f64 = words.next()?.parse().ok()?;
    (period > 0.0).then(|| quota / period)
}

/// Returns the quota of version 1, which has two files. No quota is -1, which is not an unsigned
/// number.
fn quota_v1(quota: Option<u64>, period: Option<u64>) -> Option<f64> {
    let (quota, period) = (u32::try_from(quota?).ok()?, u32::try_from(period?).ok()?);
    (period > 0).then(|| f64::from(quota) / f64::from(period))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::mounts;

    const MOUNTS: &[u8] = b"\
40 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw
41 1 0:31 /docker/x /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu,cpuacct
42 1 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory
";

    fn with(membership: &str, files: &[(&str, &str)]) -> GroupLimits {
        limits(membership, &mounts::parse(MOUNTS).unwrap(), |path| {
            files
                .iter()
                .find(|(name, _)| Path::new(name) == path)
                .map(|(_, text)| (*text).to_owned())
        })
    }

    #[test]
    fn the_tightest_group_above_binds() {
        let files = [
            ("/sys/fs/cgroup/unified/a/b/cpu.max", "max 100000\n"),
            ("/sys/fs/cgroup/unified/a/cpu.max", "150000 100000\n"),
            ("/sys/fs/cgroup/unified/cpu.max", "400000 100000\n"),
            ("/sys/fs/cgroup/unified/a/b/memory.max", "1048576\n"),
            ("/sys/fs/cgroup/unified/a/memory.max", "max\n"),
        ];
        assert_eq!(
            with("0::/a/b\n", &files),
            GroupLimits {
                cpus: Some(1.5),
                memory: Some(1 << 20)
            }
        );
    }

    #[test]
    fn version_1_with_a_mount_that_begins_at_the_container() {
        let files = [
            ("/sys/fs/cgroup/cpu/y/cpu.cfs_quota_us", "-1\n"),
            ("/sys/fs/cgroup/cpu/y/cpu.cfs_period_us", "100000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "50000\n"),
            ("/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n"),
            (
                "/sys/fs/cgroup/memory/z/memory.limit_in_bytes",
                "9223372036854771712\n",
            ),
        ];
        let found = with("3:cpu,cpuacct:/docker/x/y\n2:memory:/z\n", &files);
        assert_eq!(
            found,
            GroupLimits {
                cpus: Some(0.5),
                memory: None
            }
        );
    }

    #[test]
    fn nothing_known_is_no_limit() {
        assert_eq!(
            with("0::/a\n1:name=systemd:/\nnonsense\n", &[]),
            GroupLimits::default()
        );
    }
}
