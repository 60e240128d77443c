//! Directories read past the VFS: listed by their volume instead of being opened. And entries whose
//! directory is not open.

use super::Worker;
use crate::descriptor::Descriptors;
use crate::dir::Dir;
use crate::error::{Failure, Operation};
use crate::options::Order;
use crate::scheduler::{ListRest, Task};
use crate::stat::OpenOnDemand;
use crate::visitor::Visitor;
use crate::volume::{Position, Reader, Refused, Wanting};
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::cell::OnceCell;
use std::fmt;
use std::sync::Arc;

/// A directory that is not open while its entries are visited: it was listed without, or closed
/// when descriptors were scarce. A visitor that wants to call something on it has it opened.
pub(super) struct Unopened<'a, S> {
    pub(super) dir: &'a Arc<Dir<S>>,
    pub(super) descriptors: &'a Descriptors<S>,
    pub(super) fd: OnceCell<Result<Arc<DirectoryFd>, Errno>>,
}

impl<S> fmt::Debug for Unopened<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Unopened").finish_non_exhaustive()
    }
}

impl<S> OpenOnDemand for Unopened<'_, S> {
    fn open(&self) -> Result<&DirectoryFd, Errno> {
        let open = || {
            self.descriptors
                .open_for_visit(self.dir)
                .map_err(|failure| {
                    // What has taken the place of the directory, or of one above it, has none of
                    // its entries.
                    if failure.is_race() {
                        Errno::NOENT
                    } else {
                        failure.errno
                    }
                })
        };
        let opened = self.fd.get_or_init(open);
        opened.as_deref().map_err(|errno| *errno)
    }
}

impl<V: Visitor> Worker<'_, V> {
    /// The reader of a ground.
    pub(super) fn reader(&mut self, ground: usize) -> &mut (dyn Reader + 'static) {
        if self.readers.len() <= ground {
            self.readers.resize_with(ground + 1, || None);
        }
        let open = || self.shared.bulk.grounds()[ground].reader();
        &mut **self.readers[ground].get_or_insert_with(open)
    }

    /// Reads a directory past the VFS. False if that is not to be had.
    pub(super) fn list(&mut self, dir: &Arc<Dir<V::State>>) -> bool {
        let Some((ground, wanting)) = self.shared.bulk.ground_of(dir) else {
            return false;
        };
        let shared = self.shared;
        let lists = shared.bulk.grounds()[ground].volume.lists();
        if !lists || shared.options.order != Order::Any {
            return false;
        }
        let begin = self.meter.begin();
        let position = match self.list_on(ground, wanting, None) {
            Ok(position) => position,
            Err(why) => {
                self.shared.bulk.hand_back(why);
                return false;
            }
        };
        let identity = self.shared.bulk.identity_of(dir, wanting.ino);
        // To find it again if somebody wants it opened.
        dir.slot.set_identity(identity);
        if !self.enter(dir, || Ok(identity)) {
            self.finish(Arc::clone(dir));
            return true;
        }
        self.go_on_listing(dir, position, 1);
        self.visit(dir, None, 0, false, 1, begin);
        self.finish(Arc::clone(dir));
        true
    }

    /// Reads on in a large directory.
    pub(super) fn list_rest(&mut self, rest: ListRest<V::State>) {
        let ListRest {
            dir,
            position,
            next_batch,
        } = rest;
        if dir.is_pruned() {
            return self.finish(dir);
        }
        let begin = self.meter.begin();
        let listed = self
            .shared
            .bulk
            .place_of(&*dir)
            .map(|(ground, wanting)| self.list_on(ground, wanting, Some(&position)));
        if let Some(Ok(position)) = listed {
            self.go_on_listing(&dir, position, next_batch + 1);
            self.visit(&dir, None, next_batch, false, 1, begin);
        } else {
            // What has been given cannot be taken back, and the rest is not to be had.
            let failure = Failure {
                operation: Operation::Read,
                errno: Errno::IO,
            };
            self.fail(&dir, failure);
        }
        self.finish(dir);
    }

    fn list_on(
        &mut self,
        ground: usize,
        wanting: Wanting<'_>,
        from: Option<&Position>,
    ) -> Result<Option<Position>, Refused> {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        let listed = self.reader(ground).list(wanting, from, &mut raw);
        self.raw = raw;
        listed
    }

    fn go_on_listing(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        position: Option<Position>,
        next_batch: u32,
    ) {
        let Some(position) = position else { return };
        dir.add_pending(1);
        let rest = ListRest {
            dir: Arc::clone(dir),
            position,
            next_batch,
        };
        self.push(Task::List(Box::new(rest)));
    }
}
