//! The tree in memory.

use super::directories::{Directories, Totals};
use super::entries::{DirIndex, Entries, EntryIndex, Found, NONE, flags};
use super::links::Links;
use crate::tree::{Id, Item, Kind, ReadState};
use std::collections::HashMap;

/// The entries and directories of a tree, and their totals.
#[derive(Debug, Default)]
pub(super) struct Arena {
    pub(super) entries: Entries,
    pub(super) directories: Directories,
    pub(super) links: Links,
    /// The devices of files that are on another device than their directory, as on the layers of an
    /// overlayfs.
    devices: HashMap<EntryIndex, u64>,
    /// There was no room for some entries.
    pub(super) is_full: bool,
}

/// The number of the entry at the top.
pub(super) const TOP: EntryIndex = 0;

impl Arena {
    /// Adds an entry that is listed in a directory, which the top is not. Returns its number, and
    /// its number among the directories if it will be read as one.
    pub(super) fn add_one(
        &mut self,
        parent: Option<DirIndex>,
        found: &Found<'_>,
        is_read: bool,
    ) -> Option<(EntryIndex, Option<DirIndex>)> {
        let index = self.entries.push(parent.unwrap_or(NONE), found);
        let Some(index) = index else {
            self.is_full = true;
            return None;
        };
        let of_parent = parent.map(|parent| self.directories.get(parent).device);
        if !is_read && !found.failed && of_parent != Some(found.device) {
            self.devices.insert(index, found.device);
        }
        let own = self.own_sums(index, found);
        let mut directory = None;
        if is_read {
            directory = self.directories.push(index, found.device, found.size);
            match directory {
                Some(directory) => {
                    self.entries.set_directory(index, directory);
                    self.directories.get_mut(directory).totals = own;
                }
                None => self.is_full = true,
            }
        }
        if let Some(parent) = parent {
            let mut own = own;
            if self.is_mount_point(index) || found.other {
                own.freeable = 0;
            }
            self.directories.add_to_listing(parent, index..index + 1);
            self.add_to(parent, &own);
        }
        Some((index, directory))
    }

    /// Adds entries of a directory, each with whether it will be read as a directory. Calls `added`
    /// for those: with the number among `found`, and the number among the directories.
    pub(super) fn add<'n>(
        &mut self,
        parent: DirIndex,
        found: impl Iterator<Item = (Found<'n>, bool)>,
        mut added: impl FnMut(usize, DirIndex),
    ) {
        for (number, (found, is_read)) in found.enumerate() {
            match self.add_one(Some(parent), &found, is_read) {
                Some((_, Some(directory))) => added(number, directory),
                Some((_, None)) => {}
                None => break,
            }
        }
    }

    /// Returns what a new entry adds to the directories above it.
    fn own_sums(&mut self, index: EntryIndex, found: &Found<'_>) -> Totals {
        let mut own = Totals {
            entries: 1,
            errors: u32::from(found.failed),
            mtime: found.mtime,
            ..Totals::default()
        };
        let (size, alloc) = (found.size, self.entries.alloc(index));
        match self.link_key(index) {
            // A name in a directory that the walk did not read, such as a file at the top.
            None => (own.size, own.alloc, own.freeable) = (size, alloc, alloc),
            Some(key) => {
                if self.add_link(key, index, found.links) {
                    (own.size, own.alloc) = (size, alloc);
                }
            }
        }
        own
    }

    /// Adds to the sums of a directory and of those above it.
    pub(super) fn add_to(&mut self, directory: DirIndex, sums: &Totals) {
        let mut sums = *sums;
        let mut at = Some(directory);
        while let Some(directory) = at {
            self.directories.get_mut(directory).totals.add(&sums);
            at = self.leave(directory, &mut sums);
        }
    }

    /// Takes away from the sums of a directory and of those above it.
    pub(super) fn subtract_from(&mut self, directory: DirIndex, sums: &Totals) {
        let mut sums = *sums;
        let mut at = Some(directory);
        while let Some(directory) = at {
            self.directories.get_mut(directory).totals.subtract(&sums);
            at = self.leave(directory, &mut sums);
        }
    }

    /// Returns the directory above this one, and removes from `sums` what does not count there:
    /// deleting a directory frees no space on file systems that are mounted below it.
    fn leave(&self, directory: DirIndex, sums: &mut Totals) -> Option<DirIndex> {
        let above = self.parent_directory(directory)?;
        if self.directories.get(above).device != self.directories.get(directory).device {
            sums.freeable = 0;
        }
        Some(above)
    }

