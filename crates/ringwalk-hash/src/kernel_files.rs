//! Files that the kernel makes up.

use ringwalk_sys::magic;
use rustix::fs::statfs;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// File systems whose files the kernel makes up. They hold no copies of anything. Reading some of
/// them has effects, and some have no end (`/proc/PID/pagemap`).
const OF_THE_KERNEL: [u64; 14] = [
    magic::BINFMT_MISC,
    magic::BPF,
    magic::CGROUP,
    magic::CGROUP2,
    magic::CONFIGFS,
    magic::DEBUGFS,
    magic::DEVPTS,
    magic::EFIVARFS,
    magic::MQUEUE,
    magic::PROC,
    magic::PSTORE,
    magic::SECURITYFS,
    magic::SYSFS,
    magic::TRACEFS,
];

/// Returns true if the directory at `path` is on a file system of the kernel, such as procfs. If
/// the system does not say, it is read like any other.
pub fn is_of_the_kernel(path: &[u8]) -> bool {
    let found = statfs(OsStr::from_bytes(path));
    found.is_ok_and(|found| OF_THE_KERNEL.contains(&magic::of_statfs(&found)))
}
