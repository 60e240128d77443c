//! Bounds of prefetch: how many bytes and inodes may be read ahead.

use std::fs::read_to_string;
use std::path::Path;

/// The memory that the kernel keeps for each file after statx(2): an inode of ext4 (about 1.1 KiB)
/// and a dentry, less the memory that it can reclaim first. If more inodes were read than fit into
/// memory, they would evict blocks that were read ahead.
const MEMORY_OF_INODE: u64 = 1024;

/// The divisor of the available memory.
const SHARE: u64 = 4;

/// The limit if the kernel does not report how much memory is available.
const UNREPORTED: u64 = 256 << 20;

/// How much may be read ahead in one walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PrefetchBounds {
    /// The number of bytes, including gaps that are read over.
    pub(crate) bytes: u64,
    /// The number of inodes in the parts of inode tables that are read.
    pub(crate) inodes: u64,
}

impl PrefetchBounds {
    /// Returns bounds of a quarter of the memory: the available memory, or what the limits of this
    /// process's cgroups leave, whichever is less.
    pub(crate) fn of_memory() -> Self {
        let available = available(&read_to_string("/proc/meminfo").unwrap_or_default());
        let cgroups = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let limit = cgroup_limit(&cgroups, Path::new("/sys/fs/cgroup"));
        let memory = available
            .unwrap_or(UNREPORTED)
            .min(limit.unwrap_or(u64::MAX));
        Self::of(memory)
    }

    fn of(memory: u64) -> Self {
        let bytes = memory / SHARE;
        Self {
            bytes,
            inodes: bytes / MEMORY_OF_INODE,
        }
    }
}

/// Returns `MemAvailable` of `/proc/meminfo` (`proc_meminfo(5)`), in bytes.
fn available(meminfo: &str) -> Option<u64> {
    let line = meminfo
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kibibytes: u64 = line.split_ascii_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024)
}

/// Returns the least room that the limits of the cgroups in `/proc/self/cgroup`, and of their
/// ancestors, leave. The room is the limit less the anonymous memory in use, which cannot be
/// reclaimed. Page cache is accounted to a cgroup as well
/// (Documentation/admin-guide/cgroup-v2.rst).
fn cgroup_limit(cgroups: &str, root: &Path) -> Option<u64> {
    let mut least = None;
    for line in cgroups.lines() {
        let mut fields = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else {
            continue;
        };
        let (hierarchy, limit, usage, anonymous) = if controllers.is_empty() {
            (root.to_owned(), "memory.max", "memory.stat", "anon ")
        } else if controllers.split(',').any(|name| name == "memory") {
            let names = ("memory.limit_in_bytes", "memory.stat", "total_rss ");
            (root.join("memory"), names.0, names.1, names.2)
        } else {
            continue;
        };
        let own = hierarchy.join(path.trim_start_matches('/'));
        for group in own
            .ancestors()
            .take_while(|group| group.starts_with(&hierarchy))
        {
            let number = |text: String| text.trim().parse::<u64>().ok();
            // The text `max` means no limit.
            let Some(limit) = read_to_string(group.join(limit)).ok().and_then(number) else {
                continue;
            };
            let usage = read_to_string(group.join(usage)).unwrap_or_default();
            let held = usage
                .lines()
                .find_map(|line| line.strip_prefix(anonymous)?.trim().parse::<u64>().ok());
            let left = limit.saturating_sub(held.unwrap_or(0));
            least = Some(least.map_or(left, |least: u64| least.min(left)));
        }
    }
    least
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{create_dir_all, write};

    #[test]
    fn available_memory() {
        let meminfo = "MemTotal:  8 kB\nMemAvailable:   1048576 kB\nDirty: 3 kB\n";
        assert_eq!(available(meminfo), Some(1 << 30));
        assert_eq!(available("MemTotal: 8 kB\n"), None);
        let bounds = PrefetchBounds::of(1 << 30);
        assert_eq!((bounds.bytes, bounds.inodes), (256 << 20, 256 << 10));
    }

    #[test]
    fn the_least_limit_of_all_groups_above_counts() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("a/b");
        create_dir_all(&group).unwrap();
        write(root.path().join("a/memory.max"), "1000000\n").unwrap();
        write(root.path().join("a/memory.stat"), "anon 300000\nfile 5\n").unwrap();
        write(group.join("memory.max"), "max\n").unwrap();
        let limit = |cgroups| cgroup_limit(cgroups, root.path());
        assert_eq!(limit("0::/a/b\n"), Some(700_000));
        write(group.join("memory.max"), "5000\n").unwrap();
        assert_eq!(limit("0::/a/b\n"), Some(5000));
        assert_eq!(limit("0::/a\n"), Some(700_000));
        assert_eq!(limit("0::/\n"), None);
        assert_eq!(limit("3:cpu:/a/b\n"), None);
    }

    #[test]
    fn the_older_hierarchy_has_its_own_files() {
        let root = tempfile::tempdir().unwrap();
        let group = root.path().join("memory/x");
        create_dir_all(&group).unwrap();
        write(group.join("memory.limit_in_bytes"), "9000\n").unwrap();
        write(group.join("memory.stat"), "rss 1\ntotal_rss 4000\n").unwrap();
        let cgroups = "5:cpu,cpuacct:/y\n4:memory:/x\n";
        assert_eq!(cgroup_limit(cgroups, root.path()), Some(5000));
    }
}
