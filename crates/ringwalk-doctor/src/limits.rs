//! The limits of this process and machine that a walk runs into.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::str::FromStr;

use rustix::process::{Resource, getrlimit};
use rustix::thread::sched_getaffinity;
use serde::Serialize;

use crate::cgroup;
use ringwalk::mounts;

/// Limits; a number that is missing (`null`) means that nothing limits, unless said otherwise.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Limits {
    /// `RLIMIT_NOFILE`: the limit now. The engine raises it to the hard limit if necessary.
    pub open_files_soft: Option<u64>,
    /// The hard limit, to which the soft one can be raised.
    pub open_files_hard: Option<u64>,
    /// Open files of the whole machine (`fs.file-nr`). Missing without `/proc`.
    pub system_open_files: Option<u64>,
    /// The limit on open files of the whole machine (`fs.file-max`).
    pub system_most_open_files: Option<u64>,
    /// CPUs that this process may run on.
    pub cpus: usize,
    /// The limit of control groups on CPU time a second, in CPUs.
    pub cpu_quota: Option<f64>,
    /// The reason why the limits of control groups are unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control_groups_unread: Option<String>,
    /// Workers that a walk uses while calls return from cache.
    pub workers: usize,
    /// Memory in bytes. Missing without `/proc`.
    pub memory: Option<u64>,
    /// Memory that is available without swapping, in bytes. Missing without `/proc`.
    pub memory_available: Option<u64>,
    /// The limit of control groups on memory, in bytes.
    pub memory_limit: Option<u64>,
    /// `RLIMIT_NPROC`, which also bounds the kernel's workers for requests of unbounded duration.
    pub processes: Option<u64>,
}

impl Limits {
    /// Reads the limits. `asked` is the requested number of workers.
    pub(crate) fn read(asked: Option<NonZeroUsize>) -> Self {
        let files = getrlimit(Resource::Nofile);
        let proc_number = |name: &str, index| nth_number(&text(Path::new(name))?, index);
        let meminfo = text(Path::new("/proc/meminfo")).unwrap_or_default();
        let groups = control_groups();
        let control_groups_unread = groups.as_ref().err().map(ringwalk_gnu::reason);
        let groups = groups.unwrap_or_default();
        Self {
            open_files_soft: files.current,
            open_files_hard: files.maximum,
            system_open_files: proc_number("/proc/sys/fs/file-nr", 0),
            system_most_open_files: proc_number("/proc/sys/fs/file-max", 0),
            cpus: cpus(),
            cpu_quota: groups.cpus,
            control_groups_unread,
            workers: asked.map_or_else(ringwalk::warm_workers, NonZeroUsize::get),
            memory: meminfo_bytes(&meminfo, "MemTotal:"),
            memory_available: meminfo_bytes(&meminfo, "MemAvailable:"),
            memory_limit: groups.memory,
            processes: getrlimit(Resource::Nproc).current,
        }
    }
}

/// Returns the limits of control groups.
fn control_groups() -> io::Result<cgroup::GroupLimits> {
    const MEMBERSHIP: &str = "/proc/self/cgroup";
    let membership = std::fs::read_to_string(MEMBERSHIP)
        .map_err(|error| io::Error::new(error.kind(), format!("{MEMBERSHIP}: {error}")))?;
    Ok(cgroup::limits(&membership, &mounts::read()?, text))
}

fn text(path: &Path) -> Option<String> {
    std::fs::read_to_string(path).ok()
}

fn cpus() -> usize {
    sched_getaffinity(None).map_or(1, |set| usize::try_from(set.count()).unwrap_or(1).max(1))
}

fn nth_number<T: FromStr>(text: &str, index: usize) -> Option<T> {
    text.split_ascii_whitespace().nth(index)?.parse().ok()
}

/// Returns the number of bytes in a line such as `MemTotal:  16318236 kB`.
fn meminfo_bytes(meminfo: &str, name: &str) -> Option<u64> {
    let line = meminfo.lines().find_map(|line| line.strip_prefix(name))?;
    Some(nth_number::<u64>(line, 0)? * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_are_bounded_by_cpus_unless_asked() {
        let workers = Limits::read(None).workers;
        assert!((1..=cpus()).contains(&workers), "{workers}");
    }

    #[test]
    fn meminfo_is_in_kibibytes() {
        assert_eq!(
            meminfo_bytes("MemTotal:   2 kB\nMemAvailable: 1 kB\n", "MemAvailable:"),
            Some(1024)
        );
        assert_eq!(meminfo_bytes("", "MemTotal:"), None);
    }

    #[test]
    fn this_process_has_limits() {
        let limits = Limits::read(NonZeroUsize::new(3));
        assert_eq!(limits.workers, 3);
        assert!(limits.cpus >= 1);
        assert!(
            limits
                .open_files_soft
                .is_some_and(|soft| limits.open_files_hard.is_none_or(|hard| soft <= hard))
        );
    }
}
