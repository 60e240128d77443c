//! Operands, taken together as far as they can be.
//!
//! A walk takes all its roots at the same time. But of operands one of which lies within another, GNU du leaves out what
//! an earlier one has had: so such operands are walked one after the other. Those whose paths show that they lie apart
//! (`a b c`, as the shell expands `*`) go together. Where links or mounts deceive, the order of events still finds out
//! what has been met before; it is only work done twice.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use ringwalk::{FileType, Identity};
use ringwalk_sums::Met;
use rustix::fs::{AtFlags, CWD, statat};

use super::config::{Config, Links};

/// What an operand is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Kind {
    pub(crate) identity: Identity,
    pub(crate) directory: bool,
    /// A file that has one link only.
    single: bool,
}

/// Looks once at each operand, where one may be met again; none is known of those of which that cannot be, and of those
/// that cannot be looked at, which the walk will find out and tell.
pub(crate) fn look_at_all(config: &Config) -> Vec<Option<Kind>> {
    let look = |operand| {
        if config.meets_again() {
            look(operand, config)
        } else {
            None
        }
    };
    config
        .operands
        .iter()
        .map(OsString::as_os_str)
        .map(look)
        .collect()
}

fn look(operand: &OsStr, config: &Config) -> Option<Kind> {
    let flags = match config.links {
        Links::Never => AtFlags::SYMLINK_NOFOLLOW,
        Links::Operands | Links::Always => AtFlags::empty(),
    };
    let stat = statat(CWD, operand, flags | AtFlags::NO_AUTOMOUNT).ok()?;
    let directory = FileType::from_mode(stat.st_mode) == FileType::Directory;
    Some(Kind {
        identity: Identity {
            dev: stat.st_dev,
            ino: stat.st_ino,
        },
        directory,
        single: !directory && stat.st_nlink == 1,
    })
}

/// Those operands that are files with one link, which are met again inside of another operand if at all.
pub(crate) fn single_files(kinds: &[Option<Kind>]) -> Met {
    let mut files = Met::default();
    for kind in kinds.iter().flatten().filter(|kind| kind.single) {
        files.insert(kind.identity);
    }
    files
}

/// Whether a walk of all `group` can take `operand` too: it lies neither in any of them nor around one.
#[derive(Debug, Default)]
pub(crate) struct Group {
    pub(crate) operands: Vec<OsString>,
    /// The paths of directories, without what does not matter in them.
    directories: std::collections::BTreeSet<Vec<OsString>>,
}

impl Group {
    /// Whether `operand` may be added.
    pub(crate) fn lies_apart(&self, operand: &OsStr) -> bool {
        if self.operands.is_empty() {
            return true;
        }
        let Some(path) = plain(operand) else {
            return false;
        };
        // In order, what lies within a path follows it directly; what it lies within is one of its beginnings.
        let around = (0..=path.len()).any(|length| self.directories.contains(&path[..length]));
        let within = self
            .directories
            .range(path.clone()..)
            .next()
            .is_some_and(|next| next.starts_with(&path));
        !around && !within && self.is_alike(&path)
    }

    /// Absolute and relative paths cannot be compared.
    fn is_alike(&self, path: &[OsString]) -> bool {
        let absolute = |path: &[OsString]| path.first().is_some_and(|first| first == "/");
        let first = self.directories.first();
        first.is_none_or(|first| absolute(first) == absolute(path))
    }

    /// Adds an operand.
    pub(crate) fn add(&mut self, operand: &OsStr, directory: bool) {
        self.operands.push(operand.to_owned());
        if directory {
            // A path that cannot be compared has the whole group for itself: nothing lies apart from the empty path.
            self.directories.insert(plain(operand).unwrap_or_default());
        }
    }
}

/// The components of a path; none if it has `..` in it, which may lead anywhere.
fn plain(operand: &OsStr) -> Option<Vec<OsString>> {
    let mut parts = Vec::new();
    for component in Path::new(OsStr::from_bytes(operand.as_bytes())).components() {
        match component {
            Component::ParentDir => return None,
            Component::CurDir => {}
            part => parts.push(part.as_os_str().to_owned()),
        }
    }
    Some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn apart(group: &[&str], operand: &str) -> bool {
        let mut whole = Group::default();
        for operand in group {
            whole.add(OsStr::new(operand), true);
        }
        whole.lies_apart(OsStr::new(operand))
    }

    #[test]
    fn what_lies_apart() {
        assert!(apart(&[], "../x"));
        assert!(apart(&["a", "b"], "c"));
        assert!(apart(&["a/x", "a/z"], "./a/y"));
        assert!(apart(&["a"], "ab"));
        assert!(apart(&["/a"], "/b"));
    }

    #[test]
    fn what_does_not() {
        assert!(!apart(&["a"], "a"));
        assert!(!apart(&["a"], "a/"));
        assert!(!apart(&["a"], "./a/b/c"));
        assert!(!apart(&["b", "a/b/c"], "a"));
        assert!(!apart(&["a!", "a/b"], "a"));
        assert!(!apart(&["."], "a"));
        assert!(!apart(&["a"], "."));
        assert!(!apart(&["a"], "/tmp/a"));
        assert!(!apart(&["a"], "../a"));
        assert!(!apart(&["../a"], "b"));
        assert!(!apart(&["/"], "/a"));
    }

    #[test]
    fn files_contain_nothing() {
        let mut group = Group::default();
        group.add(OsStr::new("a"), false);
        assert!(group.lies_apart(OsStr::new("a")));
        assert!(group.lies_apart(OsStr::new("/b")));
    }
}
