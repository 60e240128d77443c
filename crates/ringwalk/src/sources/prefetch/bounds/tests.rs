//! Unit tests of `bounds.rs`.

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
