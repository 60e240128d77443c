//! The directories that are still to be read, in the order in which their turns are expected to come.
//!
//! ```text
//!  list ──>  a/1 Pending   a/2 Reading   a/3 Pending   b Pending   c Pending
//!                              │ publish
//!                              v
//!  list ──>  a/1 Pending   a/2/x Pending   a/2/y Pending   a/3 Pending ...      a/2: Ready, not in the list any more
//! ```
//!
//! A directory has a node from when its parent is listed until its turn has come. While it is [`Pending`](State::Pending) or being
//! read it is in a doubly linked list; what is found in it takes its place there. Whoever looks for work takes the first one that nobody has
//! begun. Nothing depends on the order but speed: the walk asks for nodes by their numbers.

use super::listing::Listing;
use crate::descriptor::Counted;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::sync::Arc;

/// Number of a node.
pub(super) type Id = u32;

/// No node.
pub(super) const NONE: Id = Id::MAX;

/// What a directory costs beyond its entries, counted in entries.
const DIRECTORY_COST: usize = 8;

/// A directory below one that has been listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    /// Which entry of its parent.
    pub(super) entry: u32,
    pub(super) node: Id,
}

/// A directory that has been read ahead.
#[derive(Debug)]
pub(super) struct Ready {
    pub(super) listing: Arc<Listing>,
    pub(super) children: Vec<Child>,
}

#[derive(Debug)]
enum State {
    /// Nobody has begun.
    Pending,
    /// Somebody is at it.
    Reading,
    Ready(Ready),
    /// It could not be read ahead: the walk is to do it, and to tell why not.
    Missed,
    /// Its turn will not come, but somebody is at it.
    Abandoned,
    Free,
}

/// Where a directory is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) parent: Arc<Listing>,
    /// The parent, open, if there were descriptors to spare.
    pub(super) fd: Option<Arc<Held>>,
    pub(super) entry: usize,
}

/// An open directory that counts.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) fd: DirectoryFd,
    /// As long as there is one of these, a descriptor is counted.
    pub(super) _counted: Counted,
}

#[derive(Debug)]
struct Node {
    place: Option<Place>,
    state: State,
    previous: Id,
    next: Id,
}

/// What the walk finds when it comes to a directory.
#[derive(Debug)]
pub(super) enum Found {
    Ready(Ready),
    /// It has not been read.
    Not,
    /// It is being read.
    Reading,
}

#[derive(Debug)]
pub(super) struct Queue {
    nodes: Vec<Node>,
    free: Vec<Id>,
    first: Id,
    /// How many are pending.
    pending: usize,
    /// What has been read ahead and is held, in entries.
    held: usize,
}

impl Default for Queue {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            free: Vec::new(),
            first: NONE,
            pending: 0,
            held: 0,
        }
    }
}

impl Queue {
    pub(super) fn pending(&self) -> usize {
        self.pending
    }

    pub(super) fn held(&self) -> usize {
        self.held
    }

    /// Adds the directories that a directory lists in front of all others.
    pub(super) fn add_first(
        &mut self,
        listing: &Arc<Listing>,
        fd: Option<&Arc<Held>>,
    ) -> Vec<Child> {
        self.add_before(self.first, NONE, listing, fd)
    }

    /// Adds the directories that a directory lists between two neighbours.
    fn add_before(
        &mut self,
        next: Id,
        previous: Id,
        listing: &Arc<Listing>,
        fd: Option<&Arc<Held>>,
    ) -> Vec<Child> {
        let mut children = Vec::with_capacity(listing.directories());
        let mut last = previous;
        for entry in 0..listing.len() {
            if listing.file_type(entry) != FileType::Directory {
                continue;
            }
            let place = Place {
                parent: Arc::clone(listing),
                fd: fd.cloned(),
                entry,
            };
            let node = self.make(place);
            self.link(node, last, next);
            self.pending += 1;
            last = node;
            children.push(Child {
                entry: u32::try_from(entry).unwrap_or(u32::MAX),
                node,
            });
        }
        children
    }

    fn make(&mut self, place: Place) -> Id {
        let node = Node {
            place: Some(place),
            state: State::Pending,
            previous: NONE,
            next: NONE,
        };
        if let Some(id) = self.free.pop() {
            self.nodes[id as usize] = node;
            return id;
        }
        self.nodes.push(node);
        Id::try_from(self.nodes.len() - 1).expect("fewer than 4 billion directories at a time")
    }

    /// Puts a node between two neighbours, either of which may be none.
    fn link(&mut self, id: Id, previous: Id, next: Id) {
        let node = &mut self.nodes[id as usize];
        (node.previous, node.next) = (previous, next);
        match previous {
            NONE => self.first = id,
            previous => self.nodes[previous as usize].next = id,
        }
        if next != NONE {
            self.nodes[next as usize].previous = id;
        }
    }

