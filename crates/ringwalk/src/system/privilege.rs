//! Privileges of this process.

use rustix::thread::{CapabilitySet, capabilities};

/// Returns true if ids are the same as on the disk, and capabilities are the host's.
///
/// The initial namespace maps all ids to themselves, users' and groups' (`user_namespaces(7)`); a
/// namespace with the same maps is as good. Where the maps cannot be read, as without `/proc`, the
/// answer is false, and nothing is read past the VFS.
pub fn is_initial_namespace() -> bool {
    ["uid_map", "gid_map"].iter().all(|name| {
        let map = std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
    })
}

/// Returns true if system calls would let this process read every directory and look at every file:
/// `CAP_DAC_READ_SEARCH` in the initial user namespace (capabilities(7)). Then sources past the VFS
/// give the same answers.
pub fn may_read_everything() -> bool {
    let held = capabilities(None).is_ok_and(|sets| {
        let wanted = CapabilitySet::DAC_READ_SEARCH;
        sets.effective.contains(wanted)
    });
    held && is_initial_namespace()
}
