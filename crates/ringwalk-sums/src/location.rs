//! Where a directory lies in a walk, and whether it lies within itself.
//!
//! A mount can show a directory below that same directory: `mount --bind a a/b/c` shows `a` and
//! `a/b` once more below `a/b/c`. Each is charged once, and the walk does not enter it again.
//!
//! Without followed links, a path leads back only through a mount. So a directory is compared with
//! the directories above the last mount point of its path, and with none where there is no such
//! mount point.

use crate::met::Met;
use ringwalk::{Dir, Fields, FileType, Identity, Metadata};
use std::sync::Arc;

/// `STATX_ATTR_MOUNT_ROOT` (Linux 5.8): the directory is the root of a mount.
const MOUNT_ROOT: u64 = 0x2000;

/// What is kept with a directory: what it is, and where it lies.
#[derive(Clone, Debug)]
pub struct Location {
    /// The directory itself.
    pub identity: Identity,
    /// The device of the root.
    pub device: u64,
    /// The directories above the last mount point of the path below the root, if there is one.
    above_mount: Option<Arc<Met>>,
}

impl Default for Location {
    fn default() -> Self {
        Self::of_root(Identity { dev: 0, ino: 0 })
    }
}

impl Location {
    /// Returns the location of a root.
    pub fn of_root(identity: Identity) -> Self {
        Self {
            identity,
            device: identity.dev,
            above_mount: None,
        }
    }

    /// Returns the location of a directory found in `dir`. `location` finds the location of a
    /// directory of the walk in its state.
    pub fn below<S>(dir: &Dir<S>, found: &Metadata, location: impl Fn(&S) -> &Self) -> Self {
        let parent = location(dir.state());
        let above_mount = if is_mount_root(found) {
            let mut above = Met::default();
            for identity in path_up(dir, &location) {
                above.insert(identity);
            }
            Some(Arc::new(above))
        } else {
            parent.above_mount.clone()
        };
        Self {
            identity: found.identity(),
            device: parent.device,
            above_mount,
        }
    }
}

/// Returns true if what was found in `dir` is a directory that it lies within. `follows` says that
/// the walk follows all links, so that a link may lead back too.
pub fn lies_within_itself<S>(
    dir: &Dir<S>,
    found: &Metadata,
    follows: bool,
    location: impl Fn(&S) -> &Location,
) -> bool {
    if found.file_type() != FileType::Directory {
        return false;
    }
    let identity = found.identity();
    if follows || is_mount_root(found) || !tells_mount_roots(found) {
        return path_up(dir, &location).any(|above| above == identity);
    }
    let above_mount = location(dir.state()).above_mount.as_deref();
    above_mount.is_some_and(|above| above.contains(identity))
}

/// Returns true if the directory is known to be the root of a mount.
fn is_mount_root(metadata: &Metadata) -> bool {
    metadata.attributes & MOUNT_ROOT != 0
}

/// Returns true if the kernel tells roots of mounts. Linux 5.8 began to tell them and mount ids,
/// the ids without being asked.
fn tells_mount_roots(metadata: &Metadata) -> bool {
    metadata.mask.contains(Fields::MNT_ID)
}

/// Returns a directory and all directories above it.
fn path_up<S>(dir: &Dir<S>, location: impl Fn(&S) -> &Location) -> impl Iterator<Item = Identity> {
    std::iter::successors(Some(dir), |dir| dir.parent())
        .map(move |dir| location(dir.state()).identity)
}
