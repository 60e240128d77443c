//! Who asks: identity and privileges of this process.

use rustix::process::{Gid, getegid, geteuid, getgroups};
use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;

/// The user as the kernel sees this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct User {
    /// Effective user id.
    pub(crate) uid: u32,
    /// Whether `CAP_SYS_ADMIN` is in the effective set.
    pub(crate) sys_admin: bool,
    /// Whether the user namespace is the one of the host: in another one `CAP_SYS_ADMIN` does not open file systems.
    pub(crate) initial_namespace: bool,
    /// A seccomp filter stands between this process and the kernel.
    pub(crate) seccomp_filter: bool,
    #[serde(skip)]
    pub(crate) groups: Vec<u32>,
}

impl User {
    pub(crate) fn read() -> Self {
        let mut groups: Vec<u32> = getgroups()
            .unwrap_or_default()
            .into_iter()
            .map(Gid::as_raw)
            .collect();
        groups.push(getegid().as_raw());
        let map = std::fs::read_to_string("/proc/self/uid_map");
        let status = std::fs::read_to_string("/proc/self/status");
        Self {
            uid: geteuid().as_raw(),
            sys_admin: capabilities(None)
                .is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN)),
            initial_namespace: map.map_or(true, |map| maps_everything(&map)),
            seccomp_filter: status.is_ok_and(|status| has_filter(&status)),
            groups,
        }
    }

    /// Whether ioctls that need `CAP_SYS_ADMIN` of the host are open to this process.
    pub(crate) fn administers_host(&self) -> bool {
        self.sys_admin && self.initial_namespace
    }
}

/// The host's own namespace maps every user id to itself (`user_namespaces(7)`); another one can, but hardly does.
fn maps_everything(uid_map: &str) -> bool {
    uid_map
        .split_ascii_whitespace()
        .eq(["0", "0", "4294967295"])
}

/// `Seccomp: 2` in `/proc/self/status` (`proc_pid_status(5)`).
fn has_filter(status: &str) -> bool {
    status
        .lines()
        .filter_map(|line| line.strip_prefix("Seccomp:"))
        .any(|mode| mode.trim() == "2")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hosts_namespace_maps_all_ids_to_themselves() {
        assert!(maps_everything("         0          0 4294967295\n"));
        assert!(!maps_everything("         0       1000          1\n"));
        assert!(!maps_everything("0 0 1000\n2000 2000 1\n"));
    }

    #[test]
    fn only_mode_2_is_a_filter() {
        assert!(has_filter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
        assert!(!has_filter("Seccomp:\t0\nSeccomp_filters:\t2\n"));
    }

    #[test]
    fn an_administrator_of_a_container_is_not_the_hosts() {
        let user = User {
            uid: 0,
            sys_admin: true,
            initial_namespace: false,
            seccomp_filter: false,
            groups: vec![],
        };
        assert!(!user.administers_host());
        assert!(
            User {
                initial_namespace: true,
                ..user
            }
            .administers_host()
        );
    }
}
