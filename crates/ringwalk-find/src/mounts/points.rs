//! Mount points: a file there may have another type than its directory lists.
//!
//! A directory lists the type of the file under a mount. For directories that makes no difference,
//! as only a directory can cover one. A file can cover a file of another type: a container's
//! `/dev/null` covers a regular file.

use ringwalk::mounts;
use std::collections::{HashMap, HashSet};
use std::io;
use std::os::unix::ffi::OsStrExt;

/// The names in one directory at which something is mounted.
pub(crate) type Names = HashSet<Vec<u8>>;

/// All mount points, by the last two components of their paths.
#[derive(Debug, Default)]
pub(crate) struct MountPoints {
    /// The names in all directories with the same name.
    by_parent: HashMap<Vec<u8>, Names>,
    /// The names in all directories.
    all: Names,
}

impl MountPoints {
    /// Reads the table of mounts.
    ///
    /// # Errors
    ///
    /// If the table of mounts cannot be read: then any file may be a mount point.
    pub(crate) fn read() -> io::Result<Self> {
        let mounts = mounts::read()?;
        let points = mounts
            .iter()
            .map(|mount| mount.point.as_os_str().as_bytes());
        Ok(Self::of(points))
    }

    fn of<'p>(points: impl Iterator<Item = &'p [u8]>) -> Self {
        let mut found = Self::default();
        for point in points {
            let mut components = point.rsplit(|byte| *byte == b'/');
            let name = components.next().unwrap_or_default().to_vec();
            let parent = components.next().unwrap_or_default().to_vec();
            let names = found.by_parent.entry(parent).or_default();
            names.insert(name.clone());
            found.all.insert(name);
        }
        found
    }

    /// Returns the names of the mount points in a directory called `parent`, or in any directory if
    /// `parent` is none. Some of the names may belong to another directory of the same name.
    pub(crate) fn names_in(&self, parent: Option<&[u8]>) -> Option<&Names> {
        match parent {
            Some(parent) => self.by_parent.get(parent),
            None => Some(&self.all),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_directory() {
        let points = [
            &b"/"[..],
            b"/proc",
            b"/c/dev/null",
            b"/d/dev/zero",
            b"/c/etc/hosts",
        ];
        let points = MountPoints::of(points.into_iter());
        let names = |parent: Option<&[u8]>| {
            let names = points.names_in(parent).into_iter().flatten();
            let mut names: Vec<_> = names.map(|name| String::from_utf8_lossy(name)).collect();
            names.sort();
            names.join(" ")
        };
        assert_eq!(names(Some(b"dev")), "null zero");
        assert_eq!(names(Some(b"etc")), "hosts");
        assert_eq!(names(Some(b"")), " proc");
        assert_eq!(names(Some(b"c")), "");
        assert_eq!(names(None), " hosts null proc zero");
    }
}
