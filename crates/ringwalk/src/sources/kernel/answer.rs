//! Answers to requests for trees, and their buffers.

use crate::sources::wanted::Wanted;
use crate::visit::metadata::Identity;
use ringwalk_sys::sync::lock;
use ringwalk_sys::{PlusLayout, TreeGroup};
use std::ops::Range;
use std::sync::{Arc, Mutex};

/// Bytes of the buffer of a request, for some 1 500 entries. With a megabyte, the most that the
/// module uses, `count` takes 0.5 % fewer instructions.
const TREE_BUFFER: usize = 256 * 1024;

/// The most bytes of requests in progress and of answers in use, of all workers. An answer lives
/// until the walk has come to its last directory, so a deep tree has many. A walk must not fail for
/// lack of memory because of trees.
const MOST_HELD: usize = 8 * TREE_BUFFER;

/// The buffers of requests and answers. All workers share them, because another worker than the one
/// that asked may be the last to use an answer.
#[derive(Debug, Default)]
pub(super) struct TreeBuffers(Mutex<Buffers>);

#[derive(Debug, Default)]
struct Buffers {
    /// Buffers that nobody uses.
    spare: Vec<Vec<u8>>,
    /// Bytes in use.
    held: usize,
}

/// The most buffers that are kept while nobody uses them.
const SPARE: usize = 4;

impl TreeBuffers {
    /// Returns a buffer, or `None` if too much is in use, or if there is no memory.
    pub(super) fn take(pool: &Arc<Self>) -> Option<TreeBuffer> {
        let mut buffers = lock(&pool.0);
        if buffers.held + TREE_BUFFER > MOST_HELD {
            return None;
        }
        let mut bytes = buffers.spare.pop().unwrap_or_default();
        bytes.try_reserve_exact(TREE_BUFFER - bytes.len()).ok()?;
        buffers.held += TREE_BUFFER;
        drop(buffers);
        bytes.resize(TREE_BUFFER, 0);
        Some(TreeBuffer {
            bytes,
            held: TREE_BUFFER,
            pool: Arc::clone(pool),
        })
    }

    /// Takes back so many bytes, with a buffer that may be used again.
    fn give_back(&self, bytes: Vec<u8>, held: usize) {
        let mut buffers = lock(&self.0);
        buffers.held -= held;
        if bytes.len() == TREE_BUFFER && buffers.spare.len() < SPARE {
            buffers.spare.push(bytes);
        }
    }
}

/// A buffer in use.
#[derive(Debug)]
pub(super) struct TreeBuffer {
    pub(super) bytes: Vec<u8>,
    held: usize,
    pool: Arc<TreeBuffers>,
}

impl TreeBuffer {
    /// Moves a short answer to memory of its size. Without memory it stays.
    pub(super) fn shorten(&mut self, filled: usize) {
        let mut exact = Vec::new();
        if filled > self.bytes.len() / 2 || exact.try_reserve_exact(filled).is_err() {
            return;
        }
        exact.extend_from_slice(&self.bytes[..filled]);
        let whole = std::mem::replace(&mut self.bytes, exact);
        self.pool.give_back(whole, self.held - filled);
        self.held = filled;
    }
}

impl Drop for TreeBuffer {
    fn drop(&mut self) {
        self.pool
            .give_back(std::mem::take(&mut self.bytes), self.held);
    }
}

/// What the kernel returned for a directory and for those below it.
#[derive(Debug)]
pub(crate) struct TreeAnswer {
    pub(super) buffer: TreeBuffer,
    /// The groups of subdirectories, sorted by the place of the record that names each.
    pub(super) groups: Vec<TreeGroup>,
    pub(super) layout: PlusLayout,
    pub(super) wanted: Wanted,
}

/// The part of an answer that a batch comes from.
#[derive(Debug)]
pub(crate) struct BatchInTree {
    pub(super) answer: Arc<TreeAnswer>,
    /// Where the records of the batch begin in the answer.
    pub(super) begin: usize,
    /// What the request has read besides this batch: the subdirectories, and their entries. None
    /// for the batches of these.
    pub(crate) others: Others,
}

/// What a request for a tree has read of the directories below the first.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Others {
    pub(crate) directories: u64,
    pub(crate) entries: u64,
}

impl BatchInTree {
    /// Returns the listing of the subdirectory whose record begins at this byte of the batch.
    pub(crate) fn listing(&self, record: usize, identity: Identity) -> Option<TreeListing> {
        let parent = self.begin + record;
        let groups = &self.answer.groups;
        let group = groups
            .binary_search_by_key(&parent, |group| group.parent)
            .ok()?;
        Some(TreeListing {
            records: groups[group].records.clone(),
            answer: Arc::clone(&self.answer),
            identity,
        })
    }
}

/// The entries of a directory that was read together with one above it.
#[derive(Debug)]
pub(crate) struct TreeListing {
    pub(super) answer: Arc<TreeAnswer>,
    pub(super) records: Range<usize>,
    /// The device and inode number of the directory.
    pub(crate) identity: Identity,
}

#[cfg(test)]
mod tests {
    //! Tests of the buffers of requests and answers.

    use super::*;

    fn take(pool: &Arc<TreeBuffers>) -> Option<TreeBuffer> {
        let buffer = TreeBuffers::take(pool)?;
        assert_eq!(buffer.bytes.len(), TREE_BUFFER);
        Some(buffer)
    }

    #[test]
    fn bytes_in_use_are_bounded() {
        let pool = Arc::new(TreeBuffers::default());
        let most = MOST_HELD / TREE_BUFFER;
        let mut used: Vec<_> = std::iter::from_fn(|| take(&pool)).collect();
        assert_eq!(used.len(), most);
        // A ring that failed keeps the bytes.
        used[0].bytes.clear();
        drop(used.remove(0));
        assert!(take(&pool).is_some());
        drop(used);
        assert_eq!(std::iter::from_fn(|| take(&pool)).take(100).count(), 100);
    }

    #[test]
    fn short_answers_hold_what_they_fill() {
        let pool = Arc::new(TreeBuffers::default());
        let short: Vec<_> = (0..20)
            .map(|number| {
                let mut buffer = take(&pool).unwrap();
                buffer.bytes[999] = number;
                buffer.shorten(1000);
                buffer
            })
            .collect();
        for (number, buffer) in short.iter().enumerate() {
            assert_eq!((buffer.bytes.len(), buffer.held), (1000, 1000));
            assert_eq!(usize::from(buffer.bytes[999]), number);
        }
        let mut full = take(&pool).unwrap();
        full.shorten(TREE_BUFFER - 8);
        assert_eq!(full.held, TREE_BUFFER);
        drop((short, full));
        assert_eq!(lock(&pool.0).held, 0);
    }
}
