//! Batches cut into parts: for workers that have nothing to do, and for walks in preorder.

use super::Worker;
use crate::sources::raw_batch::RawBatch;
use crate::visit::batch::cut_numbers;
use crate::visit::dir::Dir;
use crate::visit::visitor::Visitor;
use crate::walk::descriptors::Descriptors;
use crate::walk::scheduler::{Part, Task};
use crate::walk::settings::{Follow, Order};
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::ops::Range;
use std::sync::Arc;

/// A batch is not cut into parts smaller than this while calls return from cache: cutting costs
/// about as much as one `statx` from cache.
const LEAST_PART: usize = 32;

/// The smallest part while calls wait. A part costs about 1 us, and such a call 20 us or more.
const LEAST_WAITING_PART: usize = 2;

/// Entries of one batch. Parts of them may be given to other workers.
pub(super) struct Divisible<'a, S> {
    pub(super) dir: &'a Arc<Dir<S>>,
    /// The open directory, if it is open.
    pub(super) fd: Option<&'a Arc<DirectoryFd>>,
    pub(super) raw: &'a mut RawBatch,
    pub(super) numbers: &'a mut Range<u64>,
}

impl<S> Divisible<'_, S> {
    /// Returns the same entries, borrowed for a shorter time.
    pub(super) fn again(&mut self) -> Divisible<'_, S> {
        Divisible {
            dir: self.dir,
            fd: self.fd,
            raw: self.raw,
            numbers: self.numbers,
        }
    }
}

impl<V: Visitor> Worker<'_, V> {
    /// Cuts the batch into parts for workers that have nothing to do, if its entries need metadata.
    /// Returns the numbers of the entries that stay.
    pub(super) fn share(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<DirectoryFd>,
        mut numbers: Range<u64>,
        goes_on: bool,
        metadata: bool,
    ) -> Range<u64> {
        let entries = self.raw.records.len();
        if metadata || entries < 2 * LEAST_PART || !self.may_divide() {
            return numbers;
        }
        let descending = dir.depth() + 1 < self.shared.options.max_depth;
        if !self
            .shared
            .entry_fields
            .needs_any(&self.raw.records, descending)
        {
            return numbers;
        }
        let others = self
            .available_workers()
            .saturating_sub(usize::from(goes_on));
        let parts = (others + 1).min(entries / LEAST_PART);
        let mut raw = std::mem::take(&mut self.raw);
        let divisible = Divisible {
            dir,
            fd: Some(fd),
            raw: &mut raw,
            numbers: &mut numbers,
        };
        self.give_away(divisible, 0, parts);
        self.raw = raw;
        numbers
    }

    /// Cuts off the entries from `done` on, because calls wait: parts for workers that have nothing
    /// to do, or all of the entries if this worker is surplus or leaves them over.
    pub(super) fn share_rest(&mut self, divisible: Divisible<'_, V::State>, done: usize) {
        let entries = divisible.raw.records.len() - done;
        if entries == 0 {
            return;
        }
        if self.is_surplus() || self.leaves_names() {
            let part = self.cut_off(divisible, done);
            self.deque.push(part);
            return self.pushed(1);
        }
        let parts = (self.available_workers() + 1).min(entries / LEAST_WAITING_PART);
        self.give_away(divisible, done, parts);
    }

    /// Returns true if batches may be cut anywhere, and their parts be visited in any order.
    pub(super) fn may_divide(&self) -> bool {
        let options = &self.shared.options;
        options.order != Order::Name && !options.preorder
    }

    /// Divides the entries from `done` on into so many parts. Keeps the first, and gives away the
    /// others.
    fn give_away(&mut self, mut divisible: Divisible<'_, V::State>, done: usize, parts: usize) {
        let entries = divisible.raw.records.len() - done;
        let size = entries.div_ceil(parts.max(1)).max(1);
        let mut given = 0_usize;
        // Pushed from the last to the first, so that the own deque returns them in order.
        for part in (1..entries.div_ceil(size)).rev() {
            let part = self.cut_off(divisible.again(), done + part * size);
            self.deque.push(part);
            given += 1;
        }
        if given > 0 {
            self.pushed(given);
        }
    }

    /// Makes a task of the entries from `start` on.
    fn cut_off(&self, divisible: Divisible<'_, V::State>, start: usize) -> Task<V::State> {
        let Divisible {
            dir,
            fd,
            raw,
            numbers,
        } = divisible;
        let raw = raw.split_off(start);
        let numbers = cut_numbers(numbers, start);
        self.part(dir, fd, raw, numbers, false)
    }

    /// Makes a task of a part of a batch.
    fn part(
        &self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        raw: RawBatch,
        numbers: Range<u64>,
        metadata: bool,
    ) -> Task<V::State> {
        dir.add_pending(1);
        self.shared.descriptors.expect_children(dir, 1, fd);
        Task::Part(Box::new(Part {
            dir: Arc::clone(dir),
            raw,
            metadata,
            numbers,
        }))
    }

    /// Cuts the batch behind every entry that may be a directory, for a walk in preorder. Returns
    /// the parts behind the first, from the last on; in this order each entry is copied once.
    pub(super) fn cut(&mut self) -> Vec<RawBatch> {
        let follow = self.shared.options.follow == Follow::Always;
        let mut parts = Vec::new();
        for index in (1..self.raw.records.len()).rev() {
            let may_descend = match self.raw.records.file_type(index - 1) {
                FileType::Directory | FileType::Unknown => true,
                FileType::Symlink => follow,
                FileType::Fifo
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Regular
                | FileType::Socket => false,
            };
            if may_descend {
                parts.push(self.raw.split_off(index));
            }
        }
        parts
    }

    /// Pushes the parts that [`cut`](Self::cut) has returned of a batch with these numbers. Returns
    /// the numbers of the entries before them.
    pub(super) fn push_cuts(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        mut numbers: Range<u64>,
        metadata: bool,
        cuts: Vec<RawBatch>,
    ) -> Range<u64> {
        let parts = cuts.len();
        if parts == 0 {
            return numbers;
        }
        let entries = |raw: &RawBatch| raw.records.len();
        let mut start = entries(&self.raw) + cuts.iter().map(entries).sum::<usize>();
        for raw in cuts {
            start -= raw.records.len();
            let behind = cut_numbers(&mut numbers, start);
            let part = self.part(dir, fd, raw, behind, metadata);
            self.deque.push(part);
        }
        self.pushed(parts);
        numbers
    }

    /// Visits the entries of a part. Its directory is opened only if it is needed and not held.
    pub(super) fn visit_part(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        raw: RawBatch,
        numbers: Range<u64>,
        metadata: bool,
    ) {
        let fd = Descriptors::held(dir);
        // The worker keeps its own buffer, which is larger.
        let own = std::mem::replace(&mut self.raw, raw);
        // With the metadata there are no calls to measure.
        let begin = if metadata { None } else { self.meter.begin() };
        self.visit(dir, fd.as_ref(), numbers, metadata, 0, begin);
        self.raw = own;
    }

    /// Returns how many other workers would begin at once if there were work.
    pub(super) fn available_workers(&self) -> usize {
        let idle = self.shared.scheduler.idle();
        if idle == 0 && self.shared.concurrency.has_waited() {
            let target = self.shared.concurrency.target();
            return target.saturating_sub(self.shared.monitor.workers());
        }
        idle
    }
}
