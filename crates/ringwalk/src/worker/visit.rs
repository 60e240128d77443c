//! What happens to the entries of a batch: shared with idle workers, asked for metadata, visited, descended into.

use super::Worker;
use super::list::Unopened;
use crate::batch::{Batch, Candidate, Descent};
use crate::descriptor::Descriptors;
use crate::dir::Dir;
use crate::options::{Follow, Order};
use crate::raw_batch::{Known, RawBatch};
use crate::scheduler::{Part, Task};
use crate::stat::{Place, stat_elsewhere, stat_entries, stat_first};
use crate::visitor::{Flow, Visitor};
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::cell::{Cell, OnceCell};
use std::sync::Arc;
use std::time::Instant;

/// A batch is not cut into parts smaller than this: cutting costs about what a `statx` from cache does.
const LEAST_PART: usize = 32;

/// Entries of a large batch that are asked about before the others, while it may turn out that reading ahead helps.
const FIRST_STATS: usize = 8;

impl<V: Visitor> Worker<'_, V> {
    /// Cuts the batch into parts for workers that have nothing to do, if its entries need metadata. Returns how many
    /// were given away.
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
        let takers = self.takers().saturating_sub(usize::from(goes_on));
        let parts = (takers + 1).min(entries / LEAST_PART);
        let size = entries.div_ceil(parts.max(1));
        let mut given = 0_usize;
        // From the last to the first, so that the own deque gives them back in order.
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

    /// Cuts the batch behind every entry that may be a directory, for a walk in preorder. The parts behind the first, from
    /// the last on: each is copied once.
    pub(super) fn cut(&mut self) -> Vec<RawBatch> {
        let follow = self.shared.options.follow == Follow::Always;
        let mut parts = Vec::new();
        for index in (1..self.raw.records.len()).rev() {
            let may_descend = match self.raw.records.file_type(index - 1) {
                FileType::Directory | FileType::Unknown => true,
                FileType::Symlink => follow,
                _ => false,
            };
            if may_descend {
                parts.push(self.raw.split_off(index));
            }
        }
        parts
    }

    /// Pushes what [`cut`](Self::cut) has given of batch number `index`.
    pub(super) fn push_cuts(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: &Arc<DirectoryFd>,
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
        descriptors.expect_children(dir, parts, Some(fd));
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

    /// Visits the entries of a part. Its directory is opened only if somebody needs it and it is
    /// not held.
    pub(super) fn visit_part(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        raw: RawBatch,
        index: u32,
        metadata: bool,
    ) {
        let fd = Descriptors::held(dir);
        // The worker's own buffer is larger and is kept.
        let own = std::mem::replace(&mut self.raw, raw);
        let begin = self.meter.begin();
        self.visit(dir, fd.as_ref(), index, metadata, 0, begin);
        self.raw = own;
    }

    /// How many other workers would begin at once if there were work.
    pub(super) fn takers(&self) -> usize {
        let idle = self.shared.scheduler.idle();
        if idle == 0 && self.shared.regime.has_waited() {
            let target = self.shared.regime.target();
            return target.saturating_sub(self.shared.monitor.workers());
        }
        idle
    }

    /// Metadata, visitor, and the subdirectories that follow from them.
    ///
    /// `fd`: the open directory; `None` if it was read without, or closed meanwhile.
    pub(super) fn visit(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        index: u32,
        metadata: bool,
        calls: u64,
        begin: Option<Instant>,
    ) {
        let options = &self.shared.options;
        let depth = dir.depth() + 1;
        let descending = depth < options.max_depth;
        let mut raw = std::mem::take(&mut self.raw);
        let unopened;
        let place = if let Some(fd) = fd {
            Place::Directory(fd)
        } else {
            unopened = Unopened {
                dir,
                descriptors: &self.shared.descriptors,
                fd: OnceCell::new(),
            };
            Place::Unopened(&unopened)
        };
        let (mut calls, mut begin) = (calls, begin);
        if !metadata {
            let watching = begin.is_some() && self.shared.prefetch.is_watching();
            let large = raw.records.len() > 2 * FIRST_STATS;
            if watching && large {
                // Where each of many calls waits, that is found out before all have been made. A volume tells by the time
                // that it took to list the directory.
                if self.shared.bulk.ground_of(dir).is_none() {
                    let wanted = self.shared.entry_fields;
                    calls += stat_first(&mut raw, FIRST_STATS, place, wanted, descending);
                }
                self.meter(calls, begin, dir, fd.map(|fd| &**fd));
                calls = 0;
                begin = self.meter.begin();
            }
            calls += self.stat(dir, &mut raw, place, descending);
        }
        self.meter(calls, begin, dir, fd.map(|fd| &**fd));
        let descents = self.descents_of(&raw, Some(dir), depth);
        let batch = Batch {
            raw: &raw,
            place,
            dir: Some(dir),
            index,
            descents: &descents,
            first_root: 0,
        };
        self.report_failures(&batch);
        let flow = self.call_visitor(&batch);
        if flow == Flow::Continue {
            self.descend(dir, fd, &raw, &descents);
        } else {
            dir.prune();
        }
        self.raw = raw;
        self.keep_descents(descents);
    }

    /// Metadata of the entries of `dir`: past the VFS as far as it is to be had there, else by system calls.
    fn stat(
        &mut self,
        dir: &Dir<V::State>,
        raw: &mut RawBatch,
        place: Place<'_>,
        descending: bool,
    ) -> u64 {
        let shared = self.shared;
        let mut wanted = shared.entry_fields;
        let mut calls = 0;
        if wanted.needs_any(raw, descending)
            && let Some((ground, wanting)) = shared.bulk.ground_of(dir)
        {
            if wanted.asks_all() {
                self.reader(ground).stat(wanting, raw, wanted);
                let unknown = |known: &&Known| matches!(known, Known::Nothing);
                let left = raw.known.iter().filter(unknown).count() as u64;
                let answered = raw.known.len() as u64 - left;
                shared.bulk.count_answers(&shared.options, answered, left);
            }
            for index in shared.bulk.elsewhere(ground, wanting.ino, &raw.records) {
                calls += stat_elsewhere(raw, index, place, wanted, descending);
            }
            wanted = wanted.on_one_mount();
        }
        let inode_order = shared.regime.uses_inode_order();
        calls + stat_entries(raw, place, wanted, descending, inode_order)
    }

    pub(super) fn call_visitor(&mut self, batch: &Batch<'_, V::State>) -> Flow {
        self.totals.entries += batch.len() as u64;
        if batch.is_empty() || batch.depth() < self.shared.options.min_depth {
            return Flow::Continue;
        }
        let flow = self.visitor.batch(batch);
        if flow == Flow::Stop {
            self.shared.scheduler.stop();
        }
        flow
    }

    /// The entries that the walk would descend into.
    pub(super) fn descents_of(
        &mut self,
        raw: &RawBatch,
        dir: Option<&Dir<V::State>>,
        depth: usize,
    ) -> Vec<Descent<V::State>> {
        let mut descents = std::mem::take(&mut self.descents);
        let options = &self.shared.options;
        if depth >= options.max_depth || !raw.records.has_type(FileType::Directory) {
            return descents;
        }
        for index in 0..raw.records.len() {
            // What cannot be looked at cannot be opened either, and has been reported.
            if raw.records.file_type(index) != FileType::Directory || raw.failure(index).is_some() {
                continue;
            }
            let metadata = raw.metadata(index);
            if let (Some(dir), Some(metadata)) = (dir, metadata)
                && self
                    .shared
                    .boundaries
                    .lies_beyond(dir.root_index(), metadata)
            {
                continue;
            }
            let candidate = Candidate {
                name: raw.records.name(index).to_bytes(),
                depth,
                metadata,
            };
            if options.filter.as_ref().is_some_and(|f| !f(&candidate)) {
                continue;
            }
            descents.push(Descent {
                index: u32::try_from(index).unwrap_or(u32::MAX),
                pruned: Cell::new(false),
                state: Cell::new(None),
            });
        }
        descents
    }

    pub(super) fn keep_descents(&mut self, mut descents: Vec<Descent<V::State>>) {
        descents.clear();
        self.descents = descents;
    }

    /// Pushes the subdirectories, the first one last, so that it comes first.
    pub(super) fn descend(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        raw: &RawBatch,
        descents: &[Descent<V::State>],
    ) {
        let children = descents.iter().filter(|d| !d.pruned.get()).count();
        if children == 0 {
            return;
        }
        dir.add_pending(children);
        self.shared.descriptors.expect_children(dir, children, fd);
        for descent in descents.iter().rev().filter(|d| !d.pruned.get()) {
            let index = descent.index as usize;
            let state = descent.state.take().unwrap_or_default();
            let (name, ino) = (raw.records.name(index), raw.records.ino(index));
            let child = Dir::child(dir, name, ino, raw.is_followed(index), state);
            self.deque.push(Task::Open(Arc::new(child)));
        }
        self.pushed(children);
    }
}
