//! Files with several names: which name counts, and what deletion frees.
//!
//! An inode counts for the first of its names in the order of a snapshot's rows: whatever is below
//! the entries of a directory comes before these entries, and both are sorted by name. So the
//! answer does not depend on the order in which a walk finds the names ("A file with several names
//! counts once" in `docs/architecture.md`).

use super::arena::Arena;
use super::directories::Totals;
use super::entries::{DirIndex, EntryIndex, NONE, flags};
use std::cmp::Ordering;
use std::collections::HashMap;

/// An inode with several names.
#[derive(Debug)]
pub(super) struct Linked {
    /// The names that were found.
    names: Vec<EntryIndex>,
    /// The number of names that the file system says there are.
    links: u32,
    /// The name that counts.
    charged: EntryIndex,
    /// The directory below which all names are. [`NONE`] if there are names that were not found.
    common: DirIndex,
}

/// The inodes with several names, by device and inode number.
pub(super) type Links = HashMap<(u64, u64), Linked>;

impl Linked {
    /// Returns true if all names of the inode are in a set.
    pub(super) fn all_names(&self, mut is_in: impl FnMut(EntryIndex) -> bool) -> bool {
        self.common != NONE && self.names.iter().all(|name| is_in(*name))
    }

    /// Returns the directory below which all names are, or [`NONE`].
    pub(super) fn common(&self) -> DirIndex {
        self.common
    }

    pub(super) fn links(&self) -> u32 {
        self.links
    }

    pub(super) fn charged(&self) -> EntryIndex {
        self.charged
    }
}

impl Arena {
    /// Notes one more name of an inode, which has `links` names in all. Returns true if it counts,
    /// and moves the sums if another name counted until now.
    pub(super) fn add_link(&mut self, key: (u64, u64), name: EntryIndex, links: u32) -> bool {
        let Some(linked) = self.links.get(&key) else {
            let linked = Linked {
                names: vec![name],
                links,
                charged: name,
                common: NONE,
            };
            self.links.insert(key, linked);
            return true;
        };
        let charged = linked.charged;
        let is_first = self.row_order(name, charged) == Ordering::Less;
        if is_first {
            let moved = self.sums_of_file(charged);
            self.subtract_from(self.entries.parent(charged), &moved);
        }
        let linked = self.links.get_mut(&key).expect("it was there");
        linked.names.push(name);
        // The number may have changed since the other names were read: the last one counts.
        linked.links = links;
        if is_first {
            linked.charged = name;
        }
        self.find_common(key);
        is_first
    }

    /// Forgets a name of an inode. Returns true if the name counted. Then another one counts, and
    /// the sums have been moved.
    pub(super) fn remove_link(&mut self, key: (u64, u64), name: EntryIndex, was_deleted: bool) {
        let Some(linked) = self.links.get_mut(&key) else {
            return;
        };
        linked.names.retain(|known| *known != name);
        if was_deleted {
            linked.links = linked.links.saturating_sub(1);
        }
        let was_charged = linked.charged == name;
        let names = linked.names.clone();
        let first = names
            .into_iter()
            .reduce(|a, b| if self.row_order(a, b).is_lt() { a } else { b });
        let Some(first) = first else {
            self.drop_common(key);
            self.links.remove(&key);
            return;
        };
        if was_charged {
            if let Some(linked) = self.links.get_mut(&key) {
                linked.charged = first;
            }
            let moved = self.sums_of_file(first);
            self.add_to(self.entries.parent(first), &moved);
        }
        self.find_common(key);
    }

    /// Returns what a file with several names adds to the sums of the directories above the name
    /// that counts.
    fn sums_of_file(&self, name: EntryIndex) -> Totals {
        Totals {
            size: self.entries.size(name),
            alloc: self.entries.alloc(name),
            ..Totals::default()
        }
    }

    /// Takes away what the inode adds to the bytes that deletion frees.
    fn drop_common(&mut self, key: (u64, u64)) {
        let Some(linked) = self.links.get_mut(&key) else {
            return;
        };
        let (common, charged) = (std::mem::replace(&mut linked.common, NONE), linked.charged);
        if common != NONE {
            let freed = self.freed_by(charged);
            self.subtract_from(common, &freed);
        }
    }

    /// Finds the directory whose deletion frees the inode, and adds its bytes there.
    fn find_common(&mut self, key: (u64, u64)) {
        self.drop_common(key);
        let Some(linked) = self.links.get(&key) else {
            return;
        };
        if linked.names.len() as u64 != u64::from(linked.links) {
            return;
        }
        let parents = linked.names.iter().map(|name| self.entries.parent(*name));
        let common = parents.reduce(|a, b| self.common_directory(a, b));
        let charged = linked.charged;
        if let Some(common) = common {
            let freed = self.freed_by(charged);
            self.add_to(common, &freed);
            if let Some(linked) = self.links.get_mut(&key) {
                linked.common = common;
            }
        }
    }

    fn freed_by(&self, name: EntryIndex) -> Totals {
        Totals {
            freeable: self.entries.alloc(name),
            ..Totals::default()
        }
    }

    /// Returns the key of a file with several names.
    pub(super) fn link_key(&self, index: EntryIndex) -> Option<(u64, u64)> {
        if !self.entries.has(index, flags::LINKED) {
            return None;
        }
        Some((self.device(index)?, self.entries.inode(index)))
    }

    fn depth(&self, mut directory: DirIndex) -> usize {
        let mut depth = 0;
        while let Some(parent) = self.parent_directory(directory) {
            (directory, depth) = (parent, depth + 1);
        }
        depth
    }

    /// Returns the deepest directory that is, or is above, both of these.
    fn common_directory(&self, a: DirIndex, b: DirIndex) -> DirIndex {
        self.branches(a, b).0
    }

    /// Returns the deepest directory that is, or is above, both of these, and the directories
    /// directly in it that lead to them; `None` where it is the directory itself.
    fn branches(&self, a: DirIndex, b: DirIndex) -> (DirIndex, Option<DirIndex>, Option<DirIndex>) {
        let (mut depth_a, mut depth_b) = (self.depth(a), self.depth(b));
        let (mut a, mut b) = (a, b);
        let (mut from_a, mut from_b) = (None, None);
        while a != b {
            let climbs_a = depth_a >= depth_b;
            let climbs_b = depth_b >= depth_a;
            if climbs_a && let Some(parent) = self.parent_directory(a) {
                (from_a, a, depth_a) = (Some(a), parent, depth_a - 1);
            }
            if climbs_b && let Some(parent) = self.parent_directory(b) {
                (from_b, b, depth_b) = (Some(b), parent, depth_b - 1);
            }
        }
        (a, from_a, from_b)
    }

    /// Compares two files that are no directories by the order of a snapshot's rows.
    fn row_order(&self, a: EntryIndex, b: EntryIndex) -> Ordering {
        let (_, from_a, from_b) = self.branches(self.entries.parent(a), self.entries.parent(b));
        let name = |entry| self.entries.name(entry);
        let branch = |directory| name(self.directories.get(directory).entry);
        match (from_a, from_b) {
            (Some(a), Some(b)) => branch(a).cmp(branch(b)),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => name(a).cmp(name(b)),
        }
    }
}
