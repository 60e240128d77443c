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