    /// Returns true if a directory is of another file system than the one above it.
    pub(super) fn is_mount_point(&self, index: EntryIndex) -> bool {
        let directory = self.entries.directory(index);
        let above = directory.and_then(|directory| self.parent_directory(directory));
        match (directory, above) {
            (Some(directory), Some(above)) => {
                self.directories.get(directory).device != self.directories.get(above).device
            }
            _ => false,
        }
    }

    /// Returns the directory that lists a directory; `None` for the top.
    pub(super) fn parent_directory(&self, directory: DirIndex) -> Option<DirIndex> {
        let parent = self.entries.parent(self.directories.get(directory).entry);
        (parent != NONE).then_some(parent)
    }

    /// Returns the device of an entry. `None` for a top that is not read.
    pub(super) fn device(&self, index: EntryIndex) -> Option<u64> {
        if let Some(device) = self.devices.get(&index) {
            return Some(*device);
        }
        let directory = self.entries.directory(index);
        let directory = directory.unwrap_or_else(|| self.entries.parent(index));
        (directory != NONE).then(|| self.directories.get(directory).device)
    }

    /// Returns the entry with this number, unless it is gone.
    pub(super) fn index(&self, id: Id) -> Option<EntryIndex> {
        let index = u32::try_from(id.0).ok()?;
        let is_there = (index as usize) < self.entries.len();
        (is_there && !self.entries.has(index, flags::GONE)).then_some(index)
    }

