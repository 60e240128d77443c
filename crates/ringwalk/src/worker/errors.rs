//! Failures become errors: with a path, and told apart from races.

use super::Worker;
use crate::batch::Batch;
use crate::dir::Dir;
use crate::error::{Error, Failure, Operation};
use crate::visitor::Visitor;
use rustix::io::Errno;

impl<V: Visitor> Worker<'_, V> {
    pub(super) fn fail(&mut self, dir: &Dir<V::State>, failure: Failure) {
        self.report_error(failure, dir.path(), dir.parent().is_some(), None);
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
                self.report_error(failure, entry.path(), batch.dir.is_some(), None);
            }
        }
    }

    /// `dir` is `above` once more.
    pub(super) fn fail_as_loop(&mut self, dir: &Dir<V::State>, above: &Dir<V::State>) {
        let failure = Failure {
            operation: Operation::Loop,
            errno: Errno::LOOP,
        };
        self.report_error(failure, dir.path(), true, Some(above.path()));
    }

    /// `listed`: a directory had listed the entry, so that it can have vanished.
    fn report_error(
        &mut self,
        failure: Failure,
        path: Vec<u8>,
        listed: bool,
        loops_with: Option<Vec<u8>>,
    ) {
        let error = Error {
            operation: failure.operation,
            path,
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
