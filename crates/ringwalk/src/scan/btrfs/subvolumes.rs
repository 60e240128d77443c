//! The subvolumes below a mount's root, and how they are reached.
//!
//! Which there are the tree of trees tells: parent, directory, name. A walk would come to them through directories, and a file's `st_dev` is that
//! of its subvolume, an anonymous number of which no tree knows. So each is opened by its path, and what statx(2) says of
//! it is its files' device.

use crate::metadata::{Fields, Metadata};
use crate::mounts::Mount;
use crate::volume::btrfs::item::{FIRST_INO, ROOT_TREE, kind};
use crate::volume::btrfs::{Place, nested_in, refused};
use crate::volume::{Mounted, Refused, read_mounts};
use ringwalk_sys::btrfs::{Key, TreeSearch, path_in_tree, tree_of};
use ringwalk_sys::{Statx, statx};
use rustix::fs::{AtFlags, Mode, OFlags, ResolveFlags, openat2};
use rustix::io::Errno;
use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};

/// A subvolume to be scanned.
pub(super) struct Subvolume {
    /// The id of its tree.
    pub(super) tree: u64,
    /// `st_dev` of its files.
    pub(super) dev: u64,
    /// Whether it has been taken of another one, and may have entries that lead nowhere.
    pub(super) is_snapshot: bool,
    /// The subvolumes in it, if that matters.
    nested: Vec<Place>,
    /// Where it is below the mount's root. There can be more of them than open files.
    path: Vec<u8>,
}

/// The subvolume with this tree, which `mounted` is of, and unless `one_device` all below it.
pub(super) fn find(
    mounted: &Mounted,
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
            // Whether their roots count, though nothing below them does, is for a walk's user to say.
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

/// Refuses if something is mounted in any of the subvolumes: what it covers a walk would not come to.
fn check_mounts(mounted: &Mounted) -> Result<(), Refused> {
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

/// Whether a tree has been copied from another one: the key of its `ROOT_ITEM` then has the transaction of that.
fn is_snapshot(mounted: &Mounted, tree: u64) -> Result<bool, Refused> {
    let range = Key::first(tree, kind::ROOT_ITEM)..=Key::last(tree, kind::ROOT_ITEM);
    let mut search = TreeSearch::default();
    let directory = mounted.directory();
    let found = search.search(directory, ROOT_TREE, range, 1, TreeSearch::ROOM);
    let item = found.map_err(refused)?.next();
    let item = item.ok_or_else(|| Refused::because(format!("tree {tree} has been deleted")))?;
    Ok(item.key.offset != 0)
}

/// The device of the subvolume at `path`; `None` if it has been deleted or moved since.
fn reach(mounted: &Mounted, tree: u64, path: &[u8]) -> Result<Option<u64>, Refused> {
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

/// The path of an entry below the mount's root; `None` if its directory has been deleted. `above` is that of its subvolume.
fn path_of(
    mounted: &Mounted,
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

/// Opens a directory below the mount's root: through no links, and nothing that is mounted on the way.
fn open_beneath(mounted: &Mounted, path: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    openat2(mounted.directory(), path, flags, Mode::empty(), resolve)
}

fn look(at: impl AsFd, name: &CStr) -> Result<Metadata, Errno> {
    let mut stat = Statx::default();
    let flags = AtFlags::EMPTY_PATH | AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT;
    statx(at, name, flags, Fields::all().bits(), &mut stat)?;
    Ok(Metadata::from(&stat))
}

fn failed(path: &[u8], errno: Errno) -> Refused {
    let path = String::from_utf8_lossy(path);
    Refused::because(format!("subvolume {path} cannot be reached: {errno}"))
}

impl Subvolume {
    /// Whether this entry leads to a subvolume.
    pub(super) fn has_nested(&self, directory: u64, name: &[u8]) -> bool {
        self.nested
            .iter()
            .any(|place| place.directory == directory && place.name == name)
    }

    /// What statx says of a directory that has no inode; `None` if it has been deleted, or leads to a subvolume that has been made since.
    pub(super) fn look_at(
        &self,
        mounted: &Mounted,
        directory: u64,
        name: &[u8],
    ) -> Result<Option<Metadata>, Refused> {
        let Some(path) = path_of(mounted, self.tree, &self.path, directory, name)? else {
            return Ok(None);
        };
        let looked = open_beneath(mounted, &path).and_then(|opened| look(&opened, c""));
        match looked {
            // BTRFS_EMPTY_SUBVOL_DIR_OBJECTID, 2: smaller than any inode's.
            Ok(metadata) => Ok((metadata.ino < FIRST_INO).then_some(metadata)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(failed(&path, errno)),
        }
    }
}