    /// Returns the entries of a directory that are there.
    pub(super) fn children(&self, directory: DirIndex) -> impl Iterator<Item = EntryIndex> + '_ {
        let listing = self.directories.listing(directory);
        listing.filter(|entry| !self.entries.has(*entry, flags::GONE))
    }

    /// Returns the entry in a directory with this name.
    pub(super) fn child(&self, directory: DirIndex, name: &[u8]) -> Option<EntryIndex> {
        self.children(directory)
            .find(|entry| self.entries.name(*entry) == name)
    }

    /// Notes that a directory, or a file, could not be read.
    pub(super) fn fail(&mut self, index: EntryIndex) {
        let already = match self.entries.directory(index) {
            Some(directory) => {
                std::mem::replace(&mut self.directories.get_mut(directory).has_failed, true)
            }
            None => self.entries.has(index, flags::FAILED),
        };
        if already {
            return;
        }
        let one = Totals {
            errors: 1,
            ..Totals::default()
        };
        if let Some(directory) = self.entries.directory(index) {
            self.add_to(directory, &one);
            return;
        }
        self.entries.set(index, flags::FAILED);
        let parent = self.entries.parent(index);
        if parent != NONE {
            self.add_to(parent, &one);
        }
    }

    /// Returns the totals of a directory, or the entry's own numbers for other entries.
    pub(super) fn totals(&self, index: EntryIndex) -> Totals {
        if let Some(directory) = self.entries.directory(index) {
            return self.directories.get(directory).totals;
        }
        let (size, alloc) = (self.entries.size(index), self.entries.alloc(index));
        let is_linked = self.entries.has(index, flags::LINKED);
        Totals {
            entries: 1,
            size,
            alloc,
            freeable: if is_linked { 0 } else { alloc },
            errors: u32::from(self.entries.has(index, flags::FAILED)),
            mtime: self.entries.mtime(index),
        }
    }

    /// Returns true if the sizes of an entry count for this name of it.
    pub(super) fn is_charged(&self, index: EntryIndex) -> bool {
        let linked = self.link_key(index).and_then(|key| self.links.get(&key));
        linked.is_none_or(|linked| linked.charged() == index)
    }

    /// Returns an entry as others see it.
    pub(super) fn item(&self, index: EntryIndex) -> Item {
        let totals = self.totals(index);
        let directory = self
            .entries
            .directory(index)
            .map(|at| self.directories.get(at));
        let state = match directory {
            _ if self.entries.has(index, flags::OTHER) => ReadState::OtherFileSystem,
            _ if self.entries.has(index, flags::FAILED) => ReadState::Failed,
            Some(directory) if directory.has_failed => ReadState::Failed,
            Some(directory) if !directory.is_done => ReadState::Reading,
            _ => ReadState::Done,
        };
        let is_known = state == ReadState::Done && totals.errors == 0;
        Item {
            id: Id(u64::from(index)),
            name: self.entries.name(index).to_vec(),
            kind: self.entries.kind(index),
            size: totals.size,
            alloc: totals.alloc,
            freeable: is_known.then_some(totals.freeable),
            entries: totals.entries,
            mtime: totals.mtime,
            uid: self.entries.uid(index),
            links: self.links_of(index),
            charged: self.is_charged(index),
            state,
            errors: u64::from(totals.errors),
        }
    }

    fn links_of(&self, index: EntryIndex) -> u32 {
        if self.entries.kind(index) == Kind::Directory {
            return 1;
        }
        let linked = self.link_key(index).and_then(|key| self.links.get(&key));
        linked.map_or(1, super::links::Linked::links)
    }

    /// Takes an entry and everything below it out of the tree. `was_deleted` says that the file
    /// system has fewer names of its inodes now.
    pub(super) fn remove(&mut self, index: EntryIndex, was_deleted: bool) {
        let mut all = Vec::new();
        let mut below = Below::begin(index);
        while let Some(index) = below.next(self) {
            all.push(index);
        }
        // The contents of a directory are removed before the directory.
        for index in all.into_iter().rev() {
            self.remove_one(index, was_deleted);
        }
        self.find_latest_change(self.entries.parent(index));
    }

    /// Takes everything in a directory out of the tree. The directory stays, with its current
    /// metadata, as one that is not read yet. Its number stays, so a cursor stays on it.
    pub(super) fn renew(&mut self, index: EntryIndex, found: &Found<'_>) {
        let Some(directory) = self.entries.directory(index) else {
            return;
        };
        let children: Vec<_> = self.children(directory).collect();
        for child in children {
            self.remove(child, false);
        }
        let parent = self.parent_directory(directory);
        let mut before = self.directories.get(directory).totals;
        self.leave(directory, &mut before);
        if let Some(parent) = parent {
            self.subtract_from(parent, &before);
        }
        self.directories.clear_listing(directory);
        self.entries.update(index, found);
        let alloc = self.entries.alloc(index);
        let mut own = Totals {
            entries: 1,
            size: found.size,
            alloc,
            freeable: alloc,
            errors: 0,
            mtime: found.mtime,
        };
        let kept = self.directories.get_mut(directory);
        (kept.device, kept.own_size) = (found.device, found.size);
        (kept.is_done, kept.has_failed) = (false, false);
        kept.totals = own;
        self.leave(directory, &mut own);
        if let Some(parent) = parent {
            self.add_to(parent, &own);
            self.find_latest_change(parent);
        }
    }

    /// Takes a file or an empty directory out of the tree.
    fn remove_one(&mut self, index: EntryIndex, was_deleted: bool) {
        let mut own = self.totals(index);
        let key = self.link_key(index);
        if key.is_some() && !self.is_charged(index) {
            (own.size, own.alloc) = (0, 0);
        }
        if self.is_mount_point(index) || self.entries.has(index, flags::OTHER) {
            own.freeable = 0;
        }
        self.entries.set(index, flags::GONE);
        let parent = self.entries.parent(index);
        if parent != NONE {
            self.subtract_from(parent, &own);
        }
        if let Some(key) = key {
            self.remove_link(key, index, was_deleted);
        }
    }

    /// Finds the latest change in a directory and in those above it.
    fn find_latest_change(&mut self, mut directory: DirIndex) {
        while directory != NONE {
            let own = self.entries.mtime(self.directories.get(directory).entry);
            let children = self
                .children(directory)
                .map(|child| self.totals(child).mtime);
            let latest = children.max().flatten().max(own);
            let totals = &mut self.directories.get_mut(directory).totals;
            if std::mem::replace(&mut totals.mtime, latest) == latest {
                return;
            }
            directory = self.entries.parent(self.directories.get(directory).entry);
        }
    }
}

/// A position among the entries below another one. It holds no borrow of the tree, so that others
/// can use the tree between two steps.
#[derive(Debug)]
pub(super) struct Below {
    stack: Vec<EntryIndex>,
}

impl Below {
    /// Begins with an entry. A directory comes before its contents.
    pub(super) fn begin(index: EntryIndex) -> Self {
        Self { stack: vec![index] }
    }

    pub(super) fn next(&mut self, arena: &Arena) -> Option<EntryIndex> {
        let index = self.stack.pop()?;
        if let Some(directory) = arena.entries.directory(index) {
            self.stack.extend(arena.children(directory));
        }
        Some(index)
    }
}
