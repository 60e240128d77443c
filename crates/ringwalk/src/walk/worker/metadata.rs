//! Asking for the metadata of the entries of a batch, chunk by chunk.
//!
//! From cache a batch of 8000 entries takes some milliseconds. On a server with 1 ms a request it
//! would keep one worker for 8 seconds. So the worker measures each chunk. While its calls wait, it
//! gives the rest of the batch to workers that have nothing to do.

use super::Worker;
use super::share::Divisible;
use crate::sources::names_at::NamesAt;
use crate::sources::project_id;
use crate::sources::raw_batch::{Known, RawBatch};
use crate::sources::stat::{stat_elsewhere, stat_entries, stat_range};
use crate::visit::dir::Dir;
use crate::visit::metadata::Fields;
use crate::visit::visitor::Visitor;
use crate::walk::concurrency::meter::{WINDOW, WindowEnd};
use std::time::Instant;

/// While the walk does not know yet whether reading ahead helps, it asks for the metadata of this
/// many entries of a large batch before all others.
const FIRST_STATS: usize = 8;

/// The number of entries of the first chunk of a worker.
pub(super) const FIRST_CHUNK: usize = 4;

/// The largest number of entries of a chunk. From cache they take about 0.1 ms. Measuring a chunk
/// takes 0.1 us.
const LARGEST_CHUNK: usize = 256;

impl<V: Visitor> Worker<'_, V> {
    /// Asks for the metadata of the entries of a batch, and notes how long the calls took. The
    /// batch is shorter afterwards if other workers have got a part of it.
    pub(super) fn ask_metadata(
        &mut self,
        mut batch: Divisible<'_, V::State>,
        place: NamesAt<'_>,
        mut calls: u64,
        mut begin: Option<Instant>,
    ) {
        let dir = batch.dir;
        let fd = batch.fd.map(|fd| &**fd);
        let descending = dir.depth() + 1 < self.shared.options.max_depth;
        let on_volume = self.shared.sources.routing.volume_of(dir).is_some();
        let wanted = self.shared.entry_fields;
        if !on_volume && !wanted.needs_any(&batch.raw.records, descending) {
            self.meter(calls, begin, dir, fd);
            self.pace(batch.raw.records.len());
            return;
        }
        let watching = begin.is_some() && self.shared.prefetch.is_watching();
        if watching && batch.raw.records.len() > 2 * FIRST_STATS {
            // Many calls follow. The first few show whether they wait. A volume has shown that
            // already, by the time that listing the directory took.
            if !on_volume {
                calls += stat_range(batch.raw, 0..FIRST_STATS, place, wanted, descending);
            }
            self.meter(calls, begin, dir, fd);
            calls = 0;
            begin = self.meter.begin();
        }
        if on_volume {
            calls += self.stat_on_volume(dir, batch.raw, place, descending);
        } else {
            (calls, begin) = self.stat_chunks(&mut batch, place, descending, (calls, begin));
        }
        self.meter(calls, begin, dir, fd);
        if on_volume {
            self.pace(batch.raw.records.len());
        }
    }

    /// Waits until these entries are allowed by the limit on entries a second.
    pub(super) fn pace(&self, entries: usize) {
        if let Some(wait) = self.shared.rate.reserve(entries) {
            self.shared.scheduler.sleep(wait);
        }
    }

    /// Asks for the metadata of the entries of a batch by system calls, one chunk after the other.
    /// Between chunks other workers may get the rest. Takes and returns calls that are not yet
    /// noted, and when they began.
    fn stat_chunks(
        &mut self,
        batch: &mut Divisible<'_, V::State>,
        place: NamesAt<'_>,
        descending: bool,
        (mut calls, mut begin): (u64, Option<Instant>),
    ) -> (u64, Option<Instant>) {
        let concurrency = &self.shared.concurrency;
        let wanted = self.shared.entry_fields;
        let fd = batch.fd.map(|fd| &**fd);
        let may_divide = self.may_divide();
        let mut done = 0;
        loop {
            if concurrency.uses_inode_order() && self.shared.rate.is_unlimited() {
                // A disk that rotates gets no faster by more requests than workers.
                calls += stat_entries(batch.raw, place, wanted, descending, true);
                return (calls, begin);
            }
            let entries = batch.raw.records.len();
            let next = entries.min(done + self.chunk.min(self.shared.rate.most_at_once()));
            if let Some(wait) = self.shared.rate.reserve(next - done) {
                self.meter(calls, begin, batch.dir, fd);
                self.shared.scheduler.sleep(wait);
                calls = 0;
                begin = Some(Instant::now());
            }
            calls += stat_range(batch.raw, done..next, place, wanted, descending);
            done = next;
            if done == entries {
                if wanted.fields().contains(Fields::PROJECT_ID) {
                    calls += project_id::add_to_entries(batch.raw, place);
                }
                return (calls, begin);
            }
            if calls == 0 {
                continue;
            }
            let window = self.meter(calls, begin, batch.dir, fd);
            self.adapt_chunk(window);
            if may_divide && window.slow && concurrency.has_waited() {
                self.share_rest(batch.again(), done);
            }
            calls = 0;
            begin = Some(Instant::now());
        }
    }

    /// Sets the size of the next chunk such that it takes about a quarter of a measuring window.
    fn adapt_chunk(&mut self, window: WindowEnd) {
        let aim = WINDOW / 4;
        if window.took > 2 * aim {
            let calls = aim.as_nanos() * self.chunk as u128 / window.took.as_nanos();
            self.chunk = usize::try_from(calls).unwrap_or(1).max(1);
        } else if window.took < aim && !window.took.is_zero() {
            // Without a time the calls were not timed.
            self.chunk = (2 * self.chunk).min(LARGEST_CHUNK);
        }
    }

    /// Fills in the metadata of the entries of `dir`: past the VFS as far as its volume is sure of
    /// it, else by system calls. Returns how many calls were made.
    fn stat_on_volume(
        &mut self,
        dir: &Dir<V::State>,
        raw: &mut RawBatch,
        place: NamesAt<'_>,
        descending: bool,
    ) -> u64 {
        let shared = self.shared;
        let mut wanted = shared.entry_fields;
        let mut calls = 0;
        if wanted.needs_any(&raw.records, descending)
            && let Some((volume, key)) = shared.sources.routing.volume_of(dir)
        {
            if wanted.asks_all() {
                self.reader(volume).stat(key, raw, wanted);
                let unknown = |known: &&Known| matches!(known, Known::Nothing);
                let unanswered = raw.known.iter().filter(unknown).count() as u64;
                let answered = raw.known.len() as u64 - unanswered;
                shared
                    .sources
                    .routing
                    .count_answers(&shared.options, answered, unanswered);
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
}
