//! Reads btrfs by searching its trees (`BTRFS_IOC_TREE_SEARCH_V2`, which needs `CAP_SYS_ADMIN`).
//!
//! A volume is one subvolume. Each subvolume has its own tree, inode numbers and device. Entries
//! that lead to another subvolume are listed with inode number 0, which no inode of this volume
//! has. System calls read them and everything below.
//!
//! **What the trees lack.** While a transaction runs, changes to inodes wait in memory ("delayed
//! items"). They wait until the commit, 30 s later by default, or until there are many of them.
//! Entries by index (`DIR_INDEX`) wait too, but entries by hash (`DIR_ITEM`) and new inodes do not.
//! So directories are listed by `DIR_ITEM`. These items are never stale, and a name never changes
//! its place in their order, so an entry that stays is found once.
//!
//! Opening a volume asks for a commit, and metadata is as of that commit or younger. That commit
//! writes no data back: system calls read the sizes and blocks of files whose data waits for
//! write-back ([`OpenMount::is_unsettled`]).
//!
//! **Identity.** An entry of type directory gets the metadata of an inode only if that inode has a
//! reference back. The reference must have the directory's number and the entry's name. A directory
//! is listed only if it has such a reference. Numbers alone are not enough: for a subvolume
//! getdents64 returns the id of its tree, which can also be the number of an inode of the volume.
//!
//! | file | contents |
//! |---|---|
//! | `mod.rs` | opens the volume; declines volumes that trees do not describe |
//! | `reader.rs` | lists directories, and reads the metadata of their entries |
//! | `runs.rs` | groups of inodes for one search |
//! | `update.rs` | names and metadata that are taken from an older tree |
//! | `item.rs` | decodes items |

#[cfg(test)]
pub(crate) mod image;
pub(crate) mod item;
mod reader;
mod runs;
pub(crate) mod sweep;
#[cfg(test)]
mod tests;
mod update;

use crate::sources::older::OlderVolume;
use crate::sources::volume::{OpenMount, Reader, Refused, Volume};
use item::{ROOT_TREE, kind};
use reader::BtrfsReader;
use ringwalk_sys::btrfs::{Item, Key, TreeSearch, start_commit, tree_of, wait_for_commit};
use rustix::fs::{StatVfsMountFlags, fstatvfs};
use rustix::io::Errno;
use std::collections::HashSet;
use std::ops::RangeInclusive;
use std::sync::Arc;

/// A mounted subvolume.
#[derive(Debug)]
pub(crate) struct Btrfs {
    pub(crate) mounted: Arc<OpenMount>,
    /// The id of the subvolume's tree.
    pub(crate) tree: u64,
    /// The ids of the trees of nested subvolumes.
    nested: HashSet<u64>,
}

/// Opens the volume of `mounted`.
///
/// # Errors
///
/// If its trees cannot be searched.
pub(crate) fn open(mounted: Arc<OpenMount>) -> Result<Arc<dyn Volume>, Refused> {
    let tree = begin(&mounted)?;
    let nested = nested_in(&mounted, tree)?;
    let nested = nested.into_iter().map(|place| place.tree).collect();
    Ok(Arc::new(Btrfs {
        mounted,
        tree,
        nested,
    }))
}

/// Commits changes that wait in memory, and returns the id of the tree of the mount's directory.
pub(crate) fn begin(mounted: &OpenMount) -> Result<u64, Refused> {
    let directory = mounted.directory();
    let tree = tree_of(directory).map_err(refused)?;
    // Privileges are checked first, so that a refusal costs no commit.
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
/// has lost the waiting changes, and refuses even if no transaction is running.
fn commit(mounted: &OpenMount) -> Result<(), Refused> {
    let failed = |errno| match errno {
        Errno::ROFS => Refused::because("an error has made it read-only"),
        errno => Refused::because(format!("its changes cannot be committed: {errno}")),
    };
    let directory = mounted.directory();
    let transaction = start_commit(directory).map_err(failed)?;
    wait_for_commit(directory, transaction).map_err(failed)?;
    // Some kernels do not report that this commit failed, but have made the file system read-only
    // by now.
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

/// The place of a subvolume in its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SubvolumePlace {
    /// The id of the subvolume's tree.
    pub(crate) tree: u64,
    /// The number of the parent directory, and the name there.
    pub(crate) directory: u64,
    pub(crate) name: Vec<u8>,
}

/// Returns the subvolumes directly in the subvolume with this tree.
pub(crate) fn nested_in(mounted: &OpenMount, tree: u64) -> Result<Vec<SubvolumePlace>, Refused> {
    let mut search = TreeSearch::default();
    let mut places = Vec::new();
    let references = Key::first(tree, kind::ROOT_REF)..=Key::last(tree, kind::ROOT_REF);
    for_each_item(mounted, &mut search, ROOT_TREE, references, |item| {
        let place = item::root_reference(item.data);
        let (directory, name) =
            place.ok_or_else(|| Refused::because("a reference to a subvolume is damaged"))?;
        places.push(SubvolumePlace {
            tree: item.key.offset,
            directory,
            name: name.to_vec(),
        });
        Ok(())
    })?;
    Ok(places)
}

/// Calls `take` with each item of a tree in a range of keys.
fn for_each_item(
    mounted: &OpenMount,
    search: &mut TreeSearch,
    tree: u64,
    range: RangeInclusive<Key>,
    mut take: impl FnMut(Item<'_>) -> Result<(), Refused>,
) -> Result<(), Refused> {
    let (first, last) = range.into_inner();
    let mut next = Some(first);
    while let Some(first) = next.filter(|first| *first <= last) {
        let mut found = search
            .search(
                mounted.directory(),
                tree,
                first..=last,
                u32::MAX,
                TreeSearch::ROOM,
            )
            .map_err(refused)?;
        next = None;
        for item in found.by_ref() {
            next = item.key.next();
            take(item)?;
        }
        if found.is_all() {
            break;
        }
    }
    Ok(())
}

impl Volume for Btrfs {
    fn describe(&self) -> String {
        let (tree, mounted) = (self.tree, self.mounted.describe());
        format!("subvolume {tree} by tree search; {mounted}")
    }

    /// Returns true: other subvolumes can be below this one.
    fn has_subvolumes(&self) -> bool {
        true
    }

    /// Returns false for a nested subvolume. getdents64 returns the id of its tree as its number; a
    /// listing here returns 0.
    fn holds(&self, ino: u64) -> bool {
        ino >= item::FIRST_INO && !self.nested.contains(&ino)
    }

    fn subvolume(&self) -> u64 {
        self.tree
    }

    fn update(self: Arc<Self>, older: OlderVolume) -> Result<Arc<dyn Volume>, Refused> {
        update::open(self, older)
    }

    fn reader(self: Arc<Self>) -> Box<dyn Reader> {
        Box::new(BtrfsReader::new(self))
    }
}
