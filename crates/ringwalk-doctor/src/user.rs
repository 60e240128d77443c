//! The identity and the privileges of this process.

use ringwalk::privilege;
use rustix::process::{Gid, getegid, geteuid, getgroups};
use rustix::thread::{CapabilitySet, capabilities};
use serde::Serialize;

/// The user as the kernel sees this process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "independent facts, not a state"
)]
pub struct User {
    /// Effective user id.
    pub uid: u32,
    /// `CAP_SYS_ADMIN` is in the effective set.
    pub sys_admin: bool,
    /// `CAP_DAC_READ_SEARCH` is in the effective set.
    pub dac_read_search: bool,
    /// The user namespace is the initial one. In another one, `CAP_SYS_ADMIN` gives no access to
    /// file systems.
    pub initial_namespace: bool,
    /// A seccomp filter restricts the system calls of this process.
    pub seccomp_filter: bool,
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
        let sets = capabilities(None);
        let holds = |wanted| sets.is_ok_and(|sets| sets.effective.contains(wanted));
        let status = std::fs::read_to_string("/proc/self/status");
        Self {
            uid: geteuid().as_raw(),
            sys_admin: holds(CapabilitySet::SYS_ADMIN),
            dac_read_search: holds(CapabilitySet::DAC_READ_SEARCH),
            initial_namespace: privilege::is_initial_namespace(),
            seccomp_filter: status.is_ok_and(|status| has_filter(&status)),
            groups,
        }
    }
}

/// Returns true if `/proc/self/status` has `Seccomp: 2` (`proc_pid_status(5)`).
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
    fn only_mode_2_is_a_filter() {
        assert!(has_filter("Name:\tx\nSeccomp:\t2\nSeccomp_filters:\t1\n"));
        assert!(!has_filter("Seccomp:\t0\nSeccomp_filters:\t2\n"));
    }
}
