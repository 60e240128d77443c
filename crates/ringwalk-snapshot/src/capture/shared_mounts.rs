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
mod tests;
