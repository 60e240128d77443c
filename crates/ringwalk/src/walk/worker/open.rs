//! Opening directories: relative to their parent's descriptor, and never through a link that is not
//! followed. Where descriptors have run out, the worker waits and tries again.

use super::Worker;
use crate::sources::{DirectoryJob, JobStep};
use crate::visit::dir::{Dir, Origin};
use crate::visit::error::{Failure, Operation};
use crate::visit::leftover::{Leftover, Remaining};
use crate::visit::metadata::Identity;
use crate::visit::visitor::{Flow, Visitor};
use crate::walk::descriptors::{At, TRIES};
use crate::walk::scheduler::Task;
use crate::walk::settings::Follow;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Duration;

impl<V: Visitor> Worker<'_, V> {
    /// Gives a directory to the source, with the descriptor it is opened relative to.
    pub(super) fn open(&mut self, dir: Arc<Dir<V::State>>) {
        if dir.parent().is_some_and(Dir::is_pruned) {
            return self.abandon(dir);
        }
        if let Some(leftover) = &dir.resumed {
            let leftover = leftover.clone();
            return self.open_resumed(dir, &leftover);
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
            Ok(at) => self.give(DirectoryJob {
                dir,
                step: JobStep::Open(at),
                next_batch: 0,
                concurrent: false,
                to_end: !self.pin_in_advance(),
            }),
            Err(failure) => self.open_failed(dir, failure),
        }
    }

    /// Leaves a directory that was never opened.
    pub(super) fn abandon(&mut self, dir: Arc<Dir<V::State>>) {
        self.opened(&dir);
        self.finish(dir);
    }

    /// Releases the parent's descriptor, which `dir` needs no longer, unless it is to be open when
    /// `dir` is left.
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
            // The directories that still hold descriptors are those read in part. They come next,
            // are read to their end, and are closed.
            if self.descriptor_tries < TRIES {
                self.postponed.push(dir);
                return;
            }
        }
        self.fail(&dir, failure);
        self.abandon(dir);
    }

    /// Waits a moment, and returns to directories that could not be opened for want of descriptors.
    /// Other workers, or other processes, may have closed theirs meanwhile.
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

    /// Begins a directory that was opened, or listed without being opened. Returns false if its
    /// entries are not to be visited. `identity` returns its device and inode number.
    pub(super) fn enter(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        identity: impl FnOnce() -> Result<Identity, Errno>,
    ) -> bool {
        self.descriptor_tries = 0;
        // A directory counts in the walk that begins it.
        let was_begun = |leftover: &Leftover| leftover.remaining != Remaining::Whole;
        if !dir.resumed.as_deref().is_some_and(was_begun) {
            self.totals.directories += 1;
        }
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
                // The directory may be one of those above it, and the walk would never end.
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

    /// Returns the directory above that has the same identity as `dir`, which was reached through a
    /// link of its own or of a directory above. (A link to a directory above the root finally leads
    /// to the root itself, by a name that is not a link.)
    fn looped_to(dir: &Dir<V::State>, identity: Identity) -> Option<&Dir<V::State>> {
        dir.slot.set_identity(identity);
        let above = dir.parent().filter(|_| dir.is_below_link())?;
        above.or_above(identity)
    }
}
