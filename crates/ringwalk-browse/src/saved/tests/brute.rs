//! Answers compared with a brute force.

use super::made::{Made, made, snapshot};
use crate::saved::{SnapshotView, join};
use crate::tree::{Direction, Group, GroupKey, Id, Item, Order, SortKey, Tree, Weight};
use proptest::prelude::*;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashSet};

const KEYS: [SortKey; 7] = [
    SortKey::Alloc,
    SortKey::Size,
    SortKey::Freeable,
    SortKey::Entries,
    SortKey::Mtime,
    SortKey::Name,
    SortKey::Owner,
];

/// Returns all entries by their paths.
fn all(view: &SnapshotView) -> BTreeMap<Vec<u8>, Item> {
    let mut found = BTreeMap::new();
    let mut at = vec![(Vec::new(), view.top())];
    while let Some((path, id)) = at.pop() {
        assert_eq!(view.path(id).unwrap(), path);
        let item = view.items(&[id]).unwrap().remove(0);
        let listing = view.listing(id, Order::default()).unwrap();
        for each in view.items(&listing).unwrap() {
            assert_eq!(view.parent(each.id).unwrap(), Some(id));
            at.push((join(&path, &each.name), each.id));
        }
        found.insert(path, item);
    }
    found
}

/// Returns the number of each group, and its allocated bytes, of each inode once.
fn groups(made: &Made, path: &[u8]) -> BTreeMap<Vec<u8>, (u64, u64)> {
    let mut seen = HashSet::new();
    let mut groups: BTreeMap<Vec<u8>, (u64, u64)> = BTreeMap::new();
    // The first name counts, in the order of the rows.
    let mut below = made.below(path);
    below.sort_by(|a, b| ringwalk_snapshot::order::compare(a, b));
    for path in below {
        let file = &made.files[path];
        let label = file.uid.to_string().into_bytes();
        let group = groups.entry(label).or_default();
        group.0 += 1;
        group.1 += if seen.insert(file.ino) {
            file.blocks * 512
        } else {
            0
        };
    }
    groups
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn totals_add_up(made in made()) {
        let view = SnapshotView::new(snapshot(&[("/top", &made)])).unwrap();
        let found = all(&view);
        prop_assert!(found.keys().eq(made.files.keys()));
        for (path, item) in &found {
            let file = &made.files[path];
            let below = made.below(path);
            prop_assert_eq!(item.entries, below.len() as u64);
            prop_assert_eq!(item.mtime, below.iter().map(|path| made.files[*path].mtime).max());
            prop_assert_eq!(item.uid, Some(file.uid));
            let whole: HashSet<_> = below.iter().copied().collect();
            prop_assert_eq!(item.freeable, Some(made.freeable(&whole)));
            if !item.is_directory() {
                prop_assert_eq!(item.links, made.names(file));
                prop_assert_eq!(item.alloc, file.blocks * 512);
                continue;
            }
            let children = view.listing(item.id, Order::default()).unwrap();
            let children = view.items(&children).unwrap();
            let charged = children.iter().filter(|child| child.charged);
            let (alloc, size) = charged.fold((0, 0), |(alloc, size), child| {
                (alloc + child.alloc, size + child.size)
            });
            prop_assert_eq!(item.alloc, alloc + file.blocks * 512);
            prop_assert_eq!(item.size, size + file.blocks * 500);
            let entries: u64 = children.iter().map(|child| child.entries).sum();
            prop_assert_eq!(item.entries, entries + 1);
        }
        prop_assert_eq!(found[&b""[..]].alloc, made.alloc(&made.below(b"")));
    }

    #[test]
    fn listings_have_their_order(made in made()) {
        let view = SnapshotView::new(snapshot(&[("/top", &made)])).unwrap();
        for item in all(&view).values() {
            for key in KEYS {
                for direction in [Direction::Usual, Direction::Reversed] {
                    for directories_first in [false, true] {
                        let order = Order { key, direction, directories_first };
                        let listing = view.listing(item.id, order).unwrap();
                        let items = view.items(&listing).unwrap();
                        prop_assert!(items.is_sorted_by(|a, b| order.compare(a, b).is_lt()));
                    }
                }
            }
        }
    }

    #[test]
    fn what_deletion_frees(made in made(), chosen in proptest::collection::vec(0..64_usize, 0..6)) {
        let view = SnapshotView::new(snapshot(&[("/top", &made)])).unwrap();
        let found = all(&view);
        let paths: Vec<_> = found.keys().collect();
        let chosen: Vec<_> = chosen.iter().map(|at| paths[at % paths.len()]).collect();
        let ids: Vec<Id> = chosen.iter().map(|path| found[*path].id).collect();
        let whole = chosen.iter().flat_map(|path| made.below(path)).collect();
        prop_assert_eq!(view.freeable(&ids).unwrap(), Some(made.freeable(&whole)));
    }

    #[test]
    fn the_largest_files_and_groups(made in made(), most in 0..8_usize) {
        let view = SnapshotView::new(snapshot(&[("/top", &made)])).unwrap();
        for (path, item) in all(&view) {
            let mut expected = made.below(&path);
            expected.retain(|other| !made.files[*other].is_directory && **other != path);
            expected.sort_by(|a, b| ringwalk_snapshot::order::compare(a, b));
            let mut seen = HashSet::new();
            expected.retain(|other| seen.insert(made.files[*other].ino));
            expected.sort_by_key(|other| Reverse(made.files[*other].blocks));
            expected.truncate(most);
            for weight in [Weight::Alloc, Weight::Size] {
                let ids = view.largest_files(item.id, weight, most).unwrap();
                let found: Vec<_> = ids.iter().map(|id| view.path(*id).unwrap()).collect();
                prop_assert!(found.iter().eq(expected.iter().copied()), "{found:?} {expected:?}");
            }
            let found = view.groups(item.id, GroupKey::Owner).unwrap();
            prop_assert!(found.is_sorted_by(|a, b| a.alloc >= b.alloc));
            let found = found.into_iter();
            let found = found.map(|Group { label, entries, alloc, .. }| (label, (entries, alloc)));
            prop_assert_eq!(found.collect::<BTreeMap<_, _>>(), groups(&made, &path));
        }
    }
}
