//! Totals by extension, owner and age, and the largest files.
//!
//! These look at all entries below a directory. They give the lock away after each slice, so that
//! the walk and the screen go on.

use super::arena::{Arena, Below};
use super::entries::EntryIndex;
use super::{LiveTree, SLICE};
use crate::tree::{AgeClass, Group, GroupKey, Id, Kind, Weight};
use ringwalk::FileType;
use ringwalk_snapshot::extension;
use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::time::{SystemTime, UNIX_EPOCH};

/// Groups that are kept. Anybody can make up more extensions.
const MOST_GROUPS: usize = 10_000;

/// The value of a key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Value {
    Text(Vec<u8>),
    Owner(Option<u32>),
    Age(AgeClass),
}

impl LiveTree {
    /// Calls `visit` with each entry below a directory, and with the directory itself.
    pub(super) fn each_below(&self, directory: Id, mut visit: impl FnMut(&Arena, EntryIndex)) {
        let mut arena = self.work();
        let Some(index) = arena.index(directory) else {
            return;
        };
        let mut below = Below::begin(index);
        let mut looked_at = 0;
        while let Some(index) = below.next(&arena) {
            visit(&arena, index);
            looked_at += 1;
            if looked_at % SLICE == 0 {
                drop(arena);
                std::thread::yield_now();
                arena = self.work();
            }
        }
    }

    pub(super) fn find_largest(&self, directory: Id, weight: Weight, most: usize) -> Vec<Id> {
        // The smallest of the largest is on top.
        let mut largest = BinaryHeap::new();
        self.each_below(directory, |arena, index| {
            if arena.entries.kind(index) == Kind::Directory || !arena.is_charged(index) {
                return;
            }
            let size = match weight {
                Weight::Alloc => arena.entries.alloc(index),
                Weight::Size => arena.entries.size(index),
            };
            largest.push((Reverse(size), index));
            if largest.len() > most {
                largest.pop();
            }
        });
        let sorted = largest.into_sorted_vec().into_iter();
        sorted.map(|(_, index)| Id(u64::from(index))).collect()
    }

    pub(super) fn add_up(&self, directory: Id, key: GroupKey) -> Vec<Group> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let now = now.map_or(0, |now| i64::try_from(now.as_nanos()).unwrap_or(i64::MAX));
        let mut sums: HashMap<Value, Group> = HashMap::new();
        self.each_below(directory, |arena, index| {
            let mut value = value(arena, index, key, now);
            if sums.len() >= MOST_GROUPS && !sums.contains_key(&value) {
                value = Value::Text(b"(others)".to_vec());
            }
            let group = sums.entry(value).or_insert_with(|| Group {
                label: Vec::new(),
                entries: 0,
                size: 0,
                alloc: 0,
            });
            group.entries += 1;
            if arena.is_charged(index) {
                group.size = group.size.saturating_add(arena.own_size(index));
                group.alloc = group.alloc.saturating_add(arena.entries.alloc(index));
            }
        });
        let mut groups: Vec<_> = sums
            .into_iter()
            .map(|(value, group)| Group {
                label: label(value),
                ..group
            })
            .collect();
        groups.sort_by(|a, b| (b.alloc, &a.label).cmp(&(a.alloc, &b.label)));
        groups
    }
}

fn value(arena: &Arena, index: EntryIndex, key: GroupKey, now: i64) -> Value {
    match key {
        GroupKey::Owner => Value::Owner(arena.entries.uid(index)),
        GroupKey::Age => {
            let mtime = arena.entries.mtime(index);
            let nanos = mtime.map(|seconds| seconds.saturating_mul(1_000_000_000));
            Value::Age(AgeClass::of(nanos, now, now))
        }
        GroupKey::Extension => {
            let text = match arena.entries.kind(index) {
                Kind::Directory => "(directories)".to_owned(),
                Kind::File => extension(FileType::Regular, arena.entries.name(index))
                    .map_or_else(|| "(none)".to_owned(), |extension| format!(".{extension}")),
                _ => "(other types)".to_owned(),
            };
            Value::Text(text.into_bytes())
        }
    }
}

fn label(value: Value) -> Vec<u8> {
    match value {
        Value::Text(text) => text,
        Value::Age(class) => class.label().into(),
        Value::Owner(None) => b"(unknown)".into(),
        Value::Owner(Some(uid)) => match ringwalk_sys::user_name(uid) {
            Ok(Some(name)) => name,
            // The number says who it is, if the name cannot be looked up either.
            Ok(None) | Err(_) => uid.to_string().into_bytes(),
        },
    }
}

impl Arena {
    /// Returns the apparent size of the entry alone.
    fn own_size(&self, index: EntryIndex) -> u64 {
        let directory = self.entries.directory(index);
        directory.map_or_else(
            || self.entries.size(index),
            |directory| self.directories.get(directory).own_size,
        )
    }
}
