//! The locations of directories at which a walk goes on.

use super::file_systems::FileSystems;
use ringwalk::mounts::is_mount_root;
use ringwalk::{Errno, Fields, FileType, Identity, Leftover, Metadata, Remaining};
use ringwalk_du::{Ancestors, Location};
use rustix::fs::{Mode, OFlags, openat};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::file_systems::open_directory;
use super::visitor::is_below_mount;

/// What has been found out about the leftovers before the walk goes on. A walk from the roots has
/// none.
#[derive(Debug, Default)]
pub(crate) struct Resumed {
    roots: Vec<Arc<PathBuf>>,
    /// Device and inode number of each root on this machine.
    identities: Vec<Identity>,
    /// The directories whose place cannot be found from the leftover alone, by root and path.
    looked_up: HashMap<(usize, Vec<u8>), Found>,
    /// Root and path of the directories that another walk has begun.
    begun: HashSet<(usize, Vec<u8>)>,
}

/// A directory that was looked for.
#[derive(Debug)]
struct Found {
    identity: Identity,
    above_mount: Option<Vec<Identity>>,
}

impl Resumed {
    /// Looks at the roots, and at directories below mount points. Notes their file systems.
    ///
    /// # Errors
    ///
    /// The index of the root that cannot be opened, or that was replaced (`ESTALE`): for example
    /// because its file system is not mounted here.
    pub(crate) fn new(
        roots: &[PathBuf],
        leftovers: &[Leftover],
        file_systems: &FileSystems,
    ) -> Result<Self, (usize, Errno)> {
        let mut resumed = Self::default();
        for (index, root) in roots.iter().enumerate() {
            let metadata = Metadata::of_path(None, root, false, Fields::STATX);
            let metadata = metadata.map_err(|errno| (index, errno))?;
            if metadata.file_type() == FileType::Directory {
                file_systems.meet(&metadata, || root.as_os_str().as_bytes().to_vec());
            }
            let identity = metadata.identity().ok_or((index, Errno::NODATA))?;
            resumed.identities.push(identity);
            resumed.roots.push(Arc::new(root.clone()));
        }
        let mut opened = vec![false; roots.len()];
        for leftover in leftovers {
            let root = leftover.root;
            if resumed.identities[root].ino != leftover.root_identity.ino {
                return Err((root, Errno::STALE));
            }
            if !std::mem::replace(&mut opened[root], true) {
                // If a walk cannot open a root, it leaves everything below it over again, and so
                // would every later walk.
                open_directory(roots[root].as_os_str().as_bytes())
                    .map_err(|errno| (root, errno))?;
            }
            if leftover.remaining != Remaining::Whole {
                resumed.begun.insert((root, leftover.path.clone()));
            }
            let is_elsewhere = leftover
                .identity
                .is_none_or(|identity| identity.dev != leftover.root_identity.dev);
            if is_elsewhere || is_below_mount(leftover.tag) {
                resumed.look_up(leftover, file_systems);
            }
        }
        Ok(resumed)
    }

    /// Returns true if another walk has begun the directory at this path, relative to its root.
    pub(super) fn was_begun(&self, root: usize, path: &[u8]) -> bool {
        !self.begun.is_empty() && self.begun.contains(&(root, path.to_vec()))
    }

    /// Returns the devices of the roots on this machine.
    pub(crate) fn devices(&self) -> Vec<u64> {
        self.identities.iter().map(|root| root.dev).collect()
    }

    /// Looks at each directory on the path of a leftover. If the path no longer exists, the walk
    /// itself reports that.
    fn look_up(&mut self, leftover: &Leftover, file_systems: &FileSystems) {
        let key = (leftover.root, leftover.path.clone());
        if self.looked_up.contains_key(&key) {
            return;
        }
        let root = self.identities[leftover.root];
        let path = components(&self.roots[leftover.root], &leftover.path);
        for (end, metadata) in &path {
            if metadata.file_type() == FileType::Directory {
                let relative = OsStr::from_bytes(&leftover.path[..*end]);
                let whole = self.roots[leftover.root].join(relative);
                file_systems.meet(metadata, || whole.into_os_string().into_encoded_bytes());
            }
        }
        let last_mount = path
            .iter()
            .rposition(|(_, metadata)| is_mount_root(metadata));
        let mut identities = vec![root];
        identities.extend(path.iter().filter_map(|(_, metadata)| metadata.identity()));
        let Some(identity) = identities.last().copied() else {
            return;
        };
        let above_mount = last_mount.map(|at| identities[..=at].to_vec());
        let found = Found {
            identity,
            above_mount,
        };
        self.looked_up.insert(key, found);
    }

    /// Returns the location of the directory of a leftover.
    pub(super) fn location(&self, leftover: &Leftover) -> Location {
        let Some(root) = self.identities.get(leftover.root).copied() else {
            return Location::default();
        };
        let key = (leftover.root, leftover.path.clone());
        let found = self.looked_up.get(&key);
        let ino = leftover.identity.map_or(root.ino, |identity| identity.ino);
        let identity = found.map_or(Identity { dev: root.dev, ino }, |found| found.identity);
        let above_mount = found.and_then(|found| found.above_mount.as_deref());
        let (top, path) = (Arc::clone(&self.roots[leftover.root]), key.1);
        let ancestors = Ancestors::new(move || {
            // A directory that was moved meanwhile is no longer above this one.
            let Some(end) = path.iter().rposition(|byte| *byte == b'/') else {
                return if path.is_empty() {
                    Vec::new()
                } else {
                    vec![root]
                };
            };
            let above = components(&top, &path[..end]);
            let above = above.iter().filter_map(|(_, metadata)| metadata.identity());
            std::iter::once(root).chain(above).collect()
        });
        Location::resumed(identity, root.dev, ancestors, above_mount)
    }
}

/// Returns the metadata of each directory on a path relative to a root, with the length of the path
/// up to it. Ends at the first one that cannot be accessed. Follows no symbolic links.
fn components(root: &Path, path: &[u8]) -> Vec<(usize, Metadata)> {
    let mut found = Vec::new();
    let Ok(mut folder) = open_directory(root.as_os_str().as_bytes()) else {
        return found;
    };
    let mut end = 0;
    for name in path.split(|byte| *byte == b'/') {
        let next = look_at(&folder, name);
        let Ok((metadata, directory)) = next else {
            break;
        };
        end += name.len();
        found.push((end, metadata));
        end += 1;
        folder = directory;
    }
    found
}

/// Returns metadata and descriptor of the directory with this name.
fn look_at(folder: &OwnedFd, name: &[u8]) -> Result<(Metadata, OwnedFd), Errno> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let name = OsStr::from_bytes(name);
    let metadata = Metadata::of_path(Some(folder.as_raw_fd()), name, false, Fields::STATX)?;
    let directory = openat(folder, name, flags, Mode::empty())?;
    Ok((metadata, directory))
}
