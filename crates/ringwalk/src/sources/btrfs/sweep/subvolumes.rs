//! The subvolumes below a mount's root, and their paths.
//!
//! The tree of trees lists each subvolume with its parent, directory and name. A walk reaches
//! subvolumes through directories. The `st_dev` of a file is the number of its subvolume: an
//! anonymous number that no tree holds. So each subvolume is opened by its path, and statx(2) on it
//! returns the device of its files.

use crate::sources::btrfs::item::{FIRST_INO, ROOT_TREE, kind};
use crate::sources::btrfs::{SubvolumePlace, nested_in, refused};
use crate::sources::volume::{OpenMount, Refused, read_mounts};
use crate::system::mounts::Mount;
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::btrfs::{Key, TreeSearch, path_in_tree, tree_of};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

/// A subvolume to sweep.
pub(super) struct Subvolume {
    /// The id of the subvolume's tree.
    pub(super) tree: u64,
    /// The `st_dev` of the subvolume's files.
    pub(super) dev: u64,
    /// True if the subvolume is a snapshot of another one, and so may have entries that lead
    /// nowhere.
    pub(super) is_snapshot: bool,
    /// The nested subvolumes; empty unless the subvolume is a snapshot.
    nested: Vec<SubvolumePlace>,
    /// The path below the mount's root. There can be more subvolumes than open files, so no
    /// descriptor is kept.
    path: Vec<u8>,
}

/// Returns the subvolume with this tree, which `mounted` is on, and without `one_device` all
/// subvolumes below it.
pub(super) fn find(
    mounted: &OpenMount,
    tree: u64,
    one_device: bool,
) -> Result<Vec<Subvolume>, Refused> {
    if !one_device {
        check_mounts(mounted)?;
    }
    let mut waiting = vec![(tree, mounted.metadata.dev, Vec::new())];
    let mut found = Vec::new();
    while let Some((tree, dev, path)) = waiting.pop() {
        let is_snapshot = is_snapshot(mounted, tree)?;
        let nested = nested_in(mounted, tree)?;
        if one_device && !nested.is_empty() {
            // Whether the roots of the nested subvolumes count, although nothing below them does,
            // is a choice of the walk's user.
            return Err(Refused::because("there are subvolumes in it"));
        }
        for place in &nested {
            let path = path_of(mounted, tree, &path, place.directory, &place.name)?;
            let Some(path) = path else { continue };
            if let Some(dev) = reach(mounted, place.tree, &path)? {
                waiting.push((place.tree, dev, path));
            }
        }
        found.push(Subvolume {
            tree,
            dev,
            is_snapshot,
            nested: if is_snapshot { nested } else { Vec::new() },
            path,
        });
    }
    Ok(found)
}

/// Refuses if a file system is mounted in any of the subvolumes: a walk would not reach the files
/// that it covers.
fn check_mounts(mounted: &OpenMount) -> Result<(), Refused> {
    let own = mounted.mount.id;
    let on_it = |mount: &Mount| mount.parent == own && mount.id != own;
    match read_mounts()?.into_iter().find(on_it) {
        Some(mount) => Err(Refused::because(format!(
            "{} is mounted below it",
            mount.point.display()
        ))),
        None => Ok(()),
    }
}

/// Returns true if a tree was copied from another one: the key of its `ROOT_ITEM` then has the
/// transaction of the copy.
fn is_snapshot(mounted: &OpenMount, tree: u64) -> Result<bool, Refused> {
    let range = Key::first(tree, kind::ROOT_ITEM)..=Key::last(tree, kind::ROOT_ITEM);
    let mut search = TreeSearch::default();
    let directory = mounted.directory();
    let found = search.search(directory, ROOT_TREE, range, 1, TreeSearch::ROOM);
    let item = found.map_err(refused)?.next();
    let item = item.ok_or_else(|| Refused::because(format!("tree {tree} has been deleted")))?;
    Ok(item.key.offset != 0)
}

/// Returns the device of the subvolume at `path`; `None` if the subvolume was deleted or moved
/// meanwhile.
fn reach(mounted: &OpenMount, tree: u64, path: &[u8]) -> Result<Option<u64>, Refused> {
    let opened = match open_beneath(mounted, path) {
        Ok(opened) => opened,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(path, errno)),
    };
    let metadata = look(&opened, c"").map_err(|errno| failed(path, errno))?;
    let found = tree_of(&opened).map_err(|errno| failed(path, errno))?;
    if (metadata.ino, found) != (FIRST_INO, tree) {
        return Err(Refused::because(format!(
            "subvolume {} is not where it should be",
            String::from_utf8_lossy(path)
        )));
    }
    Ok(Some(metadata.dev))
}

/// Returns the path of an entry below the mount's root; `None` if its directory was deleted.
/// `above` is the path of its subvolume.
fn path_of(
    mounted: &OpenMount,
    tree: u64,
    above: &[u8],
    directory: u64,
    name: &[u8],
) -> Result<Option<Vec<u8>>, Refused> {
    let within = match path_in_tree(mounted.directory(), tree, directory) {
        Ok(path) => path,
        Err(Errno::NOENT) => return Ok(None),
        Err(errno) => return Err(failed(name, errno)),
    };
    let mut path = above.to_vec();
    for part in [&within, name] {
        if !path.is_empty() && !part.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(part);
    }
    Ok(Some(path))
}

/// Opens a directory below the mount's root, through no symbolic links and no mounts on the way.
fn open_beneath(mounted: &OpenMount, path: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(mounted.directory(), path, flags, Mode::empty(), resolve)
}

fn look(at: impl AsFd, name: &CStr) -> Result<Metadata, Errno> {
    let mut stat = Statx::default();
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(at, name, flags, Fields::STATX.bits(), &mut stat)?;
    Ok(Metadata::from(&stat))
}

fn failed(path: &[u8], errno: Errno) -> Refused {
    let path = String::from_utf8_lossy(path);
    Refused::because(format!("subvolume {path} cannot be reached: {errno}"))
}

impl Subvolume {
    /// Returns true if this entry leads to a subvolume.
    pub(super) fn has_nested(&self, directory: u64, name: &[u8]) -> bool {
        self.nested
            .iter()
            .any(|place| place.directory == directory && place.name == name)
    }

    /// Returns the metadata of a directory without an inode. Returns `None` if it was deleted, or
    /// leads to a subvolume that was created meanwhile.
    pub(super) fn look_at(
        &self,
        mounted: &OpenMount,
        directory: u64,
        name: &[u8],
    ) -> Result<Option<Metadata>, Refused> {
        let Some(path) = path_of(mounted, self.tree, &self.path, directory, name)? else {
            return Ok(None);
        };
        let looked = open_beneath(mounted, &path).and_then(|opened| look(&opened, c""));
        match looked {
            // BTRFS_EMPTY_SUBVOL_DIR_OBJECTID is 2, and smaller than the number of any inode.
            Ok(metadata) => Ok((metadata.ino < FIRST_INO).then_some(metadata)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(failed(&path, errno)),
        }
    }
}
