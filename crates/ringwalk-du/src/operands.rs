//! Operands: which of them one walk can take together.
//!
//! A walk takes all its roots at the same time. But if an operand lies within another one, GNU du
//! leaves out the files that an earlier operand has had. So such operands are walked one after the
//! other. Operands whose paths show that they are disjoint (`a b c`, as the shell expands `*`) are
//! walked together. Links and mounts can deceive: then the walk reads some files twice, and the
//! ordered totals still count them once.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path};

use ringwalk::{FileType, Follow, Identity, SavedTree};
use rustix::fs::{AtFlags, CWD, statat};

use crate::rule::Rule;
use crate::seen_inodes::SeenInodes;

/// The file that an operand names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Operand {
    pub(crate) identity: Option<Identity>,
    pub(crate) is_directory: bool,
    /// The operand is not a directory, and has one link.
    is_single: bool,
}

/// Looks once at each operand, if the rule counts directories once. The result has `None` for each
/// operand that cannot be looked at: the walk reports the error.
pub(crate) fn look_at_all(
    rule: &Rule,
    operands: &[OsString],
    saved: Option<&dyn SavedTree>,
) -> Vec<Option<Operand>> {
    if !rule.directories_count_once() {
        return vec![None; operands.len()];
    }
    let look = |operand: &OsString| match saved {
        Some(tree) => look_in(tree, operand, rule.follow()),
        None => look(operand, rule.follow()),
    };
    operands.iter().map(look).collect()
}

fn look(operand: &OsStr, follow: Follow) -> Option<Operand> {
    let flags = match follow {
        Follow::Never => AtFlags::SYMLINK_NOFOLLOW,
        Follow::CommandLine | Follow::Always => AtFlags::empty(),
    };
    let stat = statat(CWD, operand, flags | AtFlags::NO_AUTOMOUNT).ok()?;
    let is_directory = FileType::from_mode(stat.st_mode) == FileType::Directory;
    Some(Operand {
        identity: Some(Identity {
            dev: stat.st_dev,
            ino: stat.st_ino,
        }),
        is_directory,
        is_single: !is_directory && stat.st_nlink == 1,
    })
}

/// Looks at an operand in a saved tree.
fn look_in(tree: &dyn SavedTree, operand: &OsStr, follow: Follow) -> Option<Operand> {
    let file = tree.find(operand.as_bytes(), follow != Follow::Never);
    let file = file.ok()?;
    let is_directory = file.file_type() == FileType::Directory;
    Some(Operand {
        identity: file.identity(),
        is_directory,
        is_single: !is_directory && file.nlink().is_none_or(|links| links <= 1),
    })
}

/// Returns the operands that are files with one link. Only another operand can reach them again.
pub(crate) fn single_files(operands: &[Option<Operand>]) -> SeenInodes {
    let mut files = SeenInodes::default();
    let single = operands.iter().flatten().filter(|file| file.is_single);
    for identity in single.filter_map(|file| file.identity) {
        files.insert(identity);
    }
    files
}

/// Operands for one walk: none of them lies within another.
#[derive(Debug, Default)]
pub(crate) struct DisjointOperands {
    pub(crate) operands: Vec<OsString>,
    /// The components of the paths of directories, without `.`.
    directories: BTreeSet<Vec<OsString>>,
}

impl DisjointOperands {
    /// Returns true if the paths show that `operand` neither lies within one of the operands nor
    /// has one of them within it.
    pub(crate) fn is_disjoint_from(&self, operand: &OsStr) -> bool {
        if self.operands.is_empty() {
            return true;
        }
        let Some(path) = plain(operand) else {
            return false;
        };
        // The set is in order: paths within `path` directly follow it. The paths around it are
        // its beginnings.
        let around = (0..=path.len()).any(|length| self.directories.contains(&path[..length]));
        let within = self
            .directories
            .range(path.clone()..)
            .next()
            .is_some_and(|next| next.starts_with(&path));
        !around && !within && self.is_comparable(&path)
    }

    /// Returns true if the path can be compared with the paths of the operands: both are absolute,
    /// or both are relative.
    fn is_comparable(&self, path: &[OsString]) -> bool {
        let absolute = |path: &[OsString]| path.first().is_some_and(|first| first == "/");
        let first = self.directories.first();
        first.is_none_or(|first| absolute(first) == absolute(path))
    }

    /// Adds an operand.
    pub(crate) fn add(&mut self, operand: &OsStr, is_directory: bool) {
        self.operands.push(operand.to_owned());
        if is_directory {
            // A path that cannot be compared becomes the empty path, from which nothing is
            // disjoint. So its operand is walked alone.
            self.directories.insert(plain(operand).unwrap_or_default());
        }
    }
}

/// Returns the components of a path. Returns `None` if `..` is among them, which can lead anywhere.
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

    fn disjoint(operands: &[&str], operand: &str) -> bool {
        let mut whole = DisjointOperands::default();
        for operand in operands {
            whole.add(OsStr::new(operand), true);
        }
        whole.is_disjoint_from(OsStr::new(operand))
    }

    #[test]
    fn disjoint_operands() {
        assert!(disjoint(&[], "../x"));
        assert!(disjoint(&["a", "b"], "c"));
        assert!(disjoint(&["a/x", "a/z"], "./a/y"));
        assert!(disjoint(&["a"], "ab"));
        assert!(disjoint(&["/a"], "/b"));
    }

    #[test]
    fn operands_that_may_overlap() {
        assert!(!disjoint(&["a"], "a"));
        assert!(!disjoint(&["a"], "a/"));
        assert!(!disjoint(&["a"], "./a/b/c"));
        assert!(!disjoint(&["b", "a/b/c"], "a"));
        assert!(!disjoint(&["a!", "a/b"], "a"));
        assert!(!disjoint(&["."], "a"));
        assert!(!disjoint(&["a"], "."));
        assert!(!disjoint(&["a"], "/tmp/a"));
        assert!(!disjoint(&["a"], "../a"));
        assert!(!disjoint(&["../a"], "b"));
        assert!(!disjoint(&["/"], "/a"));
    }

    #[test]
    fn files_contain_nothing() {
        let mut operands = DisjointOperands::default();
        operands.add(OsStr::new("a"), false);
        assert!(operands.is_disjoint_from(OsStr::new("a")));
        assert!(operands.is_disjoint_from(OsStr::new("/b")));
    }
}
