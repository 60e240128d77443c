//! Failures become errors: with a path, and told apart from races.

use super::Worker;
use crate::batch::Batch;
use crate::dir::Dir;
use crate::error::{Error, Failure, Operation};
use crate::visitor::Visitor;

impl<V: Visitor> Worker<'_, V> {
    pub(super) fn fail(&mut self, dir: &Dir<V::State>, failure: Failure) {
        self.report_error(failure, dir.path(), dir.parent().is_some());
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
                self.report_error(failure, entry.path(), batch.dir.is_some());
            }
        }
    }

    /// `listed`: a directory had listed the entry, so that it can have vanished.
    pub(super) fn report_error(&mut self, failure: Failure, path: Vec<u8>, listed: bool) {
        let error = Error {
            operation: failure.operation,
            path,
            errno: failure.errno,
            vanished: listed && failure.is_race(),
        };
        if error.vanished {
            self.totals.vanished += 1;
        } else {
            self.totals.errors += 1;
        }
        self.visitor.error(&error);
    }
}
