//! The beginning of a walk: its roots, as entries of batches without a directory.

use super::Worker;
use crate::batch::{Batch, Descent};
use crate::dir::{Dir, Origin};
use crate::options::Follow;
use crate::raw_batch::RawBatch;
use crate::root::Root;
use crate::scheduler::Task;
use crate::stat::{Place, stat_entries};
use crate::visitor::{Flow, Visitor};
use ringwalk_sys::RawFileType as FileType;
use std::sync::Arc;

/// Roots that are looked at together.
const ROOTS_AT_A_TIME: usize = 64;

impl<V: Visitor> Worker<'_, V> {
    /// Looks at some roots, and leaves the rest to whoever is next.
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
        for root in roots {
            // A name that no file can have is asked for as an empty one, which does not exist either.
            let name = root.c_name().unwrap_or_default();
            raw.records.push(&name, FileType::Unknown, 0, 0);
        }
        let place = Place::Roots(roots);
        stat_entries(&mut raw, place, shared.root_fields, true, false);
        for index in 0..roots.len() {
            if let Some(metadata) = raw.metadata(index) {
                shared.boundaries.set(first + index, metadata);
                shared.bulk.set_root(first + index, metadata);
            }
        }
        let descents = self.descents_of(&raw, None, 0);
        let batch = Batch {
            raw: &raw,
            place,
            dir: None,
            index: u32::try_from(first / ROOTS_AT_A_TIME).unwrap_or(u32::MAX),
            descents: &descents,
            first_root: first,
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
            let dir = Dir::root(name, root_index, origin, state);
            self.shared.scheduler.add_roots(1);
            self.deque.push(Task::Open(Arc::new(dir)));
            pushed += 1;
        }
        if pushed > 0 {
            self.pushed(pushed);
        }
    }
}
