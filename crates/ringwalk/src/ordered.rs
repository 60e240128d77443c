//! Results in one stable order, whatever the timing of the workers.
//!
//! Workers are done with directories in any order. Whoever needs what a walk with one worker would have produced - the
//! lines of `du`, a sorted `find`, hard links charged to whoever comes first - leaves items in an [`Ordered`], and they
//! come out in the order of a depth-first walk: what was left in a directory's batches in the order of reading, with
//! everything of a subdirectory at the place where its [`Place`] was made.
//!
//! It is one chain of slots, in the order in which they will come out. A directory owns at least two: one for its next
//! batch, and its end. A batch fills its slot and inserts, for each subdirectory, that one's two slots and one more for
//! what follows:
//!
//! ```text
//!  root, before: [next][end]
//!  root, batch 0 with a/ and b/ in it:
//!  [items before a/] [a: next][a: end] [items between] [b: next][b: end] [items after b/] [root: next][root: end]
//!       filled          empty  empty       filled         empty  empty       filled           empty       empty
//!  \__ comes out __/      ^
//!                        the head of the line: nothing passes it until `a` has its batches and is left
//! ```
//!
//! A place is made empty when its directory is found and filled when that is left, so what comes after waits. Whoever
//! fills the head becomes the consumer and takes out everything that is filled; others only add. The lock is held for
//! a handful of list operations a directory, never while the consumer works. What is held in memory are the items of
//! directories, not yet consumed, that lie behind one that is still being read.
//!
//! When the consumer is slower than the workers (its output is a pipe that nobody reads), workers that have more than
//! `MOST_HELD` items in the line wait for it; not when they wait for a directory, as that might be their own.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Items in the line beyond which workers wait for a consumer that is at work. It is of the order of directories, so
/// with the lines of each this is some megabytes.
const MOST_HELD: usize = 16_384;

/// Index of a slot in the chain.
type SlotIndex = u32;

/// No slot.
const NONE: SlotIndex = u32::MAX;

/// The place of one directory in the order; kept in its [state](crate::Dir::state).
#[derive(Debug)]
pub struct Place {
    end: SlotIndex,
    batches: Mutex<Batches>,
}

/// The slots of a directory that wait for batches.
#[derive(Debug)]
struct Batches {
    /// The slot of batch number `next_index` and, until it comes, of all after it.
    next: SlotIndex,
    next_index: u32,
    /// Slots of batches before that which others have overtaken.
    overtaken: Vec<(u32, SlotIndex)>,
}

/// What one batch of a directory leaves: items, with the places of subdirectories between them.
#[derive(Debug)]
pub struct Line<T> {
    /// The items before each subdirectory.
    before: Vec<Vec<T>>,
    /// The items after the last.
    last: Vec<T>,
}

impl<T> Default for Line<T> {
    fn default() -> Self {
        Self {
            before: Vec::new(),
            last: Vec::new(),
        }
    }
}

impl<T> Line<T> {
    /// The next item.
    pub fn push(&mut self, item: T) {
        self.last.push(item);
    }

    /// The last item since the last subdirectory, to be added to.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }

    /// Everything of a subdirectory comes here. Its place is among those that [`Ordered::add_batch`] returns, in order.
    pub fn subdirectory(&mut self) {
        self.before.push(std::mem::take(&mut self.last));
    }
}

#[derive(Debug)]
struct Slot<T> {
    next: SlotIndex,
    items: Vec<T>,
    filled: bool,
}

/// The chain, and the free list of its slots.
#[derive(Debug)]
struct Chain<T> {
    slots: Vec<Slot<T>>,
    free: SlotIndex,
    head: SlotIndex,
    consuming: bool,
    /// Workers that wait for the consumer.
    waiting: usize,
}

/// A line of items in the order of a depth-first walk, with a consumer at its head.
pub struct Ordered<T, C> {
    chain: Mutex<Chain<T>>,
    consumer: Mutex<C>,
    held: AtomicUsize,
    consumed: Condvar,
    roots: Place,
}

impl<T, C> std::fmt::Debug for Ordered<T, C> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ordered").finish_non_exhaustive()
    }
}

impl<T> Chain<T> {
    /// A new empty slot after `before`.
    fn insert_after(&mut self, before: SlotIndex) -> SlotIndex {
        let next = self.slots[before as usize].next;
        let slot = Slot {
            next,
            items: Vec::new(),
            filled: false,
        };
        let index = if self.free == NONE {
            self.slots.push(slot);
            u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 directories in flight")
        } else {
            let index = self.free;
            self.free = self.slots[index as usize].next;
            self.slots[index as usize] = slot;
            index
        };
        self.slots[before as usize].next = index;
        index
    }

    /// The two slots of a new directory, after `before`.
    fn insert_directory(&mut self, before: SlotIndex) -> Place {
        let next = self.insert_after(before);
        let end = self.insert_after(next);
        Place {
            end,
            batches: Mutex::new(Batches {
                next,
                next_index: 0,
                overtaken: Vec::new(),
            }),
        }
    }

    /// The slot of batch `index`, which is filled once.
    fn slot_of_batch(&mut self, batches: &mut Batches, index: u32) -> SlotIndex {
        if let Some(at) = batches.overtaken.iter().position(|o| o.0 == index) {
            return batches.overtaken.swap_remove(at).1;
        }
        while batches.next_index < index {
            batches.overtaken.push((batches.next_index, batches.next));
            batches.next = self.insert_after(batches.next);
            batches.next_index += 1;
        }
        let slot = batches.next;
        batches.next = self.insert_after(slot);
        batches.next_index += 1;
        slot
    }

