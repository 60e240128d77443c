//! The directories that are still to be read, in the order in which their turns are expected.
//!
//! ```text
//!  list ──>  a/1 Pending   a/2 Reading   a/3 Pending   b Pending   c Pending
//!                              │ publish
//!                              v
//!  list ──>  a/1 Pending   a/2/x Pending   a/2/y Pending   a/3 Pending ...
//!
//!  a/2: Ready, not in the list any more
//! ```
//!
//! A directory has a node from the listing of its parent until its turn. While the directory is
//! [`Pending`](NodeState::Pending) or being read, its node is in a doubly linked list. The
//! subdirectories found in it take its place there. A thread that looks for work takes the first
//! directory that nobody has begun. Only speed depends on the order: the walk asks for nodes by
//! their numbers.

use super::listing::Listing;
use crate::walk::descriptors::CountedDescriptor;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::sync::Arc;

/// Number of a node.
pub(super) type Id = u32;

/// No node.
pub(super) const NONE: Id = Id::MAX;

/// The cost of a directory beyond its entries, counted in entries.
const DIRECTORY_COST: usize = 8;

/// A directory below one that has been listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Child {
    /// The index of its entry in the parent.
    pub(super) entry: u32,
    pub(super) node: Id,
}

/// A directory that has been read ahead.
#[derive(Debug)]
pub(super) struct ReadyListing {
    pub(super) listing: Arc<Listing>,
    pub(super) children: Vec<Child>,
}

#[derive(Debug)]
enum NodeState {
    /// Nobody has begun.
    Pending,
    /// A thread, or the walk, reads it.
    Reading,
    Ready(ReadyListing),
    /// It could not be read ahead. The walk is to read it, and to report the error.
    Missed,
    /// Its turn will not come, but a thread still reads it.
    Abandoned,
    Free,
}

/// A directory to read, as an entry of its parent.
#[derive(Clone, Debug)]
pub(super) struct QueuedDirectory {
    pub(super) parent: Arc<Listing>,
    /// The open parent, if there were descriptors to spare.
    pub(super) fd: Option<Arc<Held>>,
    pub(super) entry: usize,
}

/// An open directory, counted in the allowance.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) fd: DirectoryFd,
    /// Counts the descriptor until this is dropped.
    pub(super) _counted: CountedDescriptor,
}

#[derive(Debug)]
struct Node {
    place: Option<QueuedDirectory>,
    state: NodeState,
    previous: Id,
    next: Id,
}

/// What is known of a directory when its turn comes.
#[derive(Debug)]
pub(super) enum Found {
    Ready(ReadyListing),
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
    /// The number of pending directories.
    pending: usize,
    /// The cost of all directories that were read ahead and are held, in entries.
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

    /// Adds the subdirectories of a listing in front of all others.
    pub(super) fn add_first(
        &mut self,
        listing: &Arc<Listing>,
        fd: Option<&Arc<Held>>,
    ) -> Vec<Child> {
        self.add_before(self.first, NONE, listing, fd)
    }

