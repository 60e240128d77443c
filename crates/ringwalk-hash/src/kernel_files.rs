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

/// Returns the type of the file system that the directory at `path` is on, if it is one of the
/// kernel, such as procfs: its number in `statfs(2)`. If the system does not say, it is read like
/// any other.
pub fn kernel_file_system(path: &[u8]) -> Option<u64> {
    let kind = magic::of_statfs(&statfs(OsStr::from_bytes(path)).ok()?);
    OF_THE_KERNEL.contains(&kind).then_some(kind)
}
