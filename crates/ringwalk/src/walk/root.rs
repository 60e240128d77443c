//! The roots that a walk begins with.

use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::{DirectoryFd, Statx, statx};
use rustix::fs::{AtFlags, CWD};
use rustix::io::Errno;
use std::borrow::Cow;
use std::ffi::{CString, OsStr, OsString};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A root: a path, or a directory that is already open.
#[derive(Clone, Debug)]
pub struct Root {
    pub(crate) name: Vec<u8>,
    pub(crate) fd: Option<Arc<DirectoryFd>>,
}

impl Root {
    /// Creates a root from an open directory, shown under the path `name`.
    ///
    /// The position of the descriptor stays as it is: the walk opens the directory anew through it.
    pub fn from_fd(fd: OwnedFd, name: impl Into<PathBuf>) -> Self {
        Self {
            name: name.into().into_os_string().into_vec(),
            fd: Some(Arc::new(fd.into())),
        }
    }

    /// Returns what statx(2) says of the root: its attributes, and the fields that need not be
    /// asked for.
    pub(crate) fn look(&self, follow: bool) -> Result<Metadata, Errno> {
        let mut stat = Statx::default();
        let fields = Fields::TYPE.bits();
        if let Some(fd) = &self.fd {
            statx(fd, c"", AtFlags::EMPTY_PATH, fields, &mut stat)?;
        } else {
            let mut flags = AtFlags::NO_AUTOMOUNT;
            flags.set(AtFlags::SYMLINK_NOFOLLOW, !follow);
            let name = self.c_name().ok_or(Errno::NOENT)?;
            statx(CWD, &name, flags, fields, &mut stat)?;
        }
        Ok(Metadata::from(&stat))
    }

    /// Returns the name for the kernel; `None` if it has a NUL byte, which no path has.
    pub(crate) fn c_name(&self) -> Option<CString> {
        CString::new(self.name.clone()).ok()
    }
}

impl From<OsString> for Root {
    fn from(path: OsString) -> Self {
        Self {
            name: path.into_vec(),
            fd: None,
        }
    }
}

impl From<PathBuf> for Root {
    fn from(path: PathBuf) -> Self {
        path.into_os_string().into()
    }
}

impl From<String> for Root {
    fn from(path: String) -> Self {
        OsString::from(path).into()
    }
}

/// Paths that are copied.
macro_rules! from_paths {
    ($($path:ty),*) => {
        $(impl From<$path> for Root {
            fn from(path: $path) -> Self {
                OsStr::new(&*path).to_os_string().into()
            }
        })*
    };
}

from_paths!(
    &str,
    &String,
    &OsStr,
    &OsString,
    &Path,
    &PathBuf,
    Cow<'_, str>,
    Cow<'_, OsStr>,
    Cow<'_, Path>
);

impl From<OwnedFd> for Root {
    /// Creates a root from an open directory, shown as `.`.
    fn from(fd: OwnedFd) -> Self {
        Self::from_fd(fd, ".")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_path_is_a_root() {
        let string = "a\u{e9}".to_owned();
        let os_string = OsString::from(&string);
        let path = PathBuf::from(&string);
        let roots: [Root; 12] = [
            (&*string).into(),
            (&string).into(),
            os_string.as_os_str().into(),
            (&os_string).into(),
            path.as_path().into(),
            (&path).into(),
            Cow::from(string.as_str()).into(),
            Cow::from(os_string.as_os_str()).into(),
            Cow::from(path.as_path()).into(),
            string.clone().into(),
            os_string.clone().into(),
            path.clone().into(),
        ];
        for root in roots {
            assert_eq!(root.name, string.as_bytes());
        }
    }
}
