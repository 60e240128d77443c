//! The subdirectories of a batch that the walk goes down into.

use super::Worker;
use crate::sources::raw_batch::RawBatch;
use crate::visit::batch::Descent;
use crate::visit::candidate::Candidate;
use crate::visit::dir::{Dir, Origin};
use crate::visit::metadata::Identity;
use crate::visit::visitor::Visitor;
use crate::walk::scheduler::Task;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use std::cell::Cell;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Returns the entries that the walk descends into unless the visitor prunes them.
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
            // An entry that statx(2) cannot reach cannot be opened either, and has been reported.
            if raw.records.file_type(index) != FileType::Directory || raw.is_unreachable(index) {
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
                directory: &|| dir.map(Dir::path).unwrap_or_default(),
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

    /// Keeps the memory of `descents` for the next batch.
    pub(super) fn keep_descents(&mut self, mut descents: Vec<Descent<V::State>>) {
        descents.clear();
        self.descents = descents;
    }

    /// Pushes the subdirectories that were not pruned. The first is pushed last, so that it is
    /// popped first.
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
        let entered = descents.iter().filter(|d| !d.pruned.get());
        if self.saved.is_some() && !self.shared.options.is_in_order() {
            // Saved trees list subdirectories before their directory. So the last comes first.
            entered.for_each(|descent| self.push_child(dir, raw, descent));
        } else {
            entered
                .rev()
                .for_each(|descent| self.push_child(dir, raw, descent));
        }
        self.pushed(children);
    }

    /// Returns what statx(2) said of an entry, by which a leftover is recognized.
    fn identity_seen(&self, raw: &RawBatch, index: usize) -> Option<Identity> {
        if !self.shared.spending.is_bounded() {
            return None;
        }
        raw.metadata(index)?.identity()
    }

    fn push_child(&self, dir: &Arc<Dir<V::State>>, raw: &RawBatch, descent: &Descent<V::State>) {
        let index = descent.index as usize;
        let state = descent.state.take().unwrap_or_default();
        let origin = Origin::Entry {
            follow: raw.is_followed(index),
            seen: self.identity_seen(raw, index),
        };
        let (name, number) = (raw.records.name(index), raw.number(index));
        let child = Arc::new(Dir::child(dir, name, number, origin, state));
        self.deque.push(match raw.listing(index) {
            Some(listing) => Task::Listed(Box::new((child, listing))),
            None => Task::Open(child),
        });
    }
}
