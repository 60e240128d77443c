//! The rights of a replaced file: owner, group, permissions and access control list.
//!
//! Who could not read the old file must not read the new one. So rights that cannot be kept get
//! stricter:
//!
//! | not kept | rights of the new file |
//! |---|---|
//! | owner | those of the old one, for the new owner |
//! | group | what the group and all others could do, for both |
//! | group of a file with a list, or the list | the owner's only |
//!
//! The permissions of a file with an access control list have the mask of the list in place of the
//! group's rights (acl(5)). Permissions without the list would give these rights to the group.

use rustix::fs::{Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::fs::{fchmod, fchown, fgetxattr, fremovexattr, fsetxattr, fstat, openat};
use rustix::io::Errno;
use std::fmt;
use std::fs::File;

use crate::Place;

/// The attribute in which file systems have the list of POSIX (xattr(7)).
const LIST: &str = "system.posix_acl_access";

/// The most bytes of an attribute (`XATTR_SIZE_MAX` of `linux/limits.h`).
const MOST: usize = 1 << 16;

/// The rights of a file that is to be replaced.
#[derive(Debug)]
pub(crate) struct Rights {
    owner: u32,
    group: u32,
    permissions: u32,
    list: List,
}

#[derive(Debug)]
enum List {
    None,
    Known(Vec<u8>),
    /// The file cannot be opened, or its list not be read.
    Unknown,
}

/// The rights of a replaced file that the new one does not have. Its text is a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotKept {
    owner: bool,
    group: bool,
    list: bool,
    permissions: u32,
}

impl fmt::Display for NotKept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lost = [
            (self.owner, "owner"),
            (self.group, "group"),
            (self.list, "access control list"),
        ];
        let lost: Vec<_> = lost.iter().filter(|(lost, _)| *lost).collect();
        let names: Vec<_> = lost.iter().map(|(_, name)| *name).collect();
        write!(
            f,
            "the new file cannot keep the {} of the old one: its permissions are {:04o}",
            names.join(" and the "),
            self.permissions
        )
    }
}

impl Rights {
    /// Returns the rights of `old`, the regular file at a place.
    pub(crate) fn of(old: &Stat, place: &Place) -> Self {
        let mut list = vec![0; MOST];
        // Another process may have put a pipe or a terminal there.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let flags = flags | OFlags::NONBLOCK | OFlags::NOCTTY;
        let opened = openat(&place.folder, &place.name, flags, Mode::empty());
        let list = match opened.and_then(|file| fgetxattr(file, LIST, &mut list[..])) {
            Ok(length) => {
                list.truncate(length);
                List::Known(list)
            }
            Err(Errno::NODATA | Errno::NOTSUP) => List::None,
            // A sandbox that refuses the call also comes here: the file may still have a list.
            Err(_) => List::Unknown,
        };
        Self {
            owner: old.st_uid,
            group: old.st_gid,
            permissions: old.st_mode & 0o777,
            list,
        }
    }

    /// Gives these rights to a new file, or stricter ones. Nobody but its owner has rights before.
    pub(crate) fn give(&self, file: &File) -> Result<Option<NotKept>, Errno> {
        let (owner, group) = (Uid::from_raw(self.owner), Gid::from_raw(self.group));
        // Most users may not give files to other users. The comparison below finds what was not
        // kept.
        if fchown(file, Some(owner), Some(group)).is_err() {
            let _ = fchown(file, None, Some(group));
        }
        let found = fstat(file)?;
        let mut new = NotKept {
            owner: found.st_uid != self.owner,
            group: found.st_gid != self.group,
            list: false,
            permissions: self.permissions,
        };
        new.list = !match &self.list {
            // The folder may have given the new file a list.
            List::None => matches!(
                fremovexattr(file, LIST),
                Ok(()) | Err(Errno::NODATA | Errno::NOTSUP)
            ),
            // The list names the group by its number in the metadata.
            List::Known(list) if !new.group => {
                fsetxattr(file, LIST, list, XattrFlags::empty()).is_ok()
            }
            List::Known(_) | List::Unknown => false,
        };
        let all = self.permissions & 0o007;
        let both = self.permissions >> 3 & all;
        match &self.list {
            _ if new.list => new.permissions &= 0o700,
            // The list has set the permissions.
            List::Known(_) => return Ok(new.any()),
            _ if new.group => new.permissions = self.permissions & 0o700 | both << 3 | both,
            _ => {}
        }
        fchmod(file, Mode::from_raw_mode(new.permissions))?;
        Ok(new.any())
    }
}

impl NotKept {
    fn any(self) -> Option<Self> {
        (self.owner || self.group || self.list).then_some(self)
    }
}

#[cfg(test)]
mod tests;
