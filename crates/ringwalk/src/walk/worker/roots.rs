//! The roots of a walk, as entries of batches without a directory.

use super::Worker;
use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::RawBatch;
use crate::sources::stat::stat_entries;
use crate::visit::batch::{Batch, Descent};
use crate::visit::dir::{Dir, Origin};
use crate::visit::visitor::{Flow, Visitor};
use crate::walk::root::Root;
use crate::walk::scheduler::Task;
use crate::walk::settings::Follow;
use ringwalk_sys::RawFileType as FileType;
use std::sync::Arc;

/// Number of roots in one batch.
const ROOTS_AT_A_TIME: usize = 64;

impl<V: Visitor> Worker<'_, V> {
    /// Visits some roots, and leaves the rest to the next worker.
    pub(super) fn visit_roots(&mut self, first: usize) {
        let shared = self.shared;
        let roots = &shared.options.roots[first..];
        let roots = &roots[..roots.len().min(ROOTS_AT_A_TIME)];
        let next = first + roots.len();
        if next < shared.options.roots.len() {
            shared.scheduler.add_roots(1);
            self.push(Task::Roots(next));
        }
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        let saved = self.saved.clone();
        let place = if let Some(reader) = &saved {
            reader.find_roots(roots, &mut raw);
            NamesAt::Unopened(&**reader)
        } else {
            let place = NamesAt::Roots(roots);
            push_roots(roots, &mut raw);
            stat_entries(&mut raw, place, shared.root_fields, true, false);
            place
        };
        for index in 0..roots.len() {
            if let Some(metadata) = raw.metadata(index) {
                shared.boundaries.set(first + index, metadata);
                shared.sources.routing.set_root(first + index, metadata);
                if let Some(identity) = metadata.identity() {
                    // Each root is looked at once.
                    let _ = shared.root_identities[first + index].set(identity);
                }
            }
        }
        let descents = self.descents_of(&raw, None, 0);
        let number = (first / ROOTS_AT_A_TIME) as u64;
        let batch = Batch {
            raw: &raw,
            place,
            saved: saved.as_deref(),
            dir: None,
            numbers: number..number + 1,
            descents: &descents,
            first_root: first,
            boundaries: &shared.boundaries,
        };
        self.report_failures(&batch);
        if self.call_visitor(&batch) == Flow::Continue {
            self.descend_roots(first, roots, &raw, &descents);
        }
        self.raw = raw;
        self.keep_descents(descents);
        shared.scheduler.finish_root();
    }

    pub(super) fn descend_roots(
        &mut self,
        first: usize,
        roots: &[Root],
        raw: &RawBatch,
        descents: &[Descent<V::State>],
    ) {
        let mut pushed = 0;
        for descent in descents.iter().rev().filter(|d| !d.pruned.get()) {
            let index = descent.index as usize;
            let follow = self.shared.options.follow != Follow::Never;
            let origin = match &roots[index].fd {
                Some(fd) => Origin::RootFd(Arc::clone(fd)),
                None => Origin::RootPath { follow },
            };
            let root_index = u32::try_from(first + index).unwrap_or(u32::MAX);
            let state = descent.state.take().unwrap_or_default();
            let name = raw.records.name(index);
            let dir = Dir::root(name, root_index, raw.number(index), origin, state);
            self.shared.scheduler.add_roots(1);
            self.deque.push(Task::Open(Arc::new(dir)));
            pushed += 1;
        }
        if pushed > 0 {
            self.pushed(pushed);
        }
    }
}

/// Adds the roots to `raw`, without types.
pub(super) fn push_roots(roots: &[Root], raw: &mut RawBatch) {
    for root in roots {
        // No file has a name with a NUL byte. Such a root is asked for by an empty name, which does
        // not exist either.
        let name = root.c_name().unwrap_or_default();
        raw.records.push(&name, FileType::Unknown, 0, 0);
    }
}
