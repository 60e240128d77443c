//! Labels of `SELinux`: `-context`, `%Z`.

use rustix::fs::{getxattr, lgetxattr, statfs};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsRawFd, BorrowedFd};

/// GNU find's message about `-context` when [`is_enabled`] is false. The search must not begin
/// then.
pub const NOT_ENABLED: &str = "invalid predicate -context: SELinux is not enabled.";

/// The extended attribute that holds the label.
const ATTRIBUTE: &CStr = c"security.selinux";

/// `SELINUX_MAGIC` of linux/magic.h.
const MAGIC: u64 = 0xf97c_ff8c;

/// Returns true if `SELinux` is active: its file system is mounted at the usual place, or at the
/// place where old systems have it.
pub fn is_enabled() -> bool {
    ["/sys/fs/selinux", "/selinux"].iter().any(|place| {
        // Magic numbers have 32 bits, and a signed field of that size has its sign extended.
        statfs(*place).is_ok_and(|found| found.f_type.cast_unsigned() & 0xffff_ffff == MAGIC)
    })
}

/// Returns the label of the file `path`, relative to the directory `dir` if there is one. If the
/// file is a link and `follow` is set, returns the label of its target.
///
/// # Errors
///
/// `ENODATA` if it has none, `EOPNOTSUPP` if its file system has no labels, and others of
/// getxattr(2). With `dir`, `ENOENT` also where there is no `/proc`: getxattr(2) has no relative
/// paths, so the directory is reached by its descriptor there. (getxattrat(2) came with Linux
/// 6.13.)
pub fn label(dir: Option<BorrowedFd<'_>>, path: &CStr, follow: bool) -> Result<Vec<u8>, Errno> {
    attribute(dir, path, follow, ATTRIBUTE)
}

fn attribute(
    dir: Option<BorrowedFd<'_>>,
    path: &CStr,
    follow: bool,
    name: &CStr,
) -> Result<Vec<u8>, Errno> {
    let path = match dir {
        Some(dir) if !path.to_bytes().starts_with(b"/") => {
            let mut whole = format!("/proc/self/fd/{}/", dir.as_raw_fd()).into_bytes();
            whole.extend_from_slice(path.to_bytes());
            whole
        }
        _ => path.to_bytes().to_vec(),
    };
    // Labels are short. A longer one is read again.
    let mut value = vec![0; 256];
    loop {
        let length = if follow {
            getxattr(path.as_slice(), name, value.as_mut_slice())
        } else {
            lgetxattr(path.as_slice(), name, value.as_mut_slice())
        };
        match length {
            Ok(length) => value.truncate(length),
            // XATTR_SIZE_MAX
            Err(Errno::RANGE) if value.len() < 65536 => {
                value.resize(65536, 0);
                continue;
            }
            Err(errno) => return Err(errno),
        }
        // The kernel stores the string with its zero byte.
        if value.last() == Some(&0) {
            value.pop();
        }
        return Ok(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{Mode, OFlags, XattrFlags, open, setxattr};
    use std::fs;
    use std::os::fd::AsFd;
    use std::os::unix::fs::symlink;

    #[test]
    fn attributes_are_read_by_directory_and_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, b"").unwrap();
        symlink("file", dir.path().join("link")).unwrap();
        let long = vec![b'x'; 1000];
        for (name, value) in [(c"user.short", &b"a:b\0"[..]), (c"user.long", &long)] {
            if let Err(errno) = setxattr(&file, name, value, XattrFlags::empty()) {
                assert_eq!(errno, Errno::OPNOTSUPP);
                eprintln!("skipped: no attributes on this file system");
                return;
            }
        }
        let fd = open(dir.path(), OFlags::PATH, Mode::empty()).unwrap();
        let fd = Some(fd.as_fd());
        let short = |path, follow| attribute(fd, path, follow, c"user.short");
        assert_eq!(short(c"file", false), Ok(b"a:b".to_vec()));
        assert_eq!(short(c"link", true), Ok(b"a:b".to_vec()));
        assert!(short(c"link", false).is_err());
        assert_eq!(short(c"none", true), Err(Errno::NOENT));
        assert_eq!(attribute(fd, c"file", true, c"user.long"), Ok(long));
        assert_eq!(
            attribute(fd, c"file", true, c"user.none"),
            Err(Errno::NODATA)
        );
    }

    #[test]
    fn without_selinux_there_are_no_labels() {
        if is_enabled() {
            assert!(label(None, c"/proc/self", true).is_ok());
        } else {
            assert!(label(None, c"/", true).is_err());
        }
    }
}
