//! Whole trees in one request (READTREE), while the kernel answers from memory.
//!
//! The first group of an answer is the batch of the directory that was asked for. The others wait
//! in the answer until the walk comes to their directories, which then need not be opened.
//!
//! ```text
//!   call --> READTREE --> TreeAnswer: group 0 --> RawBatch of this directory, with `below`
//!                            |                       | descend: has this entry a group?
//!                            +-- group n <-- TreeListing in the task of a subdirectory
//! ```
//!
//! A request asks for as much as one buffer holds, so one worker would wait for many files in turn
//! where they are not in memory. So a worker begins with single directories, and asks for trees
//! only after some of them were fast. After a slow tree it begins again.

use crate::sources::raw_batch::RawBatch;
use crate::sources::wanted::Wanted;
use crate::visit::metadata::Fields;
use crate::walk::options::Options;
use crate::walk::settings::{Follow, Order};
use ringwalk_sys::{DirentError, PlusLayout, TreeBounds, TreeGroup};
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

use super::answer::{BatchInTree, Others, TreeAnswer, TreeBuffer, TreeBuffers, TreeListing};
use super::decode::decode_tree;
use super::mode::is_slow;

/// The kernel stops after so many milliseconds. From cache it fills the buffer in less.
const MILLISECONDS: u32 = 20;

/// How many single directories must be fast, one after the other, before trees are asked for.
const FAST_IN_A_ROW: u32 = 8;

impl TreeListing {
    /// Fills a batch with the entries. Returns true if all have their metadata.
    ///
    /// # Errors
    ///
    /// If the kernel returned bytes that are not records.
    pub(crate) fn fill(self, batch: &mut RawBatch) -> Result<bool, DirentError> {
        fill(batch, self.answer, self.records, Others::default())
    }
}

fn fill(
    batch: &mut RawBatch,
    answer: Arc<TreeAnswer>,
    records: Range<usize>,
    others: Others,
) -> Result<bool, DirentError> {
    batch.clear();
    let bytes = &answer.buffer.bytes[records.clone()];
    batch.records.reserve(bytes.len());
    let copied = batch.records.fill_with(|room| {
        room[..bytes.len()].copy_from_slice(bytes);
        Ok::<_, DirentError>(bytes.len())
    })?;
    debug_assert_eq!(copied, bytes.len());
    let complete = decode_tree(batch, &answer.layout, answer.wanted)?;
    let begin = records.start;
    batch.below = (!answer.groups.is_empty()).then_some(BatchInTree {
        answer,
        begin,
        others,
    });
    Ok(complete)
}

/// A request for a tree in progress.
pub(super) struct TreeRequest {
    pub(super) bounds: TreeBounds,
    pub(super) buffer: TreeBuffer,
    begin: Instant,
}

/// Decides when trees are asked for.
#[derive(Debug)]
pub(super) struct Trees {
    layout: PlusLayout,
    wanted: Wanted,
    max_depth: usize,
    /// Single directories that were fast, one after the other.
    fast: u32,
    /// Asks for trees from the beginning, and also after slow ones.
    #[cfg(test)]
    pub(super) always: bool,
    buffers: Arc<TreeBuffers>,
}

impl Trees {
    /// Returns `None` for a walk that may not read directories before it comes to them, or that
    /// needs more of them than their records.
    pub(super) fn of(
        options: &Options,
        layout: PlusLayout,
        wanted: Wanted,
        buffers: &Arc<TreeBuffers>,
    ) -> Option<Self> {
        let plain = options.descends_everywhere
            && options.filter.is_none()
            && options.order != Order::Name
            && options.follow != Follow::Always
            && !options.preorder
            && !options.parents_open
            && options.buffer_size.is_none()
            && !options.is_partial()
            && options.in_flight.is_none()
            && options.entries_per_second.is_none();
        // Records lack these; other calls for the open directory and for its entries return them.
        let others = Fields::MNT_ID | Fields::PROJECT_ID;
        (plain && !wanted.fields().intersects(others)).then(|| Self {
            layout,
            wanted,
            max_depth: options.max_depth,
            fast: 0,
            #[cfg(test)]
            always: false,
            buffers: Arc::clone(buffers),
        })
    }

    /// Returns the layout of the records.
    pub(super) fn layout(&self) -> &PlusLayout {
        &self.layout
    }

    fn is_ready(&self) -> bool {
        #[cfg(test)]
        if self.always {
            return true;
        }
        self.fast >= FAST_IN_A_ROW
    }

    /// Returns the request for a directory of this depth, if a tree is to be asked for.
    pub(super) fn request(&self, depth: usize) -> Option<TreeRequest> {
        let levels = self.max_depth.saturating_sub(1).saturating_sub(depth);
        if !self.is_ready() || levels == 0 {
            return None;
        }
        Some(TreeRequest {
            bounds: TreeBounds {
                depth: u32::try_from(levels).unwrap_or(u32::MAX),
                milliseconds: MILLISECONDS,
            },
            buffer: TreeBuffers::take(&self.buffers)?,
            begin: Instant::now(),
        })
    }

    /// Returns the time at which a single directory is opened, if it is to be timed.
    pub(super) fn begin(&self) -> Option<Instant> {
        (!self.is_ready()).then(Instant::now)
    }

    /// Notes that a single directory was opened and read since `begin`.
    pub(super) fn read_one(&mut self, begin: Option<Instant>, entries: usize) {
        let Some(begin) = begin else { return };
        if is_slow(begin, 1, entries) {
            self.fast = 0;
        } else {
            self.fast += 1;
        }
    }

    /// Notes that the kernel refused a tree.
    pub(super) fn refused(&mut self) {
        self.fast = 0;
    }

    /// Takes the answer of a request, whose first `filled` bytes the kernel has written. Fills
    /// `batch` with the entries of the first group. Returns true if all have their metadata.
    ///
    /// # Errors
    ///
    /// If the bytes are not what the kernel should return.
    pub(super) fn answered(
        &mut self,
        request: TreeRequest,
        filled: usize,
        batch: &mut RawBatch,
    ) -> Result<bool, DirentError> {
        let TreeRequest {
            mut buffer, begin, ..
        } = request;
        let mut groups = TreeGroup::all_of(&buffer.bytes[..filled])?;
        let read = groups.len();
        let entries = groups.iter().map(|group| group.entries).sum();
        if is_slow(begin, read, entries) {
            self.fast = 0;
        }
        if groups.is_empty() {
            return Err(DirentError::Truncated);
        }
        let first = groups.remove(0);
        // Directories that failed are opened by the walk, which reports the error.
        groups.retain(|group| !group.failed && group.end);
        groups.sort_unstable_by_key(|group| group.parent);
        let others = Others {
            directories: read as u64 - 1,
            entries: entries.saturating_sub(first.entries) as u64,
        };
        if !groups.is_empty() {
            buffer.shorten(filled);
        }
        let answer = Arc::new(TreeAnswer {
            buffer,
            groups,
            layout: self.layout,
            wanted: self.wanted,
        });
        fill(batch, answer, first.records, others)
    }
}
