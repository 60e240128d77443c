//! A tree in memory that a test fills and changes.

use crate::tree::{
    Group, GroupKey, Id, Item, Kind, Order, Progress, ReadState, Tree, Unreadable, Weight,
};
use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread;
use std::time::Duration;

/// The tree. Its top has the number 0.
pub(crate) struct FakeTree {
    state: Mutex<State>,
    /// Listings wait while this is true.
    is_held: AtomicBool,
}

struct State {
    nodes: Vec<Node>,
    progress: Progress,
    unreadable: Vec<Unreadable>,
}

struct Node {
    item: Item,
    parent: Option<Id>,
    children: Vec<Id>,
    is_gone: bool,
}

impl FakeTree {
    /// Returns a tree that holds its top only.
    pub(crate) fn new() -> Self {
        let top = Item {
            id: Id(0),
            name: b"/srv/data".to_vec(),
            kind: Kind::Directory,
            entries: 1,
            mtime: Some(0),
            uid: Some(0),
            links: 1,
            charged: true,
            freeable: Some(0),
            ..Item::default()
        };
        let top = Node {
            item: top,
            parent: None,
            children: Vec::new(),
            is_gone: false,
        };
        let progress = Progress {
            entries: 1,
            ..Progress::default()
        };
        let state = State {
            nodes: vec![top],
            progress,
            unreadable: Vec::new(),
        };
        Self {
            state: Mutex::new(state),
            is_held: AtomicBool::new(false),
        }
    }

    /// Adds a directory.
    pub(crate) fn directory(&self, parent: Id, name: &str) -> Id {
        self.add(parent, name.as_bytes(), Kind::Directory, 0)
    }

    /// Adds a file.
    pub(crate) fn file(&self, parent: Id, name: &str, size: u64) -> Id {
        self.add(parent, name.as_bytes(), Kind::File, size)
    }

    /// Adds an entry. Files take whole blocks of 4096 bytes.
    pub(crate) fn add(&self, parent: Id, name: &[u8], kind: Kind, size: u64) -> Id {
        let mut state = self.state();
        let id = Id(state.nodes.len() as u64);
        let alloc = size.div_ceil(4096) * 4096;
        let mtime = 1_700_000_000 + i64::try_from(id.0).unwrap() * 86_400;
        let item = Item {
            id,
            name: name.to_vec(),
            kind,
            size,
            alloc,
            freeable: Some(alloc),
            entries: 1,
            mtime: Some(mtime),
            uid: Some(if id.0.is_multiple_of(3) {
                4_000_000_000
            } else {
                0
            }),
            links: 1,
            charged: true,
            ..Item::default()
        };
        state.nodes.push(Node {
            item,
            parent: Some(parent),
            children: Vec::new(),
            is_gone: false,
        });
        state.nodes[index(parent)].children.push(id);
        state.up(parent, |above| {
            above.size += size;
            above.alloc += alloc;
            above.freeable = above.freeable.map(|freeable| freeable + alloc);
            above.entries += 1;
            above.mtime = above.mtime.max(Some(mtime));
        });
        state.progress.entries += 1;
        state.progress.alloc += alloc;
        state.progress.generation += 1;
        id
    }

    /// Changes an entry, without its totals above.
    pub(crate) fn edit(&self, id: Id, edit: impl FnOnce(&mut Item)) {
        let mut state = self.state();
        edit(&mut state.nodes[index(id)].item);
        state.progress.generation += 1;
    }

    /// Makes an entry one that could not be read.
    pub(crate) fn fail(&self, id: Id, reason: &str) {
        let path = [b"/srv/data/".as_slice(), &self.path(id).unwrap()].concat();
        let mut state = self.state();
        state.nodes[index(id)].item.state = ReadState::Failed;
        state.up(id, |item| item.errors += 1);
        state.progress.errors += 1;
        state.unreadable.push(Unreadable {
            path,
            reason: reason.to_owned(),
        });
        state.progress.generation += 1;
    }

    /// Takes an entry and everything in it away.
    pub(crate) fn remove(&self, id: Id) {
        let mut state = self.state();
        let mut pending = vec![id];
        while let Some(id) = pending.pop() {
            let node = &mut state.nodes[index(id)];
            node.is_gone = true;
            pending.extend(&node.children);
        }
        let (item, parent) = (
            state.nodes[index(id)].item.clone(),
            state.nodes[index(id)].parent,
        );
        state.up(parent.unwrap(), |above| {
            above.size -= item.size;
            above.alloc -= item.alloc;
            above.entries -= item.entries;
        });
        state.progress.generation += 1;
    }

