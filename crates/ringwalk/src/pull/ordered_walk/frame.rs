//! A directory on the way from the root to the current one, and its subdirectories to come.

use super::listing::Listing;
use super::queue::{Child, Id, NONE};
use super::turn::Chosen;
use std::sync::Arc;

/// A directory that has been given, and how many of its subdirectories have been gone down into.
#[derive(Debug)]
pub(super) struct Frame {
    pub(super) listing: Arc<Listing>,
    below: Below,
    next: usize,
}

/// The subdirectories to go down into.
#[derive(Debug)]
enum Below {
    /// All, in the order of the listing.
    All(Vec<Child>),
    /// Those that the caller has chosen, each with its node in the queue.
    Chosen(Vec<(Chosen, Id)>),
}

/// Nodes of the queue that a choice concerns.
#[derive(Debug)]
pub(super) struct Choice {
    /// The directories that were chosen, in the new order.
    pub(super) kept: Vec<Child>,
    /// The directories that were left out.
    pub(super) dropped: Vec<Child>,
}

impl Frame {
    /// Creates a frame that goes down into all of `children`.
    pub(super) fn new(listing: Arc<Listing>, children: Vec<Child>) -> Self {
        Self {
            listing,
            below: Below::All(children),
            next: 0,
        }
    }

    /// Returns path and node of the next subdirectory.
    pub(super) fn next(&mut self) -> Option<(Vec<u8>, Id)> {
        let at = self.next;
        let (entry, node) = match &mut self.below {
            Below::All(children) => {
                let child = children.get(at)?;
                (child.entry as usize, child.node)
            }
            Below::Chosen(chosen) => match chosen.get_mut(at)? {
                (Chosen::Entry(entry), node) => (*entry, *node),
                (Chosen::Path(path), _) => {
                    self.next += 1;
                    return Some((std::mem::take(path), NONE));
                }
            },
        };
        self.next += 1;
        let mut path = Vec::new();
        self.listing.path_of(entry, &mut path);
        Some((path, node))
    }

    /// Returns true if [`next`](Self::next) has another subdirectory.
    pub(super) fn has_more(&self) -> bool {
        let children = match &self.below {
            Below::All(children) => children.len(),
            Below::Chosen(chosen) => chosen.len(),
        };
        self.next < children
    }

    /// Forgets the nodes of all subdirectories: their queue is no longer used.
    pub(super) fn forget_nodes(&mut self) {
        match &mut self.below {
            Below::All(children) => children.iter_mut().for_each(|child| child.node = NONE),
            Below::Chosen(chosen) => chosen.iter_mut().for_each(|(_, node)| *node = NONE),
        }
    }

    /// Replaces the subdirectories by those chosen.
    ///
    /// # Panics
    ///
    /// If an entry is chosen that the directory does not have.
    pub(super) fn choose(&mut self, chosen: Vec<Chosen>) -> Choice {
        let below = std::mem::replace(&mut self.below, Below::Chosen(Vec::new()));
        let mut nodes = match below {
            Below::All(children) => children,
            // This is the second choice: entries that the first one left out are dropped already.
            Below::Chosen(chosen) => chosen.into_iter().filter_map(child_of).collect(),
        };
        nodes.sort_unstable_by_key(|child| child.entry);
        let mut kept = Vec::new();
        let with_nodes = chosen.into_iter().map(|chosen| {
            let mut node = NONE;
            if let Chosen::Entry(entry) = chosen {
                assert!(entry < self.listing.len(), "no such entry");
                let found = nodes.binary_search_by_key(&entry, |child| child.entry as usize);
                if let Ok(at) = found {
                    // An entry that is chosen twice has its node once.
                    node = std::mem::replace(&mut nodes[at].node, NONE);
                    kept.push(Child { node, ..nodes[at] });
                }
            }
            (chosen, node)
        });
        self.below = Below::Chosen(with_nodes.collect());
        Choice {
            kept,
            dropped: nodes,
        }
    }
}

fn child_of((chosen, node): (Chosen, Id)) -> Option<Child> {
    match chosen {
        Chosen::Entry(entry) => Some(Child {
            entry: u32::try_from(entry).ok()?,
            node,
        }),
        Chosen::Path(_) => None,
    }
}
