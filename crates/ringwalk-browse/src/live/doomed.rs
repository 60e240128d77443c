//! What a deletion needs to know of a tree, and what the tree learns of it.

use super::LiveTree;
use super::arena::{Arena, TOP};
use super::entries::{DirIndex, EntryIndex, NONE};
use crate::tree::{Id, Kind, ReadState, Tree};
use ringwalk_delete::{Component, Doomed, Identity, Selection, Shown};
use std::collections::HashSet;
use std::sync::atomic::Ordering;

impl Shown for LiveTree {
    type Id = Id;

    fn children(&self, directory: Id) -> Vec<Doomed<Id>> {
        let arena = self.look();
        let directory = arena.index(directory);
        let Some(directory) = directory.and_then(|index| arena.entries.directory(index)) else {
            return Vec::new();
        };
        let children = arena.children(directory);
        children.map(|index| arena.doomed(index)).collect()
    }
}

impl LiveTree {
    /// Returns the identity of the directory at the top.
    pub fn identity_of_top(&self) -> Identity {
        self.look().identity(TOP)
    }

    /// Returns the entries that are not below another one of them.
    pub fn outermost(&self, ids: &[Id]) -> Vec<Id> {
        let all: HashSet<Id> = ids.iter().copied().collect();
        let mut outermost = ids.to_vec();
        outermost.retain(|id| {
            let mut at = *id;
            // A live tree has no errors of reading.
            while let Ok(Some(parent)) = self.parent(at) {
                if all.contains(&parent) {
                    return false;
                }
                at = parent;
            }
            true
        });
        outermost.dedup();
        outermost
    }

    /// Returns what a deletion needs to know of an entry.
    ///
    /// # Errors
    ///
    /// A reason, for people, why the entry cannot be deleted: it is the top, it is gone, or it is
    /// being read.
    pub fn selection(&self, id: Id) -> Result<Selection<Id>, &'static str> {
        if self.reading.load(Ordering::Acquire) {
            return Err("the tree is still being read");
        }
        let arena = self.look();
        let index = arena.index(id).ok_or("it is not there any more")?;
        if index == TOP {
            return Err("it is the directory at the top");
        }
        if arena.item(index).state == ReadState::OtherFileSystem {
            return Err("it is on another file system");
        }
        if arena.is_mount_point(index) {
            return Err("it is a mount point");
        }
        let mut parents = Vec::new();
        let mut parent = arena.entries.parent(index);
        while let Some(above) = arena.parent_directory(parent) {
            let entry = arena.directories.get(parent).entry;
            parents.push(Component {
                name: arena.entries.name(entry).to_vec(),
                identity: arena.identity(entry),
            });
            parent = above;
        }
        parents.reverse();
        Ok(Selection {
            parents,
            entry: arena.doomed(index),
        })
    }

    /// Returns the mount points below an entry, each with the number of entries from there on. A
    /// bind mount of the same file system is not among them: only the deletion finds it.
    pub fn mounts_below(&self, id: Id) -> Vec<(Id, u64)> {
        let mut mounts = Vec::new();
        self.each_below(id, |arena, index| {
            let above = arena.entries.parent(index);
            let is_outermost = !mounts
                .iter()
                .any(|(_, directory)| arena.is_at_or_below(above, *directory));
            if arena.is_mount_point(index)
                && is_outermost
                && let Some(directory) = arena.entries.directory(index)
            {
                mounts.push((index, directory));
            }
        });
        let arena = self.look();
        let entries = |index| (Id(u64::from(index)), arena.totals(index).entries);
        mounts
            .into_iter()
            .map(|(index, _)| entries(index))
            .collect()
    }

    /// Takes an entry that was deleted out of the tree, and everything below it. `is_moved` says
    /// that it was moved to the trash: then its other names remain names of the same inode.
    pub fn remove(&self, id: Id, is_moved: bool) {
        let mut arena = self.look();
        if let Some(index) = arena.index(id).filter(|index| *index != TOP) {
            arena.remove(index, !is_moved);
        }
        drop(arena);
        self.changed();
    }

    /// Returns the earliest and the latest change of the files below an entry, in seconds since
    /// 1970. `None` if no such time is known.
    pub fn changes_below(&self, id: Id) -> Option<(i64, i64)> {
        let mut range: Option<(i64, i64)> = None;
        self.each_below(id, |arena, index| {
            if let Some(mtime) = arena.entries.mtime(index) {
                let (first, last) = range.unwrap_or((mtime, mtime));
                range = Some((first.min(mtime), last.max(mtime)));
            }
        });
        range
    }
}

impl Arena {
    fn identity(&self, index: EntryIndex) -> Identity {
        Identity {
            // Only the top has no directory above, and it is one itself.
            device: self.device(index).unwrap_or(0),
            inode: self.entries.inode(index),
            mark: self.entries.mark(index),
        }
    }

    fn doomed(&self, index: EntryIndex) -> Doomed<Id> {
        Doomed {
            id: Id(u64::from(index)),
            name: self.entries.name(index).to_vec(),
            identity: self.identity(index),
            is_directory: self.entries.kind(index) == Kind::Directory,
        }
    }

    /// Returns true if a directory is another one, or is below it.
    fn is_at_or_below(&self, directory: DirIndex, above: DirIndex) -> bool {
        let mut at = Some(directory);
        while let Some(directory) = at.filter(|directory| *directory != NONE) {
            if directory == above {
                return true;
            }
            at = self.parent_directory(directory);
        }
        false
    }
}
