//! Files that the kernel makes up.

use ringwalk_sys::magic;
use rustix::fs::statfs;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

/// File systems whose files the kernel makes up, by number (statfs(2)) and name. They hold no
/// copies of anything. Reading some of them has effects, and some have no end
/// (`/proc/PID/pagemap`).
const OF_THE_KERNEL: [(u64, &str); 14] = [
    (magic::BINFMT_MISC, "binfmt_misc"),
    (magic::BPF, "bpf"),
    (magic::CGROUP, "cgroup"),
    (magic::CGROUP2, "cgroup2"),
    (magic::CONFIGFS, "configfs"),
    (magic::DEBUGFS, "debugfs"),
    (magic::DEVPTS, "devpts"),
    (magic::EFIVARFS, "efivarfs"),
    (magic::MQUEUE, "mqueue"),
    (magic::PROC, "proc"),
    (magic::PSTORE, "pstore"),
    (magic::SECURITYFS, "securityfs"),
    (magic::SYSFS, "sysfs"),
    (magic::TRACEFS, "tracefs"),
];

/// Returns the type of the file system that the directory at `path` is on, if it is one of the
/// kernel, such as procfs: its number in `statfs(2)`. If the system does not say, it is read like
/// any other.
pub fn kernel_file_system(path: &[u8]) -> Option<u64> {
    let kind = magic::of_statfs(&statfs(OsStr::from_bytes(path)).ok()?);
    let is_known = OF_THE_KERNEL.iter().any(|(number, _)| *number == kind);
    is_known.then_some(kind)
}

/// Returns true if a type of file systems is one of the kernel, by its name in
/// `/proc/self/mountinfo`.
pub fn is_kernel_type(name: &str) -> bool {
    OF_THE_KERNEL.iter().any(|(_, known)| *known == name)
}
