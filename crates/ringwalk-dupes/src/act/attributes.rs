//! What else two hard links have in common: owner, permissions, extended attributes.

use super::held::Held;
use super::reason::Reason;
use ringwalk::Errno;
use rustix::fd::BorrowedFd;
use rustix::fs::{fgetxattr, flistxattr};
use std::collections::BTreeMap;

/// `XATTR_LIST_MAX` and `XATTR_SIZE_MAX` of `linux/limits.h`.
const LONGEST: usize = 65536;

/// Fails if a hard link to `keep` in place of `other` would change who may do what with it.
pub(super) fn check(keep: &Held, other: &Held) -> Result<(), Reason> {
    let (kept, file) = (keep.metadata(), other.metadata());
    if !are_same(kept.dev(), file.dev()) {
        return Err(Reason::OtherFileSystem);
    }
    if !are_same(kept.uid(), file.uid()) || !are_same(kept.gid(), file.gid()) {
        return Err(Reason::OtherOwner);
    }
    if !are_same(kept.permissions(), file.permissions()) {
        return Err(Reason::OtherPermissions);
    }
    let read = |held: &Held| read(held.file()).map_err(|e| Reason::of("read attributes", e));
    if read(keep)? != read(other)? {
        return Err(Reason::OtherAttributes);
    }
    Ok(())
}

/// Returns true if both values are known and equal.
fn are_same<T: Copy + PartialEq>(one: Option<T>, other: Option<T>) -> bool {
    one.is_some() && one == other
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
