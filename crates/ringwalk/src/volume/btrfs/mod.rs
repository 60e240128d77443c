//! btrfs by searching its trees (`BTRFS_IOC_TREE_SEARCH_V2`, which needs `CAP_SYS_ADMIN`).
//!
//! A volume is one subvolume: each is a tree of its own, with inode numbers and a device of its own. Entries that lead to another subvolume
//! are listed with inode number 0, which is none of this volume, and are left to system calls with everything below.
//!
//! **What the trees do not have.** While a transaction is running, changes to inodes wait in memory ("delayed items") until it commits,
//! 30 s later by default, or until there are many of them; so do entries by index (`DIR_INDEX`), but not entries by hash
//! (`DIR_ITEM`), nor new inodes. So directories are listed by `DIR_ITEM`: what is found is what is there, at any time, and as a name's place
//! in that order never changes, an entry that stays is found once. Metadata is as of the commit that opening a volume asks for, or
//! younger. That commit writes no data back: sizes and blocks of files that wait for that are asked by system calls ([`Mounted::is_unsettled`]).
//!
//! **Who is who.** An entry of type directory is given the metadata of an inode only if that has a reference back with the
//! directory's number and the entry's name; and a directory is listed only if it has one. Numbers alone would not do: what getdents64 tells of a
//! subvolume is the id of its tree, which an inode of the volume can have for its number.
//!
//! | file | what is in it |
//! |---|---|
//! | `mod.rs` | opening the volume, and what is refused from the beginning |
//! | `reader.rs` | listing directories, metadata of their entries |
//! | `runs.rs` | which inodes are asked for together |
//! | `item.rs` | items decoded |

#[cfg(test)]
pub(crate) mod image;
pub(crate) mod item;
mod reader;
mod runs;
#[cfg(test)]
mod tests;

use super::{Mounted, Reader, Refused, Volume};
use item::{ROOT_TREE, kind};
use reader::BtrfsReader;
use ringwalk_sys::btrfs::{Key, TreeSearch, start_commit, tree_of, wait_for_commit};
use rustix::fs::{StatVfsMountFlags, fstatvfs};
use rustix::io::Errno;
use std::collections::HashSet;
use std::sync::Arc;

/// A mounted subvolume.
#[derive(Debug)]
pub(crate) struct Btrfs {
    pub(crate) mounted: Arc<Mounted>,
    /// The id of its tree.
    pub(crate) tree: u64,
    /// The ids of trees of the subvolumes in it.
    nested: HashSet<u64>,
}

/// Opens the volume that `mounted` is on.
///
/// # Errors
///
/// If its trees cannot be searched.
pub(crate) fn open(mounted: Arc<Mounted>) -> Result<Arc<dyn Volume>, Refused> {
    let tree = begin(&mounted)?;
    let nested = nested_in(&mounted, tree)?;
    let nested = nested.into_iter().map(|place| place.tree).collect();
    Ok(Arc::new(Btrfs {
        mounted,
        tree,
        nested,
    }))
}

/// Has what waits in memory brought into the trees, and tells the id of the tree that the mount's directory is in.
pub(crate) fn begin(mounted: &Mounted) -> Result<u64, Refused> {
    let directory = mounted.directory();
    let tree = tree_of(directory).map_err(refused)?;
    // Privileges first: nothing is committed for nothing.
    let mut search = TreeSearch::default();
    let root = Key::first(item::FIRST_INO, kind::INODE_ITEM);
    let found = search.search(directory, tree, root..=root, 1, TreeSearch::ROOM);
    if found.map_err(refused)?.next().is_none() {
        return Err(Refused::because("the root of its subvolume is not found"));
    }
    commit(mounted)?;
    Ok(tree)
}

/// Commits the running transaction, if there is one. A file system that an error has made read-only
/// has lost what waited for that, and refuses even if nothing is running.
fn commit(mounted: &Mounted) -> Result<(), Refused> {
    let failed = |errno| match errno {
        Errno::ROFS => Refused::because("an error has made it read-only"),
        errno => Refused::because(format!("its changes cannot be committed: {errno}")),
    };
    let directory = mounted.directory();
    let transaction = start_commit(directory).map_err(failed)?;
    wait_for_commit(directory, transaction).map_err(failed)?;
    // Kernels that do not tell that this commit failed have made the file system read-only by now.
    let stat = fstatvfs(directory).map_err(failed)?;
    if stat.f_flag.contains(StatVfsMountFlags::RDONLY) && !mounted.is_mounted_read_only() {
        return Err(failed(Errno::ROFS));
    }
    Ok(())
}

pub(crate) fn refused(errno: Errno) -> Refused {
    match errno {
        Errno::PERM => Refused::because("CAP_SYS_ADMIN is missing"),
        errno => Refused::because(format!("its trees cannot be searched: {errno}")),
    }
}

/// Where a subvolume is in the one above it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The id of its tree.
    pub(crate) tree: u64,
    /// The directory that it is in, and its name there.
    pub(crate) directory: u64,
    pub(crate) name: Vec<u8>,
}

/// The subvolumes directly in the one with this tree.
pub(crate) fn nested_in(mounted: &Mounted, tree: u64) -> Result<Vec<Place>, Refused> {
    let mut search = TreeSearch::default();
    let mut places = Vec::new();
    let last = Key::last(tree, kind::ROOT_REF);
    let mut next = Some(Key::first(tree, kind::ROOT_REF));
    while let Some(first) = next.filter(|first| *first <= last) {
        let mut found = search
            .search(
                mounted.directory(),
                ROOT_TREE,
                first..=last,
                u32::MAX,
                TreeSearch::ROOM,
            )
            .map_err(refused)?;
        next = None;
        for item in found.by_ref() {
            next = item.key.next();
            let place = item::root_reference(item.data);
            let (directory, name) =
                place.ok_or_else(|| Refused::because("a reference to a subvolume is damaged"))?;
            places.push(Place {
                tree: item.key.offset,
                directory,
                name: name.to_vec(),
            });
        }
        if found.is_all() {
            break;
        }
    }
    Ok(places)
}

impl Volume for Btrfs {
    fn name(&self) -> &'static str {
        "btrfs"
    }

    fn describe(&self) -> String {
        let (tree, mounted) = (self.tree, self.mounted.describe());
        format!("subvolume {tree} by tree search; {mounted}")
    }

    /// Other subvolumes.
    fn has_parts(&self) -> bool {
        true
    }

    /// What getdents64 tells of a subvolume is the id of its tree; a listing here says 0.
    fn holds(&self, ino: u64) -> bool {
        ino >= item::FIRST_INO && !self.nested.contains(&ino)
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(BtrfsReader::new(self))
    }
}