    /// Makes listings wait, or continue.
    pub(crate) fn hold_listings(&self, is_held: bool) {
        self.is_held.store(is_held, Ordering::Relaxed);
    }

    /// Ends the reading.
    pub(crate) fn finish(&self) {
        self.state().progress.finished = true;
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }
}

impl State {
    /// Changes an entry and all directories above it.
    fn up(&mut self, from: Id, change: impl Fn(&mut Item)) {
        let mut at = Some(from);
        while let Some(id) = at {
            let node = &mut self.nodes[index(id)];
            change(&mut node.item);
            at = node.parent;
        }
    }

    fn files_below(&self, directory: Id) -> Vec<&Item> {
        let mut files = Vec::new();
        let mut pending = vec![directory];
        while let Some(id) = pending.pop() {
            let node = &self.nodes[index(id)];
            if node.is_gone {
                continue;
            }
            pending.extend(&node.children);
            if !node.item.is_directory() {
                files.push(&node.item);
            }
        }
        files
    }
}

fn index(id: Id) -> usize {
    usize::try_from(id.0).unwrap_or(usize::MAX)
}

impl Tree for FakeTree {
    fn top(&self) -> Id {
        Id(0)
    }

    fn path_of_top(&self) -> Vec<u8> {
        b"/srv/data".to_vec()
    }

    fn progress(&self) -> Progress {
        self.state().progress
    }

    fn unreadable(&self) -> Vec<Unreadable> {
        self.state().unreadable.clone()
    }

    fn items(&self, ids: &[Id]) -> io::Result<Vec<Item>> {
        let state = self.state();
        let nodes = ids.iter().filter_map(|id| state.nodes.get(index(*id)));
        Ok(nodes
            .filter(|node| !node.is_gone)
            .map(|node| node.item.clone())
            .collect())
    }

    fn parent(&self, id: Id) -> io::Result<Option<Id>> {
        Ok(self.state().nodes[index(id)].parent)
    }

    fn listing(&self, directory: Id, order: Order) -> io::Result<Vec<Id>> {
        while self.is_held.load(Ordering::Relaxed) {
            thread::sleep(Duration::from_millis(1));
        }
        let state = self.state();
        let children = &state.nodes[index(directory)].children;
        let nodes = children.iter().map(|&id| &state.nodes[index(id)]);
        let mut items: Vec<&Item> = nodes
            .filter(|node| !node.is_gone)
            .map(|node| &node.item)
            .collect();
        items.sort_by(|a, b| order.compare(a, b));
        Ok(items.into_iter().map(|item| item.id).collect())
    }

    fn largest_files(&self, directory: Id, weight: Weight, most: usize) -> io::Result<Vec<Id>> {
        let state = self.state();
        let mut files = state.files_below(directory);
        let key = crate::view::key_of(weight);
        let order = Order {
            key,
            ..Order::default()
        };
        files.sort_by(|a, b| order.compare(a, b));
        Ok(files.into_iter().take(most).map(|item| item.id).collect())
    }

    fn groups(&self, directory: Id, key: GroupKey) -> io::Result<Vec<Group>> {
        let state = self.state();
        let mut groups: BTreeMap<Vec<u8>, Group> = BTreeMap::new();
        for item in state.files_below(directory) {
            let label = match key {
                GroupKey::Extension => {
                    let dot = item.name.iter().rposition(|&byte| byte == b'.');
                    dot.map_or_else(Vec::new, |dot| item.name[dot..].to_vec())
                }
                GroupKey::Owner => item.uid.unwrap().to_string().into_bytes(),
                GroupKey::Age => b"1-3 months".to_vec(),
            };
            let empty = Group {
                label: label.clone(),
                entries: 0,
                size: 0,
                alloc: 0,
            };
            let group = groups.entry(label).or_insert(empty);
            group.entries += 1;
            group.size += item.size;
            group.alloc += item.alloc;
        }
        let mut groups: Vec<Group> = groups.into_values().collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.alloc));
        Ok(groups)
    }

    fn freeable(&self, ids: &[Id]) -> io::Result<Option<u64>> {
        Ok(self.items(ids)?.iter().map(|item| item.freeable).sum())
    }
}
