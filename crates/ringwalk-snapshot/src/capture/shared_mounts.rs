//! Mounts below the roots that show one directory at several places: bind mounts.
//!
//! With several roots a file counts once in sums, however often mounts show it, as with
//! `du ROOT...`.

use ringwalk::Metadata;
use ringwalk::mounts::{self, Mount};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The mounts whose files may be found again through another mount.
#[derive(Debug)]
pub(super) enum SharedMounts {
    /// The mounts with these ids.
    These(HashSet<u64>),
    /// Which mounts there are is not known.
    Unknown,
}

impl SharedMounts {
    /// Looks for the mounts of these roots, and below them.
    pub(super) fn below(roots: &[PathBuf]) -> Self {
        if roots.len() < 2 {
            return Self::These(HashSet::new());
        }
        mounts::read().map_or(Self::Unknown, |all| Self::among(&all, roots))
    }

    fn among(all: &[Mount], roots: &[PathBuf]) -> Self {
        let of_roots = roots
            .iter()
            .filter_map(|root| mounts::find(all, None, root));
        let is_below = |mount: &&Mount| roots.iter().any(|root| mount.point.starts_with(root));
        let met: Vec<&Mount> = of_roots.chain(all.iter().filter(is_below)).collect();
        let is_shared = |mount: &&Mount| met.iter().any(|other| shares(mount, other));
        let shared = met.iter().copied().filter(is_shared);
        Self::These(shared.map(|mount| mount.id).collect())
    }

    /// Returns true if the same file may be found through another mount.
    pub(super) fn may_show_again(&self, metadata: &Metadata) -> bool {
        match self {
            Self::Unknown => true,
            // Readers of devices, and Linux before 5.8, do not say which mount it is.
            Self::These(ids) => {
                !ids.is_empty() && metadata.mnt_id().is_none_or(|id| ids.contains(&id))
            }
        }
    }
}

/// Returns true if two mounts show parts of one file system, and one part holds the other.
fn shares(one: &Mount, other: &Mount) -> bool {
    let holds = |a: &Path, b: &Path| a.starts_with(b) || b.starts_with(a);
    one.id != other.id
        && (one.major, one.minor) == (other.major, other.minor)
        && holds(&one.root, &other.root)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Mounts of the device 8:1, except the fourth.
    const TABLE: &str = "\
1 0 8:1 / / rw - ext4 /dev/a rw
2 1 8:1 /x /b rw - ext4 /dev/a rw
3 1 8:1 /y /c rw - ext4 /dev/a rw
4 1 8:2 /x /d rw - ext4 /dev/b rw
5 3 8:1 /y/deep /c/e rw - ext4 /dev/a rw
";

    #[track_caller]
    fn check(roots: &[&str], expected: &[u64]) {
        let all = mounts::parse(TABLE.as_bytes()).unwrap();
        let roots: Vec<PathBuf> = roots.iter().map(PathBuf::from).collect();
        let SharedMounts::These(ids) = SharedMounts::among(&all, &roots) else {
            panic!("unknown");
        };
        assert_eq!(ids, expected.iter().copied().collect(), "{roots:?}");
    }

    #[test]
    fn mounts_that_hold_each_other() {
        check(&["/x", "/b"], &[1, 2]);
        check(&["/b", "/d"], &[]);
        check(&["/b", "/c/f"], &[]);
        // A mount below a root.
        check(&["/b", "/c"], &[3, 5]);
        check(&["/b", "/c/e"], &[]);
    }

    #[test]
    fn one_root_shares_nothing_and_an_unknown_mount_everything() {
        let metadata = Metadata::default();
        let one = SharedMounts::below(&[PathBuf::from("/")]);
        assert!(!one.may_show_again(&metadata));
        assert!(SharedMounts::Unknown.may_show_again(&metadata));
        let some = SharedMounts::These(HashSet::from([7]));
        assert!(some.may_show_again(&metadata));
        let of = |mnt_id| {
            let mut metadata = Metadata::default();
            metadata.set_mnt_id(mnt_id);
            metadata
        };
        assert!(some.may_show_again(&of(7)) && !some.may_show_again(&of(8)));
    }
}
