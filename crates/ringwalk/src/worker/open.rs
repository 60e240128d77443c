//! Opening directories: by their parent's descriptor, never through a link that is not followed, and patiently when
//! descriptors have run out.

use super::Worker;
use crate::descriptor::{At, TRIES};
use crate::dir::{Dir, Origin};
use crate::error::{Failure, Operation};
use crate::metadata::Identity;
use crate::options::Follow;
use crate::scheduler::Task;
use crate::source::{Job, Step};
use crate::visitor::{Flow, Visitor};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

impl<V: Visitor> Worker<'_, V> {
    /// Gives a directory to the source, with the descriptor it is opened relative to.
    pub(super) fn open(&mut self, dir: Arc<Dir<V::State>>) {
        if dir.parent().is_some_and(Dir::is_pruned) {
            return self.abandon(dir);
        }
        if self.list(&dir) {
            return;
        }
        let at = match (&dir.origin, dir.parent_arc()) {
            (Origin::RootFd(fd), _) => Ok(At::Dir(Arc::clone(fd))),
            (_, Some(parent)) => self.shared.descriptors.get(parent),
            (_, None) => Ok(At::Cwd),
        };
        match at {
            Ok(at) => self.give(Job {
                dir,
                step: Step::Open(at),
                next_batch: 0,
                apart: false,
                to_end: !self.may_leave_rest(),
            }),
            Err(failure) => self.open_failed(dir, failure),
        }
    }

    /// Leaves a directory that was never opened.
    pub(super) fn abandon(&mut self, dir: Arc<Dir<V::State>>) {
        self.opened(&dir);
        self.finish(dir);
    }

    /// `dir` needs its parent's descriptor no more, unless it is to be there when `dir` is left.
    fn opened(&self, dir: &Dir<V::State>) {
        if !self.shared.options.parents_open
            && let Some(parent) = dir.parent()
        {
            self.shared.descriptors.child_opened(parent);
        }
    }

    pub(super) fn open_failed(&mut self, dir: Arc<Dir<V::State>>, failure: Failure) {
        if failure.is_out_of_descriptors() {
            if self.shared.descriptors.shrink() {
                self.deque.push(Task::Open(dir));
                return;
            }
            // What is still held are directories read in part. They come next, are read to their end and closed.
            if self.descriptor_tries < TRIES {
                self.postponed.push(dir);
                return;
            }
        }
        self.fail(&dir, failure);
        self.abandon(dir);
    }

    /// Comes back to directories that could not be opened for want of descriptors, after a moment in which other
    /// workers, or other processes, may be done with theirs.
    pub(super) fn retry_postponed(&mut self) -> Option<Task<V::State>> {
        if self.postponed.is_empty() {
            return None;
        }
        std::thread::sleep(Duration::from_millis(1));
        self.descriptor_tries += 1;
        self.give_back_postponed();
        self.deque.pop()
    }

    pub(super) fn give_back_postponed(&mut self) {
        for dir in self.postponed.drain(..).rev() {
            self.deque.push(Task::Open(dir));
        }
    }

    /// A directory has been opened, or listed without. False if it is not to be read on with.
    /// `identity` tells which it is.
    pub(super) fn enter(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        identity: impl FnOnce() -> Result<Identity, Errno>,
    ) -> bool {
        self.descriptor_tries = 0;
        self.totals.directories += 1;
        self.opened(dir);
        if self.shared.monitor.wants_path() {
            self.shared.monitor.set_path(dir.path());
        }
        if self.shared.options.follow == Follow::Always {
            match identity().map(|identity| Self::looped_to(dir, identity)) {
                Ok(None) => {}
                Ok(Some(above)) => {
                    self.fail_as_loop(dir, above);
                    return false;
                }
                // It may be one above, and the walk would never end.
                Err(errno) => {
                    let operation = Operation::Stat;
                    self.fail(dir, Failure { operation, errno });
                    return false;
                }
            }
        }
        match self.visitor.enter(dir) {
            Flow::Continue => true,
            Flow::Prune => false,
            Flow::Stop => {
                self.shared.scheduler.stop();
                false
            }
        }
    }

    /// The directory above that this one is once more, reached through a link, its own or one above it. (A link to
    /// above the root leads to the root itself, by a name that is no link.)
    fn looped_to(dir: &Dir<V::State>, identity: Identity) -> Option<&Dir<V::State>> {
        dir.slot.set_identity(identity);
        let above = dir.parent().filter(|_| dir.is_below_link())?;
        above.or_above(identity)
    }
}
