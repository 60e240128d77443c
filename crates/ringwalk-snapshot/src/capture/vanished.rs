//! Trees that were removed while a walk was to read them.

use ringwalk_sys::sync::{IgnorePoison, lock};
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The most trees that are counted one by one: each takes its path in memory.
const MOST: usize = 1000;

/// A tree that was removed while a walk was to read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VanishedTree {
    /// The index of the root.
    pub root: usize,
    /// Path of the highest directory that was missing, relative to the root.
    pub path: Vec<u8>,
    /// How many of its directories the walk had found and could not open.
    pub directories: u64,
}

/// Counts directories that have vanished, by the tree that they were in.
#[derive(Debug, Default)]
pub(crate) struct VanishedTrees(Mutex<BTreeMap<(usize, Vec<u8>), u64>>);

impl VanishedTrees {
    /// Counts a directory, which is known to be missing. `path` is relative to the root with this
    /// index and path.
    pub(super) fn add(&self, index: usize, root: &Path, path: &[u8]) {
        let mut trees = lock(&self.0);
        for above in ancestors(path) {
            if let Some(directories) = trees.get_mut(&(index, above.to_vec())) {
                *directories += 1;
                return;
            }
        }
        if trees.len() < MOST {
            let key = (index, highest_missing(root, path).to_vec());
            *trees.entry(key).or_default() += 1;
        }
    }

    /// Returns the trees with the most directories, at most so many.
    pub(crate) fn into_largest(self, most: usize) -> Vec<VanishedTree> {
        let trees = self.0.into_inner().ignore_poison().into_iter();
        let mut trees: Vec<_> = trees
            .map(|((root, path), directories)| VanishedTree {
                root,
                path,
                directories,
            })
            .collect();
        trees.sort_by_key(|tree| Reverse(tree.directories));
        trees.truncate(most);
        trees
    }
}

/// Returns a path relative to a root, and the paths of the directories above it, without the root.
fn ancestors(path: &[u8]) -> impl Iterator<Item = &[u8]> {
    std::iter::successors(Some(path), |path| {
        let end = path.iter().rposition(|byte| *byte == b'/')?;
        Some(&path[..end])
    })
}

/// Returns the path of the highest directory on a path that is not there any more.
fn highest_missing<'p>(root: &Path, path: &'p [u8]) -> &'p [u8] {
    let is_missing = |path: &&[u8]| {
        let path: PathBuf = root.join(OsStr::from_bytes(path));
        path.symlink_metadata().is_err()
    };
    let above = ancestors(path).skip(1).take_while(is_missing);
    above.last().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn tree(path: &str, directories: u64) -> VanishedTree {
        VanishedTree {
            root: 0,
            path: path.into(),
            directories,
        }
    }

    #[test]
    fn directories_are_counted_by_the_highest_one_that_is_missing() {
        let root = tempfile::tempdir().unwrap();
        fs::create_dir_all(root.path().join("stays/a")).unwrap();
        let trees = VanishedTrees::default();
        for path in ["stays/a/gone", "large/a/b", "large/a/c", "large/d", "gone"] {
            trees.add(0, root.path(), path.as_bytes());
        }
        let expected = [tree("large", 3), tree("gone", 1), tree("stays/a/gone", 1)];
        assert_eq!(trees.into_largest(9), expected);
    }

    #[test]
    fn only_so_many_trees_are_kept() {
        let root = tempfile::tempdir().unwrap();
        let trees = VanishedTrees::default();
        for number in 0..MOST + 10 {
            trees.add(0, root.path(), format!("{number}").as_bytes());
        }
        // Those that are kept still count.
        trees.add(0, root.path(), b"7/below");
        assert_eq!(trees.into_largest(1), [tree("7", 2)]);
    }
}
