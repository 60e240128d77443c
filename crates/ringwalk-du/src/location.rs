//! The locations of directories in a walk, and directories that lie within themselves.
//!
//! A mount can show a directory below that same directory: `mount --bind a a/b/c` shows `a` and
//! `a/b` once more below `a/b/c`. Each is charged once, and the walk does not enter it again.
//!
//! Without followed links, a path leads back only through a mount. So a directory is compared with
//! the directories above the last mount point of its path. If there is no such mount point, it is
//! not compared at all.

use crate::seen_inodes::SeenInodes;
use ringwalk::mounts::is_mount_root;
use ringwalk::{Batch, Dir, FileType, Identity, Metadata};
use std::fmt;
use std::sync::{Arc, OnceLock};

/// The location of a directory in a walk.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The directory itself.
    pub identity: Option<Identity>,
    /// The device of the root.
    pub device: Option<u64>,
    /// The directories above the last mount point of the path below the root, if there is one.
    above_mount: Option<Arc<SeenInodes>>,
    /// The directories above this one, if the walk goes on here and has not been there.
    ancestors: Option<Arc<Ancestors>>,
}

/// The directories above one at which a walk goes on. They are looked for when they are needed,
/// which is rare: below a mount point that this walk finds.
pub struct Ancestors {
    look: Box<dyn Fn() -> Vec<Identity> + Send + Sync>,
    found: OnceLock<Vec<Identity>>,
}

impl Ancestors {
    /// Creates the ancestors that `look` returns.
    pub fn new(look: impl Fn() -> Vec<Identity> + Send + Sync + 'static) -> Self {
        Self {
            look: Box::new(look),
            found: OnceLock::new(),
        }
    }

    fn identities(&self) -> &[Identity] {
        self.found.get_or_init(|| (self.look)())
    }
}

impl fmt::Debug for Ancestors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ancestors")
            .field("found", &self.found)
            .finish_non_exhaustive()
    }
}

/// The state of a directory of a walk, which has its location.
pub trait Located {
    /// Returns the location of the directory.
    fn location(&self) -> &Location;
}

impl Located for Location {
    fn location(&self) -> &Location {
        self
    }
}

impl Location {
    /// Returns the location of a directory found in `batch`.
    pub fn of<S: Located>(batch: &Batch<'_, S>, found: &Metadata) -> Self {
        match batch.dir() {
            Some(dir) => Self::below(dir, found),
            None => Self::of_root(found),
        }
    }

    /// Returns the location of a directory at which a walk goes on. `device` is the device of the
    /// root. `above_mount` has the directories above the last mount point of the path below the
    /// root, if there is one.
    pub fn resumed(
        identity: Identity,
        device: u64,
        ancestors: Ancestors,
        above_mount: Option<&[Identity]>,
    ) -> Self {
        let above_mount = above_mount.map(|above| {
            let mut seen = SeenInodes::default();
            for identity in above {
                seen.insert(*identity);
            }
            Arc::new(seen)
        });
        Self {
            identity: Some(identity),
            device: Some(device),
            above_mount,
            ancestors: Some(Arc::new(ancestors)),
        }
    }

    /// Returns true if a mount point is on the path below the root, or is the directory itself.
    pub fn is_below_mount(&self) -> bool {
        self.above_mount.is_some()
    }

    fn of_root(found: &Metadata) -> Self {
        Self {
            identity: found.identity(),
            device: found.dev(),
            above_mount: None,
            ancestors: None,
        }
    }

    fn below<S: Located>(dir: &Dir<S>, found: &Metadata) -> Self {
        let parent = dir.state().location();
        let above_mount = if is_mount_root(found) {
            let mut above = SeenInodes::default();
            for identity in path_up(dir) {
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
            ancestors: None,
        }
    }
}

/// Returns true if `found` is a directory that `dir` lies within. With `follows`, the walk follows
/// all links, so a link can lead back as well as a mount.
pub(crate) fn lies_within_itself<S: Located>(
    dir: &Dir<S>,
    found: &Metadata,
    follows: bool,
) -> bool {
    if found.file_type() != FileType::Directory {
        return false;
    }
    // A saved tree may lack inode numbers, and then nothing in it leads back.
    let Some(identity) = found.identity() else {
        return false;
    };
    if follows || is_mount_root(found) || !reports_mount_roots(found) {
        return path_up(dir).any(|above| above == identity);
    }
    let above_mount = dir.state().location().above_mount.as_deref();
    above_mount.is_some_and(|above| above.contains(identity))
}

/// Returns true if the kernel reports which directories are roots of mounts. Linux 5.8 began to
/// report them, together with mount ids. The kernel reports mount ids also without being asked.
fn reports_mount_roots(metadata: &Metadata) -> bool {
    metadata.mnt_id().is_some()
}

/// Returns a directory and all directories above it.
fn path_up<'d, S: Located>(dir: &'d Dir<S>) -> impl Iterator<Item = Identity> + use<'d, S> {
    // Above a directory at which the walk goes on, the nodes of the walk know nothing.
    let up = |dir: &&'d Dir<S>| match dir.state().location().ancestors {
        Some(_) => None,
        None => dir.parent(),
    };
    let nodes = || std::iter::successors(Some(dir), up);
    let ancestors = nodes().find_map(|dir| dir.state().location().ancestors.as_deref());
    let beyond = ancestors.map_or(&[][..], Ancestors::identities);
    nodes()
        .filter_map(|dir| dir.state().location().identity)
        .chain(beyond.iter().copied())
}
