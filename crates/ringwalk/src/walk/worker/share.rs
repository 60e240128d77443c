//! Batches cut into parts: for workers that have nothing to do, and for walks in preorder.

use super::Worker;
use crate::sources::raw_batch::RawBatch;
use crate::visit::dir::Dir;
use crate::visit::visitor::Visitor;
use crate::walk::descriptors::Descriptors;
use crate::walk::options::{Follow, Order};
use crate::walk::scheduler::{Part, Task};
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::sync::Arc;

/// A batch is not cut into parts smaller than this: cutting costs about as much as one `statx` from
/// cache.
const LEAST_PART: usize = 32;

impl<V: Visitor> Worker<'_, V> {
    /// Cuts the batch into parts for workers that have nothing to do, if its entries need metadata.
    /// Returns how many parts were given away.
    pub(super) fn share(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<DirectoryFd>,
        index: u32,
        goes_on: bool,
        metadata: bool,
    ) -> u32 {
        let entries = self.raw.records.len();
        if metadata || entries < 2 * LEAST_PART || self.shared.options.order == Order::Name {
            return 0;
        }
        let descending = dir.depth() + 1 < self.shared.options.max_depth;
        if !self.shared.entry_fields.needs_any(&self.raw, descending) {
            return 0;
        }
        let others = self
            .available_workers()
            .saturating_sub(usize::from(goes_on));
        let parts = (others + 1).min(entries / LEAST_PART);
        let size = entries.div_ceil(parts.max(1));
        let mut given = 0_usize;
        // Pushed from the last to the first, so that the own deque returns them in order.
        for part in (1..parts).rev() {
            if part * size >= self.raw.records.len() {
                continue;
            }
            let raw = self.raw.split_off(part * size);
            dir.add_pending(1);
            self.shared.descriptors.expect_children(dir, 1, Some(fd));
            let part = Part {
                dir: Arc::clone(dir),
                raw,
                metadata: false,
                index: index + u32::try_from(part).unwrap_or(u32::MAX),
            };
            self.deque.push(Task::Part(Box::new(part)));
            given += 1;
        }
        if given > 0 {
            self.pushed(given);
        }
        u32::try_from(parts.max(1) - 1).unwrap_or(0)
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

    /// Pushes the parts that [`cut`](Self::cut) has returned of batch number `index`.
    pub(super) fn push_cuts(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        index: u32,
        metadata: bool,
        cuts: Vec<RawBatch>,
    ) {
        let parts = cuts.len();
        if parts == 0 {
            return;
        }
        dir.add_pending(parts);
        let descriptors = &self.shared.descriptors;
        descriptors.expect_children(dir, parts, fd);
        for (behind, raw) in cuts.into_iter().enumerate() {
            let part = Part {
                dir: Arc::clone(dir),
                raw,
                metadata,
                index: index + u32::try_from(parts - behind).unwrap_or(u32::MAX),
            };
            self.deque.push(Task::Part(Box::new(part)));
        }
        self.pushed(parts);
    }

    /// Visits the entries of a part. Its directory is opened only if it is needed and not held.
    pub(super) fn visit_part(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        raw: RawBatch,
        index: u32,
        metadata: bool,
    ) {
        let fd = Descriptors::held(dir);
        // The worker keeps its own buffer, which is larger.
        let own = std::mem::replace(&mut self.raw, raw);
        let begin = self.meter.begin();
        self.visit(dir, fd.as_ref(), index, metadata, 0, begin);
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
