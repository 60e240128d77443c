//! Reading on in a directory that one buffer has no room for.

use super::Worker;
use crate::options::Order;
use crate::scheduler::{Rest, Task};
use crate::source::{Job, Step};
use crate::visitor::Visitor;

impl<V: Visitor> Worker<'_, V> {
    /// Reads on in a large directory. Where that brings metadata, which takes the longer part of
    /// the time, others do the same.
    pub(super) fn read_rest(&mut self, rest: Rest<V::State>) {
        let options = &self.shared.options;
        // In preorder the next rest has the place of this one.
        let keeps_place = rest.pinned && options.preorder;
        if rest.pinned && !keeps_place {
            self.shared.descriptors.unpin();
        }
        if rest.dir.is_pruned() || rest.dir.has_ended() {
            self.source.release(rest.fd);
            self.take_place_back(keeps_place);
            return self.finish(rest.dir);
        }
        let in_order = options.order != Order::Any || options.preorder;
        let taken = || self.source.capacity() > 1 || self.takers() > 0;
        let apart =
            self.source.reads_apart() && !in_order && taken() && self.shared.descriptors.pin();
        if apart {
            rest.dir.add_pending(1);
            self.push(Task::Read(Box::new(rest.behind())));
        }
        let Rest {
            dir,
            fd,
            next_batch,
            ..
        } = rest;
        self.give(Job {
            dir,
            step: Step::Read(fd),
            next_batch,
            apart,
            to_end: options.preorder && !keeps_place,
        });
    }

    /// Whether a directory that is opened now may be read in part. In preorder its rest waits for
    /// all that is below the entries before it, and cannot be closed meanwhile: so a descriptor is
    /// counted for it in advance.
    pub(super) fn may_leave_rest(&self) -> bool {
        !self.shared.options.preorder || self.shared.descriptors.pin()
    }

    /// Gives back what was counted in advance for the rest of a directory that has none.
    pub(super) fn take_place_back(&self, counted: bool) {
        if counted {
            self.shared.descriptors.unpin();
        }
    }
}