    fn unlink(&mut self, id: Id) {
        let (previous, next) = {
            let node = &self.nodes[id as usize];
            (node.previous, node.next)
        };
        match previous {
            NONE => self.first = next,
            previous => self.nodes[previous as usize].next = next,
        }
        if next != NONE {
            self.nodes[next as usize].previous = previous;
        }
    }

    fn release(&mut self, id: Id) {
        let node = &mut self.nodes[id as usize];
        node.state = State::Free;
        node.place = None;
        self.free.push(id);
    }

    /// The first directory that nobody has begun; whoever gets it reads it and [publishes](Self::publish) what came of it.
    pub(super) fn claim(&mut self) -> Option<(Id, Place)> {
        if self.pending == 0 {
            return None;
        }
        let mut id = self.first;
        // Those that are passed by are being read: no more than there are threads.
        while id != NONE {
            let node = &mut self.nodes[id as usize];
            if matches!(node.state, State::Pending) {
                node.state = State::Reading;
                self.pending -= 1;
                return Some((id, node.place.take()?));
            }
            id = node.next;
        }
        None
    }

    /// Gives back what was claimed: its listing and its descriptor, or `None` if it could not be read ahead. What it lists takes its place.
    pub(super) fn publish(&mut self, id: Id, read: Option<(Arc<Listing>, Option<Arc<Held>>)>) {
        if matches!(self.nodes[id as usize].state, State::Abandoned) {
            self.release(id);
            return;
        }
        let (previous, next) = {
            let node = &self.nodes[id as usize];
            (node.previous, node.next)
        };
        self.unlink(id);
        let state = match read {
            None => State::Missed,
            Some((listing, fd)) => {
                self.held += cost(&listing);
                let children = if listing.directories() == 0 {
                    Vec::new()
                } else {
                    self.add_before(next, previous, &listing, fd.as_ref())
                };
                State::Ready(Ready { listing, children })
            }
        };
        self.nodes[id as usize].state = state;
    }

    /// The turn of a directory has come: what there is of it. Unless it is being read, its number is no longer valid afterwards.
    pub(super) fn take(&mut self, id: Id) -> Found {
        let node = &mut self.nodes[id as usize];
        match std::mem::replace(&mut node.state, State::Reading) {
            State::Reading => return Found::Reading,
            State::Ready(ready) => {
                self.held -= cost(&ready.listing);
                self.release(id);
                return Found::Ready(ready);
            }
            State::Pending => {
                self.pending -= 1;
                self.unlink(id);
            }
            State::Missed => {}
            State::Abandoned | State::Free => unreachable!("its turn comes once"),
        }
        self.release(id);
        Found::Not
    }

    /// The turns of these directories, and of all below them, will not come.
    pub(super) fn drop_all(&mut self, children: impl IntoIterator<Item = Child>) {
        let mut left: Vec<Id> = children.into_iter().map(|child| child.node).collect();
        while let Some(id) = left.pop() {
            if id == NONE {
                continue;
            }
            let node = &mut self.nodes[id as usize];
            match std::mem::replace(&mut node.state, State::Abandoned) {
                State::Reading => self.unlink(id),
                State::Pending => {
                    self.pending -= 1;
                    self.unlink(id);
                    self.release(id);
                }
                State::Ready(ready) => {
                    self.held -= cost(&ready.listing);
                    left.extend(ready.children.iter().map(|child| child.node));
                    self.release(id);
                }
                State::Missed => self.release(id),
                State::Abandoned | State::Free => unreachable!("dropped once"),
            }
        }
    }

    /// These directories, and those below them, come next, in this order.
    pub(super) fn put_first(&mut self, children: &[Child]) {
        // From the last to the first, each put in front of those before.
        let mut left: Vec<Id> = children.iter().map(|child| child.node).collect();
        while let Some(id) = left.pop() {
            if id == NONE {
                continue;
            }
            match &self.nodes[id as usize].state {
                State::Pending | State::Reading => {
                    self.unlink(id);
                    self.link(id, NONE, self.first);
                }
                State::Ready(ready) => left.extend(ready.children.iter().map(|child| child.node)),
                _ => {}
            }
        }
    }

    /// Closes the descriptors held for directories that nobody has begun, as the process has run out of them.
    pub(super) fn close_held(&mut self) {
        for node in &mut self.nodes {
            if let Some(place) = &mut node.place {
                place.fd = None;
            }
        }
    }
}

fn cost(listing: &Listing) -> usize {
    listing.len() + DIRECTORY_COST
}

#[cfg(test)]
mod tests;
