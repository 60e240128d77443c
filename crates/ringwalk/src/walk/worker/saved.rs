//! Roots and directories of a saved tree.
//!
//! A directory of a saved tree is never opened. A batch holds its metadata from the beginning, and
//! no call waits for a device for long, so nothing is measured.

use super::Worker;
use crate::sources::saved::Listed;
use crate::visit::batch::numbers_of_read;
use crate::visit::dir::{Dir, Origin};
use crate::visit::error::{Failure, Operation};
use crate::visit::metadata::Identity;
use crate::visit::visitor::Visitor;
use crate::walk::scheduler::RestFrom;
use rustix::io::Errno;
use std::sync::Arc;

/// The counters of a worker are reported to the monitor after this many entries.
const REPORT_EVERY: u64 = 1 << 16;

impl<V: Visitor> Worker<'_, V> {
    /// Lists a directory from its beginning, and visits its entries.
    pub(super) fn list_saved(&mut self, dir: Arc<Dir<V::State>>, listing: u64) {
        let listed = self.fill_saved(listing, None);
        if let Some(failure) = failure_of(listed)
            && failure.operation == Operation::Open
        {
            self.fail(&dir, failure);
            return self.abandon(dir);
        }
        let identity = Identity {
            dev: 0,
            ino: listing,
        };
        if !self.enter(&dir, || Ok(identity)) {
            return self.finish(dir);
        }
        self.visit_saved(&dir, 0, listed);
        self.finish(dir);
    }

    /// Lists on in a large directory.
    pub(super) fn list_saved_on(&mut self, dir: &Arc<Dir<V::State>>, from: u64, index: u32) {
        if let Origin::Saved { listing } = dir.origin {
            let listed = self.fill_saved(listing, Some(from));
            self.visit_saved(dir, index, listed);
        }
        self.finish(Arc::clone(dir));
    }

    /// Fills the worker's buffer with entries of a directory.
    fn fill_saved(&mut self, listing: u64, from: Option<u64>) -> Listed {
        self.raw.clear();
        let Some(reader) = &mut self.saved else {
            return Listed {
                next: None,
                failure: Some((Operation::Open, Errno::OPNOTSUPP)),
            };
        };
        let mut batch = self.shared.options.saved_batch(&mut self.raw);
        reader.get_mut().list(listing, from, &mut batch)
    }

    /// Visits the entries in the buffer. Pushes the rest of the directory, if it goes on, and in
    /// preorder the parts of the batch behind each directory.
    fn visit_saved(&mut self, dir: &Arc<Dir<V::State>>, index: u32, listed: Listed) {
        let cuts = if self.shared.options.preorder {
            self.cut()
        } else {
            Vec::new()
        };
        if let Some(next) = listed.next {
            self.push_rest(dir, index + 1, RestFrom::Saved(next));
        }
        let numbers = self.push_cuts(dir, None, numbers_of_read(index), true, cuts);
        self.visit(dir, None, numbers, true, 0, None);
        if let Some(failure) = failure_of(listed) {
            self.fail(dir, failure);
        }
        if self.totals.entries - self.reported.entries > REPORT_EVERY {
            self.report();
        }
    }
}

fn failure_of(listed: Listed) -> Option<Failure> {
    let (operation, errno) = listed.failure?;
    Some(Failure { operation, errno })
}
