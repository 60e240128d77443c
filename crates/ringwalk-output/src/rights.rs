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
mod tests {
    use super::*;
    use crate::Unpublished;
    use rustix::fs::{getxattr, setxattr};
    use std::fs::{self, Permissions};
    use std::io::Write as _;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    use std::path::{Path, PathBuf};
    use tempfile::TempDir;

    /// A list of version 2 (`linux/posix_acl_xattr.h`): all for the owner, nothing for the group,
    /// and reading for the group 2000. The permissions of its file are 0740.
    fn list() -> Vec<u8> {
        let entries = [
            (0x01, 7, u32::MAX), // the owner
            (0x04, 0, u32::MAX), // the group
            (0x08, 4, 2000),     // a group by its number
            (0x10, 4, u32::MAX), // the mask
            (0x20, 0, u32::MAX), // all others
        ];
        let mut list = 2_u32.to_le_bytes().to_vec();
        for (tag, permissions, id) in entries {
            list.extend(u16::to_le_bytes(tag));
            list.extend(u16::to_le_bytes(permissions));
            list.extend(u32::to_le_bytes(id));
        }
        list
    }

    fn list_of(path: &Path) -> Option<Vec<u8>> {
        let mut list = vec![0; MOST];
        let length = getxattr(path, LIST, &mut list[..]).ok()?;
        list.truncate(length);
        Some(list)
    }

    /// Returns a folder, and a file with these permissions.
    fn old(mode: u32) -> (TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        (folder, path)
    }

    fn has_lists(path: &Path) -> bool {
        let has = setxattr(path, LIST, &list(), XattrFlags::empty()).is_ok();
        if !has {
            eprintln!("skipped: needs access control lists in TMPDIR");
        }
        has
    }

    fn replace(path: &Path) -> Option<NotKept> {
        let file = Unpublished::new(path).unwrap();
        file.file().write_all(b"new").unwrap();
        file.publish().unwrap()
    }

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().mode() & 0o7777
    }

    #[test]
    fn owner_group_and_permissions_stay() {
        if !rustix::process::geteuid().is_root() {
            eprintln!("skipped: needs root");
            return;
        }
        let (_folder, path) = old(0o604);
        chown(&path, Some(2000), Some(3000)).unwrap();
        assert_eq!(replace(&path), None);
        let new = fs::metadata(&path).unwrap();
        assert_eq!((new.uid(), new.gid(), mode(&path)), (2000, 3000, 0o604));
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
    }

    #[test]
    fn the_list_stays_and_its_mask_becomes_no_right_of_the_group() {
        let (_folder, path) = old(0o600);
        if !has_lists(&path) {
            return;
        }
        assert_eq!(mode(&path), 0o740);
        assert_eq!(replace(&path), None);
        assert_eq!(list_of(&path), Some(list()));
        assert_eq!(mode(&path), 0o740);
    }

    #[test]
    fn the_list_of_the_folder_is_not_that_of_the_new_file() {
        let (folder, path) = old(0o640);
        let default = "system.posix_acl_default";
        if !has_lists(folder.path())
            || setxattr(folder.path(), default, &list(), XattrFlags::empty()).is_err()
        {
            return;
        }
        assert_eq!(replace(&path), None);
        assert_eq!((list_of(&path), mode(&path)), (None, 0o640));
    }

    /// Gives rights to a file of this user. Returns what is not kept, the permissions and the text.
    fn give(rights: &Rights) -> (Option<NotKept>, u32, String) {
        let (_folder, path) = old(0o600);
        let not_kept = rights.give(&fs::File::open(&path).unwrap()).unwrap();
        let text = not_kept.map(|lost| lost.to_string()).unwrap_or_default();
        (not_kept, mode(&path), text)
    }

    /// Returns rights whose owner and group only root can give to a file.
    fn of_nobody(permissions: u32, list: List) -> Rights {
        Rights {
            owner: u32::MAX - 1,
            group: u32::MAX - 1,
            permissions,
            list,
        }
    }

    #[test]
    fn a_list_that_cannot_be_read_leaves_the_rights_of_the_owner() {
        let rights = Rights {
            owner: rustix::process::geteuid().as_raw(),
            group: rustix::process::getegid().as_raw(),
            permissions: 0o664,
            list: List::Unknown,
        };
        let (not_kept, mode, text) = give(&rights);
        assert_eq!((not_kept.is_some(), mode), (true, 0o600));
        assert_eq!(
            text,
            "the new file cannot keep the access control list of the old one: its permissions are 0600"
        );
    }

    #[test]
    fn rights_of_other_users_get_stricter_and_are_named() {
        if rustix::process::geteuid().is_root() {
            eprintln!(
                "skipped: root may give files away, tests/program/test_outputs.py does this too"
            );
            return;
        }
        for (permissions, expected) in [(0o664, 0o644), (0o640, 0o600), (0o604, 0o600)] {
            let (not_kept, mode, text) = give(&of_nobody(permissions, List::None));
            assert_eq!((not_kept.is_some(), mode), (true, expected));
            assert!(
                text.contains("cannot keep the owner and the group of"),
                "{text}"
            );
        }
        let (_, mode, text) = give(&of_nobody(0o664, List::Known(list())));
        assert_eq!(mode, 0o600);
        assert!(text.contains("the owner and the group and the access control list"));
    }
}
