//! Reading on in a directory that one buffer has no room for.

use super::Worker;
use crate::sources::{DirectoryJob, JobStep};
use crate::visit::dir::Dir;
use crate::visit::visitor::Visitor;
use crate::walk::reads::Begun;
use crate::walk::scheduler::{Rest, RestFrom, Task};
use ringwalk_sys::DirectoryFd;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Reads on in a directory that was read in part, unless nothing more of it is wanted.
    pub(super) fn read_rest(&mut self, rest: Rest<V::State>) {
        let Rest {
            dir,
            next_batch,
            from,
        } = rest;
        let is_over = dir.is_pruned() || dir.has_ended();
        match from {
            RestFrom::Fd { fd, pinned } if is_over => self.drop_rest(dir, fd, pinned),
            RestFrom::Fd { fd, pinned } => {
                let begun = dir.reads.begin(next_batch);
                if begun == Begun::Waits {
                    // A worker that has a read in flight pushes the rest again.
                    return self.drop_rest(dir, fd, pinned);
                }
                // In preorder the next rest of the directory keeps the pin of this one.
                let keeps_pin = pinned && self.shared.options.preorder;
                self.unpin_if(pinned && !keeps_pin);
                let alone = begun == Begun::Alone;
                let concurrent = !alone && self.may_read_concurrently();
                self.read_on(dir, fd, next_batch, concurrent, keeps_pin);
            }
            RestFrom::Listing(_) if is_over => self.finish(dir),
            RestFrom::Listing(position) => self.list_on(dir, &position, next_batch),
        }
    }

    /// Drops the rest of a directory. The directory is closed when no read of it is in flight.
    pub(super) fn drop_rest(
        &mut self,
        dir: Arc<Dir<V::State>>,
        fd: Arc<DirectoryFd>,
        pinned: bool,
    ) {
        self.source.release(fd);
        self.unpin_if(pinned);
        self.finish(dir);
    }

    /// Has the source read on, from the position of the open directory. With `concurrent`, the rest
    /// is first pushed once more if its descriptor can be pinned. Then another worker can read the
    /// directory at the same time.
    fn read_on(
        &mut self,
        dir: Arc<Dir<V::State>>,
        fd: Arc<DirectoryFd>,
        next_batch: u32,
        concurrent: bool,
        keeps_pin: bool,
    ) {
        let concurrent = concurrent && self.shared.descriptors.pin();
        if concurrent {
            let from = RestFrom::Fd {
                fd: Arc::clone(&fd),
                pinned: true,
            };
            self.push_rest(&dir, next_batch + 1, from);
        }
        self.give(DirectoryJob {
            dir,
            step: JobStep::Read(fd),
            next_batch,
            concurrent,
            to_end: self.shared.options.preorder && !keeps_pin,
        });
    }

    /// Returns true if another worker should read the same directory at the same time. Three
    /// conditions must hold: the source fills in metadata, which takes the longer part of a read;
    /// no order is asked for; and another worker, or a free place in the source, can take the work.
    fn may_read_concurrently(&self) -> bool {
        // The position of a directory shows what remains, but only while no request reads the
        // directory.
        self.source.reads_concurrently()
            && !self.shared.options.is_in_order()
            && (self.source.capacity() > 1 || self.available_workers() > 0)
    }

    /// Pushes the rest of a directory, as one more piece of its work.
    pub(super) fn push_rest(&mut self, dir: &Arc<Dir<V::State>>, next_batch: u32, from: RestFrom) {
        dir.add_pending(1);
        self.push(Task::Rest(Box::new(Rest {
            dir: Arc::clone(dir),
            next_batch,
            from,
        })));
    }

    /// Pins the descriptor of a directory that is opened next, if its rest may have to wait.
    /// Returns false if the allowance has no room: the directory is then read to its end in one
    /// batch.
    ///
    /// In preorder the rest waits for all entries below those before it, and cannot be closed
    /// meanwhile. Outside of preorder nothing is pinned in advance.
    pub(super) fn pin_in_advance(&self) -> bool {
        !self.shared.options.preorder || self.shared.descriptors.pin()
    }

    /// Takes a pin back, if there is one.
    pub(super) fn unpin_if(&self, pinned: bool) {
        if pinned {
            self.shared.descriptors.unpin();
        }
    }
}
