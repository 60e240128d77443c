//! The answers to a view.

use super::arena::{Arena, TOP};
use super::entries::{DirIndex, EntryIndex, NONE, flags};
use super::{LiveTree, SLICE};
use crate::tree::{Group, GroupKey, Id, Item, Order, Progress, Tree, Unreadable, Weight};
use ringwalk_sys::sync::lock;
use std::collections::HashSet;
use std::io;
use std::os::unix::ffi::OsStrExt as _;
use std::sync::atomic::Ordering;

impl Tree for LiveTree {
    fn top(&self) -> Id {
        Id(u64::from(TOP))
    }

    fn path_of_top(&self) -> Vec<u8> {
        self.path.as_os_str().as_bytes().to_vec()
    }

    fn progress(&self) -> Progress {
        // Read before the totals: a tree that is finished does not change afterwards.
        let finished = !self.reading.load(Ordering::Acquire);
        let generation = self.generation.load(Ordering::Acquire);
        let totals = self.look().totals(TOP);
        Progress {
            entries: totals.entries,
            alloc: totals.alloc,
            errors: u64::from(totals.errors),
            finished,
            generation,
        }
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        lock(&self.errors).clone()
    }

    fn items(&self, ids: &[Id]) -> io::Result<Vec<Item>> {
        let arena = self.look();
        let found = ids.iter().filter_map(|id| arena.index(*id));
        Ok(found.map(|index| self.item(&arena, index)).collect())
    }

    fn parent(&self, id: Id) -> io::Result<Option<Id>> {
        let arena = self.look();
        let parent = arena.index(id).map(|index| arena.entries.parent(index));
        let parent = parent.filter(|parent| *parent != NONE);
        Ok(parent.map(|parent| Id(u64::from(arena.directories.get(parent).entry))))
    }

    fn listing(&self, directory: Id, order: Order) -> io::Result<Vec<Id>> {
        let children: Vec<EntryIndex> = {
            let arena = self.look();
            let directory = arena.index(directory);
            let directory = directory.and_then(|index| arena.entries.directory(index));
            directory.map_or_else(Vec::new, |directory| arena.children(directory).collect())
        };
        let mut items = Vec::with_capacity(children.len());
        // The screen asks for single entries meanwhile.
        for slice in children.chunks(SLICE) {
            let arena = self.work();
            let there = slice
                .iter()
                .filter(|index| !arena.entries.has(**index, flags::GONE));
            items.extend(there.map(|index| arena.item(*index)));
        }
        items.sort_unstable_by(|a, b| order.compare(a, b));
        Ok(items.into_iter().map(|item| item.id).collect())
    }

    fn largest_files(&self, directory: Id, weight: Weight, most: usize) -> io::Result<Vec<Id>> {
        Ok(self.find_largest(directory, weight, most))
    }

    fn groups(&self, directory: Id, key: GroupKey) -> io::Result<Vec<Group>> {
        Ok(self.add_up(directory, key))
    }

    fn freeable(&self, ids: &[Id]) -> io::Result<Option<u64>> {
        let arena = self.look();
        let selected: HashSet<EntryIndex> = ids.iter().filter_map(|id| arena.index(*id)).collect();
        let mut freed: u64 = 0;
        for index in &selected {
            let item = arena.item(*index);
            if item.freeable.is_none() {
                return Ok(None);
            }
            let parent = arena.entries.parent(*index);
            if !arena.is_selected(parent, &selected) {
                freed = freed.saturating_add(item.freeable.unwrap_or(0));
            }
        }
        Ok(Some(
            freed.saturating_add(arena.freed_by_several(&selected)),
        ))
    }
}

impl LiveTree {
    /// Returns an entry. The top has the whole path as its name.
    fn item(&self, arena: &Arena, index: EntryIndex) -> Item {
        let mut item = arena.item(index);
        if index == TOP {
            item.name = self.path_of_top();
        }
        item
    }
}

impl Arena {
    /// Returns the path of an entry relative to the top.
    pub(super) fn path(&self, mut index: EntryIndex) -> Vec<u8> {
        let mut names = Vec::new();
        while index != TOP {
            names.push(self.entries.name(index));
            index = self.directories.get(self.entries.parent(index)).entry;
        }
        names.reverse();
        names.join(&b'/')
    }

    /// Returns true if a directory, or one above it, is selected.
    fn is_selected(&self, mut directory: DirIndex, selected: &HashSet<EntryIndex>) -> bool {
        while directory != NONE {
            let entry = self.directories.get(directory).entry;
            if selected.contains(&entry) {
                return true;
            }
            directory = self.entries.parent(entry);
        }
        false
    }

    /// Returns the bytes of files with several names, all of which are selected or below what is
    /// selected, but not all below one directory that is selected.
    fn freed_by_several(&self, selected: &HashSet<EntryIndex>) -> u64 {
        let is_in = |name: EntryIndex| {
            selected.contains(&name) || self.is_selected(self.entries.parent(name), selected)
        };
        let linked = self.links.values().filter(|linked| {
            !self.is_selected(linked.common(), selected) && linked.all_names(is_in)
        });
        linked
            .map(|linked| self.entries.alloc(linked.charged()))
            .sum()
    }
}
