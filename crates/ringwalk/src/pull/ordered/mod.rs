//! Results in one stable order, whatever the timing of the workers.
//!
//! Workers finish directories in any order. Some callers need the results of a walk with one
//! worker: the lines of `du`, a sorted `find`, hard links charged to the first name. Such a caller
//! leaves items in an [`Ordered`]. The items come out in the order of a depth-first walk. Items of
//! a directory's batches come in the order of reading. All items of a subdirectory come where its
//! [`Place`] was made.
//!
//! An [`Ordered`] is one chain of slots, in the order in which they come out (`chain.rs`). A
//! directory owns at least two slots: one for its next batch, and its end. A batch fills its slot.
//! For each subdirectory it inserts the two slots of that one, and one more for the items after it:
//!
//! ```text
//!  root, before: [next][end]
//!  root, batch 0 with a/ and b/ in it:
//!  [before a/] [a: next][a: end] [between] [b: next][b: end] [after b/] [root: next][root: end]
//!    filled      empty   empty    filled     empty   empty    filled      empty       empty
//!  \comes out/  ^
//!               the head of the chain: nothing passes it until `a` has its batches and is left
//! ```
//!
//! The end of a directory is empty when the directory is found, and is filled when it is left. So
//! the items behind it wait. The worker that fills the head becomes the consumer, and takes out
//! everything that is filled; other workers only add. The lock is held for a handful of list
//! operations a directory, never while the consumer works. Memory holds the items behind a
//! directory that is still being read.
//!
//! The consumer may be slower than the workers, if its output is a pipe that nobody reads for
//! example. Workers then wait for it while the chain has more than `MOST_HELD` items. They wait
//! only while a consumer is at work, never for a directory, which might be their own.

mod chain;

pub use chain::Place;

use chain::Chain;
use ringwalk_sys::sync::{IgnorePoison, lock};
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard};

/// Items in the chain beyond which workers wait for a consumer that is at work. With one line of
/// output for each, these items take some megabytes.
const MOST_HELD: usize = 16_384;

/// The items of one batch of a directory, with the places of subdirectories between them.
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
    /// Adds an item.
    pub fn push(&mut self, item: T) {
        self.last.push(item);
    }

    /// Returns the last item, if one was added since the last subdirectory.
    pub fn last_mut(&mut self) -> Option<&mut T> {
        self.last.last_mut()
    }

    /// Marks where the items of a subdirectory come out. [`Ordered::add_batch`] returns the places
    /// of all subdirectories, in order.
    pub fn subdirectory(&mut self) {
        self.before.push(std::mem::take(&mut self.last));
    }
}

/// Puts items into the order of a depth-first walk, and gives them to a consumer.
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

/// Wakes the workers that wait for the consumer when it panics.
struct NotConsumingOnPanic<'o, T: Send, C: FnMut(T) + Send>(&'o Ordered<T, C>);

impl<T: Send, C: FnMut(T) + Send> Drop for NotConsumingOnPanic<'_, T, C> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.stop_consuming(lock(&self.0.chain));
        }
    }
}

impl<T: Send, C: FnMut(T) + Send> Ordered<T, C> {
    /// Creates an empty order. `consumer` is called with each item in order, by one worker at a
    /// time.
    pub fn new(consumer: C) -> Self {
        let (mut chain, first) = Chain::new();
        let roots = chain.insert_directory(first);
        Self {
            chain: Mutex::new(chain),
            consumer: Mutex::new(consumer),
            held: AtomicUsize::new(0),
            consumed: Condvar::new(),
            roots,
        }
    }

    /// Returns the place of batches without a directory, which hold the roots.
    pub fn roots(&self) -> &Place {
        &self.roots
    }

    /// Adds the items of the batch with these [numbers](crate::Batch::numbers) of a directory.
    /// Returns the places of the subdirectories in it.
    ///
    /// A batch without items need not be added. The later items of its directory then wait for
    /// [`close`](Self::close).
    ///
    /// # Panics
    ///
    /// If a batch with some of these numbers was added before.
    pub fn add_batch(&self, place: &Place, numbers: Range<u64>, line: Line<T>) -> Vec<Place> {
        let Line { before, last } = line;
        let mut places = Vec::with_capacity(before.len());
        let items = before.iter().map(Vec::len).sum::<usize>() + last.len();
        self.held.fetch_add(items, Ordering::Relaxed);
        let mut batches = lock(&place.batches);
        let mut chain = lock(&self.chain);
        let mut slot = chain.slot_of_batch(&mut batches, numbers);
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

    /// Ends the directory of `place` with a last item, when the directory is left. No items of the
    /// directory or below it may come afterwards.
    pub fn close(&self, place: &Place, last: Option<T>) {
        let items: Vec<T> = last.into_iter().collect();
        self.held.fetch_add(items.len(), Ordering::Relaxed);
        let mut batches = lock(&place.batches);
        let mut chain = lock(&self.chain);
        for gap in std::mem::take(&mut batches.overtaken) {
            chain.fill(gap.slot, Vec::new());
        }
        chain.fill(batches.next, Vec::new());
        drop(batches);
        chain.fill(place.end, items);
        self.consume(chain);
    }

    /// Returns the consumer at the end of the walk. In a walk that was stopped some directories are
    /// never left: the items behind those are dropped.
    pub fn finish(self) -> C {
        self.close(&self.roots, None);
        self.consumer.into_inner().ignore_poison()
    }

    /// Becomes the consumer if no other worker is, and the head is filled.
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

    /// Ends the consumer's turn, and wakes the workers that wait for it.
    fn stop_consuming(&self, mut chain: MutexGuard<'_, Chain<T>>) {
        chain.consuming = false;
        // A wake-up is a system call even if nobody sleeps, and this runs for every directory.
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
            chain = self.consumed.wait(chain).ignore_poison();
        }
        chain.waiting -= 1;
    }
}

#[cfg(test)]
mod tests;