    /// Adds the subdirectories of a listing between two neighbours.
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
            let place = QueuedDirectory {
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

    fn make(&mut self, place: QueuedDirectory) -> Id {
        let node = Node {
            place: Some(place),
            state: NodeState::Pending,
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
        node.state = NodeState::Free;
        node.place = None;
        self.free.push(id);
    }

    /// Claims the first directory that nobody has begun. The caller reads it and
    /// [publishes](Self::publish) the result.
    pub(super) fn claim(&mut self) -> Option<(Id, QueuedDirectory)> {
        if self.pending == 0 {
            return None;
        }
        let mut id = self.first;
        // The nodes that are skipped are being read: there are no more of them than threads.
        while id != NONE {
            let node = &mut self.nodes[id as usize];
            if matches!(node.state, NodeState::Pending) {
                node.state = NodeState::Reading;
                self.pending -= 1;
                return Some((id, node.place.take()?));
            }
            id = node.next;
        }
        None
    }

    /// Gives back a claimed directory: its listing and its descriptor, or `None` if it could not be
    /// read ahead. Its subdirectories take its place.
    pub(super) fn publish(&mut self, id: Id, read: Option<(Arc<Listing>, Option<Arc<Held>>)>) {
        if matches!(self.nodes[id as usize].state, NodeState::Abandoned) {
            self.release(id);
            return;
        }
        let (previous, next) = {
            let node = &self.nodes[id as usize];
            (node.previous, node.next)
        };
        self.unlink(id);
        let state = match read {
            None => NodeState::Missed,
            Some((listing, fd)) => {
                self.held += cost(&listing);
                let children = if listing.directories() == 0 {
                    Vec::new()
                } else {
                    self.add_before(next, previous, &listing, fd.as_ref())
                };
                NodeState::Ready(ReadyListing { listing, children })
            }
        };
        self.nodes[id as usize].state = state;
    }

    /// Takes a directory whose turn has come out of the queue. Unless it is being read, its number
    /// is no longer valid afterwards.
    pub(super) fn take(&mut self, id: Id) -> Found {
        let node = &mut self.nodes[id as usize];
        match std::mem::replace(&mut node.state, NodeState::Reading) {
            NodeState::Reading => return Found::Reading,
            NodeState::Ready(ready) => {
                self.held -= cost(&ready.listing);
                self.release(id);
                return Found::Ready(ready);
            }
            NodeState::Pending => {
                self.pending -= 1;
                self.unlink(id);
            }
            NodeState::Missed => {}
            NodeState::Abandoned | NodeState::Free => unreachable!("its turn comes once"),
        }
        self.release(id);
        Found::Not
    }

    /// Drops these directories and all below them, whose turns will not come.
    pub(super) fn drop_all(&mut self, children: impl IntoIterator<Item = Child>) {
        let mut left: Vec<Id> = children.into_iter().map(|child| child.node).collect();
        while let Some(id) = left.pop() {
            if id == NONE {
                continue;
            }
            let node = &mut self.nodes[id as usize];
            match std::mem::replace(&mut node.state, NodeState::Abandoned) {
                NodeState::Reading => self.unlink(id),
                NodeState::Pending => {
                    self.pending -= 1;
                    self.unlink(id);
                    self.release(id);
                }
                NodeState::Ready(ready) => {
                    self.held -= cost(&ready.listing);
                    left.extend(ready.children.iter().map(|child| child.node));
                    self.release(id);
                }
                NodeState::Missed => self.release(id),
                NodeState::Abandoned | NodeState::Free => unreachable!("dropped once"),
            }
        }
    }

    /// Moves these directories, and those below them, to the front, in this order.
    pub(super) fn put_first(&mut self, children: &[Child]) {
        // From the last to the first, each is put in front of those before.
        let mut left: Vec<Id> = children.iter().map(|child| child.node).collect();
        while let Some(id) = left.pop() {
            if id == NONE {
                continue;
            }
            match &self.nodes[id as usize].state {
                NodeState::Pending | NodeState::Reading => {
                    self.unlink(id);
                    self.link(id, NONE, self.first);
                }
                NodeState::Ready(ready) => {
                    left.extend(ready.children.iter().map(|child| child.node));
                }
                NodeState::Missed | NodeState::Abandoned | NodeState::Free => {}
            }
        }
    }

    /// Closes the descriptors that are held for directories that nobody has begun, because the
    /// process has run out of them.
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
mod tests {
    use super::super::listing::ListingBuilder;
    use super::*;
    use crate::system::time_stamps::Moment;
    use proptest::prelude::*;

    /// Returns a listing with a file and `directories` directories, called 0, 1 and so on.
    fn listing(path: &str, directories: usize) -> Arc<Listing> {
        let mut builder = ListingBuilder::default();
        builder.push(b"file", FileType::Regular, 1);
        for number in 0..directories {
            let name = number.to_string();
            builder.push(name.as_bytes(), FileType::Directory, 2);
        }
        builder.finish(None, path.as_bytes(), 0, (1, 1), Moment::now())
    }

    fn path(place: &QueuedDirectory) -> String {
        let mut path = Vec::new();
        place.parent.path_of(place.entry, &mut path);
        String::from_utf8(path).unwrap()
    }

    /// Claims all pending directories, in order.
    fn claim_all(queue: &mut Queue) -> Vec<(Id, String)> {
        std::iter::from_fn(|| queue.claim())
            .map(|(id, place)| (id, path(&place)))
            .collect()
    }

    fn paths(claimed: &[(Id, String)]) -> Vec<&str> {
        claimed.iter().map(|(_, path)| &**path).collect()
    }

    #[test]
    fn what_is_found_takes_the_place_of_where_it_was_found() {
        let mut queue = Queue::default();
        let children = queue.add_first(&listing("", 3), None);
        assert_eq!((children.len(), children[1].entry), (3, 2));
        let (_, first) = queue.claim().unwrap();
        let (second, _) = queue.claim().unwrap();
        assert_eq!(path(&first), "0");
        queue.publish(second, Some((listing("1", 2), None)));
        assert_eq!(paths(&claim_all(&mut queue)), ["1/0", "1/1", "2"]);
        assert_eq!(queue.pending(), 0);
    }

    #[test]
    fn each_turn_finds_what_has_become_of_it() {
        let mut queue = Queue::default();
        let children = queue.add_first(&listing("", 4), None);
        let nodes: Vec<_> = children.iter().map(|child| child.node).collect();
        let claimed: Vec<_> = (0..3).map(|_| queue.claim().unwrap().0).collect();
        assert_eq!(claimed, nodes[..3]);
        queue.publish(nodes[0], Some((listing("0", 1), None)));
        queue.publish(nodes[1], None);
        assert_eq!(queue.held(), 2 + DIRECTORY_COST);
        let Found::Ready(ready) = queue.take(nodes[0]) else {
            panic!("it has been read")
        };
        assert_eq!((ready.listing.path(), ready.children.len()), (&b"0"[..], 1));
        assert!(matches!(queue.take(nodes[1]), Found::Not));
        assert!(matches!(queue.take(nodes[2]), Found::Reading));
        assert!(matches!(queue.take(nodes[3]), Found::Not));
        assert_eq!((queue.held(), queue.pending()), (0, 1));
    }

    #[test]
    fn what_is_dropped_is_not_read_and_what_is_being_read_is_thrown_away() {
        let mut queue = Queue::default();
        let children = queue.add_first(&listing("", 4), None);
        let (first, _) = queue.claim().unwrap();
        let (second, _) = queue.claim().unwrap();
        queue.publish(first, Some((listing("0", 5), None)));
        queue.drop_all(children[..3].iter().copied());
        assert_eq!((queue.held(), queue.pending()), (0, 1));
        queue.publish(second, Some((listing("1", 5), None)));
        assert_eq!((queue.held(), queue.pending()), (0, 1));
        assert_eq!(paths(&claim_all(&mut queue)), ["3"]);
        // All nodes are free but the one that was just claimed.
        assert_eq!(queue.free.len() + 1, queue.nodes.len());
    }

    #[test]
    fn another_order_holds_for_what_is_below_too() {
        let mut queue = Queue::default();
        queue.add_first(&listing("later", 1), None);
        let mut children = queue.add_first(&listing("", 3), None);
        let (first, _) = queue.claim().unwrap();
        queue.publish(first, Some((listing("0", 2), None)));
        let (below, _) = queue.claim().unwrap();
        queue.publish(below, Some((listing("0/0", 1), None)));
        children.reverse();
        queue.put_first(&children);
        assert_eq!(
            paths(&claim_all(&mut queue)),
            ["2", "1", "0/0/0", "0/1", "later/0"]
        );
    }

    proptest! {
        /// Whatever is done, the counts match the nodes, and no node is lost or claimed twice.
        #[test]
        fn counts_hold(steps in proptest::collection::vec((0u8..6, any::<prop::sample::Index>(), 0usize..4), 0..120)) {
            let mut queue = Queue::default();
            let mut waiting = queue.add_first(&listing("", 3), None);
            let mut reading: Vec<Id> = Vec::new();
            for (step, index, directories) in steps {
                match step {
                    0 | 1 => {
                        if let Some((id, _)) = queue.claim() {
                            prop_assert!(!reading.contains(&id));
                            reading.push(id);
                        }
                    }
                    2 if !reading.is_empty() => {
                        let id = reading.swap_remove(index.index(reading.len()));
                        queue.publish(id, (directories > 0).then(|| (listing("x", directories - 1), None)));
                    }
                    3 if !waiting.is_empty() => {
                        let at = index.index(waiting.len());
                        if let Found::Ready(ready) = queue.take(waiting[at].node) {
                            waiting.extend(ready.children);
                        } else if reading.contains(&waiting[at].node) {
                            continue;
                        }
                        waiting.swap_remove(at);
                    }
                    4 if !waiting.is_empty() => {
                        let child = waiting.swap_remove(index.index(waiting.len()));
                        queue.drop_all([child]);
                    }
                    5 => {
                        waiting.reverse();
                        queue.put_first(&waiting);
                    }
                    _ => {}
                }
                let mut listed = 0;
                let (mut id, mut previous) = (queue.first, NONE);
                while id != NONE {
                    let node = &queue.nodes[id as usize];
                    prop_assert_eq!(node.previous, previous);
                    listed += usize::from(matches!(node.state, NodeState::Pending));
                    (previous, id) = (id, node.next);
                }
                prop_assert_eq!(listed, queue.pending());
            }
            for id in reading {
                queue.publish(id, None);
            }
            queue.drop_all(waiting);
            prop_assert_eq!((queue.held(), queue.pending(), queue.first), (0, 0, NONE));
            prop_assert_eq!(queue.free.len(), queue.nodes.len());
        }
    }
}
