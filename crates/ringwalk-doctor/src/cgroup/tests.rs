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
