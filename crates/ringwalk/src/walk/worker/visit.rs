//! The entries of a batch: asked for metadata, and given to the visitor.

use super::Worker;
use super::unopened::Unopened;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::stat::{NamesAt, stat_elsewhere, stat_entries, stat_first};
use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::visitor::{Flow, Visitor};
use ringwalk_sys::DirectoryFd;
use std::sync::Arc;
use std::time::Instant;

/// The metadata of this many entries of a large batch is asked for before that of the others, while
/// the walk does not know yet whether reading ahead helps.
const FIRST_STATS: usize = 8;

impl<V: Visitor> Worker<'_, V> {
    /// Asks for the metadata of the entries in the buffer, gives the entries to the visitor, and
    /// pushes the subdirectories.
    ///
    /// `fd` is the open directory; `None` if it was listed without being opened, or was closed
    /// meanwhile. `calls` is the number of calls that were made for it since `begin`.
    pub(super) fn visit(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        index: u32,
        metadata: bool,
        calls: u64,
        begin: Option<Instant>,
    ) {
        let depth = dir.depth() + 1;
        let mut raw = std::mem::take(&mut self.raw);
        let unopened;
        let saved = self.saved.take();
        let place = if let Some(reader) = &saved {
            NamesAt::Saved(reader)
        } else if let Some(fd) = fd {
            NamesAt::Directory(fd)
        } else {
            unopened = Unopened::new(dir, &self.shared.descriptors);
            NamesAt::Unopened(&unopened)
        };
        if saved.is_some() {
            // No calls were made.
        } else if metadata {
            self.meter(calls, begin, dir, fd.map(|fd| &**fd));
        } else {
            self.ask_metadata(dir, fd, &mut raw, place, calls, begin);
        }
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
        self.saved = saved;
        self.keep_descents(descents);
    }

    /// Asks for the metadata of the entries of `dir`, and notes how long all its calls took.
    fn ask_metadata(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        raw: &mut RawBatch,
        place: NamesAt<'_>,
        mut calls: u64,
        mut begin: Option<Instant>,
    ) {
        let descending = dir.depth() + 1 < self.shared.options.max_depth;
        let watching = begin.is_some() && self.shared.prefetch.is_watching();
        let large = raw.records.len() > 2 * FIRST_STATS;
        if watching && large {
            // Many calls follow. The first few show whether they wait. A volume has shown that
            // already, by the time that listing the directory took.
            if self.shared.sources.routing.volume_of(dir).is_none() {
                let wanted = self.shared.entry_fields;
                calls += stat_first(raw, FIRST_STATS, place, wanted, descending);
            }
            self.meter(calls, begin, dir, fd.map(|fd| &**fd));
            calls = 0;
            begin = self.meter.begin();
        }
        calls += self.stat(dir, raw, place, descending);
        self.meter(calls, begin, dir, fd.map(|fd| &**fd));
    }

    /// Fills in the metadata of the entries of `dir`: past the VFS as far as its volume is sure of
    /// it, else by system calls. Returns how many calls were made.
    fn stat(
        &mut self,
        dir: &Dir<V::State>,
        raw: &mut RawBatch,
        place: NamesAt<'_>,
        descending: bool,
    ) -> u64 {
        let shared = self.shared;
        let mut wanted = shared.entry_fields;
        let mut calls = 0;
        if wanted.needs_any(raw, descending)
            && let Some((volume, key)) = shared.sources.routing.volume_of(dir)
        {
            if wanted.asks_all() {
                self.reader(volume).stat(key, raw, wanted);
                let unknown = |known: &&Known| matches!(known, Known::Nothing);
                let left = raw.known.iter().filter(unknown).count() as u64;
                let answered = raw.known.len() as u64 - left;
                shared
                    .sources
                    .routing
                    .count_answers(&shared.options, answered, left);
            }
            for index in shared
                .sources
                .routing
                .elsewhere(volume, key.ino, &raw.records)
            {
                calls += stat_elsewhere(raw, index, place, wanted, descending);
            }
            wanted = wanted.on_one_mount();
        }
        let inode_order = shared.concurrency.uses_inode_order();
        calls + stat_entries(raw, place, wanted, descending, inode_order)
    }

    /// Gives a batch to the visitor, if it is not empty and not above the least depth.
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
}