    fn fill(&mut self, index: SlotIndex, items: Vec<T>) {
        let slot = &mut self.slots[index as usize];
        slot.items = items;
        slot.filled = true;
    }

    fn is_head_filled(&self) -> bool {
        self.head != NONE && self.slots[self.head as usize].filled
    }

    /// Takes the head out if it is filled.
    fn take_head(&mut self) -> Option<Vec<T>> {
        if !self.is_head_filled() {
            return None;
        }
        let index = self.head;
        let slot = &mut self.slots[index as usize];
        let items = std::mem::take(&mut slot.items);
        self.head = slot.next;
        slot.next = self.free;
        self.free = index;
        Some(items)
    }
}

/// Lets waiting workers go when the consumer panics: nobody would tell them that it is done.
struct NotConsumingOnPanic<'o, T: Send, C: FnMut(T) + Send>(&'o Ordered<T, C>);

impl<T: Send, C: FnMut(T) + Send> Drop for NotConsumingOnPanic<'_, T, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop_consuming(lock(&self.0.chain));
        }
    }
}

impl<T: Send, C: FnMut(T) + Send> Ordered<T, C> {
    /// An empty line; `consumer` is called with each item in order, by one worker at a time.
    pub fn new(consumer: C) -> Self {
        let mut chain = Chain {
            slots: vec![Slot {
                next: NONE,
                items: Vec::new(),
                filled: true,
            }],
            free: NONE,
            head: 0,
            consuming: false,
            waiting: 0,
        };
        let roots = chain.insert_directory(0);
        Self {
            chain: Mutex::new(chain),
            consumer: Mutex::new(consumer),
            held: AtomicUsize::new(0),
            consumed: Condvar::new(),
            roots,
        }
    }

    /// The place that batches without a directory, those of the roots, belong to.
    pub fn roots(&self) -> &Place {
        &self.roots
    }

    /// Adds what batch number `index` of a directory leaves, and returns the places of the subdirectories in it.
    ///
    /// A batch that leaves nothing need not be added; then what comes after it in its directory waits for
    /// [`close`](Self::close).
    pub fn add_batch(&self, place: &Place, index: u32, line: Line<T>) -> Vec<Place> {
        let Line { before, last } = line;
        let mut places = Vec::with_capacity(before.len());
        let items = before.iter().map(Vec::len).sum::<usize>() + last.len();
        self.held.fetch_add(items, Ordering::Relaxed);
        let mut batches = lock(&place.batches);
        let mut chain = lock(&self.chain);
        let mut slot = chain.slot_of_batch(&mut batches, index);
        drop(batches);
        for items in before {
            chain.fill(slot, items);
            let child = chain.insert_directory(slot);
            slot = chain.insert_after(child.end);
            places.push(child);
        }
        chain.fill(slot, last);
        self.consume(chain);
        self.wait_for_consumer();
        places
    }

    /// The directory of `place` is left, with a last item: nothing of it or below it comes any more.
    pub fn close(&self, place: &Place, last: Option<T>) {
        let items: Vec<T> = last.into_iter().collect();
        self.held.fetch_add(items.len(), Ordering::Relaxed);
        let mut batches = lock(&place.batches);
        let mut chain = lock(&self.chain);
        for (_, slot) in std::mem::take(&mut batches.overtaken) {
            chain.fill(slot, Vec::new());
        }
        chain.fill(batches.next, Vec::new());
        drop(batches);
        chain.fill(place.end, items);
        self.consume(chain);
    }

    /// The walk is over: gives the consumer back. Items behind a directory that was never left, as happens when a walk
    /// is stopped, are dropped.
    pub fn finish(self) -> C {
        self.close(&self.roots, None);
        self.consumer
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Becomes the consumer if nobody is and the head is filled.
    fn consume<'c>(&'c self, mut chain: MutexGuard<'c, Chain<T>>) {
        if chain.consuming || !chain.is_head_filled() {
            return;
        }
        chain.consuming = true;
        loop {
            let mut ready = Vec::new();
            while let Some(items) = chain.take_head() {
                ready.extend(items);
            }
            if ready.is_empty() {
                break;
            }
            drop(chain);
            let taken = ready.len();
            let guard = NotConsumingOnPanic(self);
            let mut consumer = lock(&self.consumer);
            ready.into_iter().for_each(&mut *consumer);
            drop(consumer);
            self.held.fetch_sub(taken, Ordering::Relaxed);
            drop(guard);
            chain = lock(&self.chain);
        }
        self.stop_consuming(chain);
    }

    /// The consumer takes nothing more for now.
    fn stop_consuming(&self, mut chain: MutexGuard<'_, Chain<T>>) {
        chain.consuming = false;
        // Waking is a system call even if nobody sleeps, and this is done for every directory.
        let waiting = chain.waiting > 0;
        drop(chain);
        if waiting {
            self.consumed.notify_all();
        }
    }

    fn wait_for_consumer(&self) {
        if self.held.load(Ordering::Relaxed) <= MOST_HELD {
            return;
        }
        let mut chain = lock(&self.chain);
        chain.waiting += 1;
        while chain.consuming && self.held.load(Ordering::Relaxed) > MOST_HELD {
            chain = self
                .consumed
                .wait(chain)
                .unwrap_or_else(PoisonError::into_inner);
        }
        chain.waiting -= 1;
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
