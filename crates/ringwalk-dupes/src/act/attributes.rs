//! What else two hard links have in common: owner, permissions, extended attributes.

use super::held::Held;
use super::reason::Reason;
use ringwalk::Errno;
use rustix::fd::BorrowedFd;
use rustix::fs::{fgetxattr, flistxattr};
use std::collections::BTreeMap;

/// The permission bits of `st_mode`, with set-user-ID, set-group-ID and the sticky bit.
const PERMISSIONS: u32 = 0o7777;
/// `XATTR_LIST_MAX` and `XATTR_SIZE_MAX` of `linux/limits.h`.
const LONGEST: usize = 65536;

/// Fails if a hard link to `keep` in place of `other` would change who may do what with it.
pub(super) fn check(keep: &Held, other: &Held) -> Result<(), Reason> {
    let (kept, file) = (keep.metadata(), other.metadata());
    if kept.dev != file.dev {
        return Err(Reason::OtherFileSystem);
    }
    if (kept.uid, kept.gid) != (file.uid, file.gid) {
        return Err(Reason::OtherOwner);
    }
    if (kept.mode ^ file.mode) & PERMISSIONS != 0 {
        return Err(Reason::OtherPermissions);
    }
    let read = |held: &Held| read(held.file()).map_err(|e| Reason::of("read attributes", e));
    if read(keep)? != read(other)? {
        return Err(Reason::OtherAttributes);
    }
    Ok(())
}

/// Returns the extended attributes that this user may see.
fn read(file: BorrowedFd<'_>) -> Result<BTreeMap<Vec<u8>, Vec<u8>>, Errno> {
    let mut names = vec![0; LONGEST];
    let length = match flistxattr(file, &mut names) {
        // The file system has none.
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => 0,
        length => length?,
    };
    let mut all = BTreeMap::new();
    let mut value = Vec::new();
    for name in names[..length].split(|byte| *byte == 0) {
        if name.is_empty() {
            continue;
        }
        value.resize(LONGEST, 0);
        let length = fgetxattr(file, name, &mut value)?;
        all.insert(name.to_vec(), value[..length].to_vec());
    }
    Ok(all)
}
