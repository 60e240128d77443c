//! Failures that become errors: with a path, and marked as a race if the entry vanished.

use super::Worker;
use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::error::{Error, Failure, Operation};
use crate::visit::visitor::Visitor;
use rustix::io::Errno;

impl<V: Visitor> Worker<'_, V> {
    pub(super) fn fail(&mut self, dir: &Dir<V::State>, failure: Failure) {
        let place = (dir.path(), dir.depth());
        self.report_error(failure, place, dir.parent().is_some(), None);
    }

    pub(super) fn report_failures(&mut self, batch: &Batch<'_, V::State>) {
        if batch.raw.failed == 0 {
            return;
        }
        for entry in batch.entries() {
            if let Some(errno) = entry.stat_error() {
                let failure = Failure {
                    operation: Operation::Stat,
                    errno,
                };
                let place = (entry.path(), entry.depth());
                self.report_error(failure, place, batch.dir.is_some(), None);
            }
        }
    }

    /// Reports that `dir` is the same directory as `above`.
    pub(super) fn fail_as_loop(&mut self, dir: &Dir<V::State>, above: &Dir<V::State>) {
        let failure = Failure {
            operation: Operation::Loop,
            errno: Errno::LOOP,
        };
        let place = (dir.path(), dir.depth());
        self.report_error(failure, place, true, Some(above.path()));
    }

    /// Reports an error at a path with its depth to the visitor, and counts it. `listed` says that
    /// a directory had listed the entry, so the entry can have vanished.
    pub(super) fn report_error(
        &mut self,
        failure: Failure,
        (path, depth): (Vec<u8>, usize),
        listed: bool,
        loops_with: Option<Vec<u8>>,
    ) {
        let error = Error {
            operation: failure.operation,
            path,
            depth,
            errno: failure.errno,
            vanished: listed && failure.is_race(),
            loops_with,
        };
        if error.vanished {
            self.totals.vanished += 1;
        } else {
            self.totals.errors += 1;
        }
        self.visitor.error(&error);
    }
}
