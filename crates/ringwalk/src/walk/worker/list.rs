//! Directories that are listed past the VFS, from their mounted volume, instead of being opened.

use super::Worker;
use crate::sources::choose::rules;
use crate::sources::volume::{DirectoryKey, Position, Reader, Refused};
use crate::visit::batch::numbers_of_read;
use crate::visit::dir::Dir;
use crate::visit::visitor::Visitor;
use crate::walk::scheduler::RestFrom;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Returns this worker's reader of a mounted volume.
    pub(super) fn reader(&mut self, volume: usize) -> &mut (dyn Reader + 'static) {
        if self.readers.len() <= volume {
            self.readers.resize_with(volume + 1, || None);
        }
        let open = || self.shared.sources.routing.volumes()[volume].reader();
        &mut **self.readers[volume].get_or_insert_with(open)
    }

    /// Lists a directory past the VFS and visits its entries. Returns false if no volume lists it:
    /// system calls are to read it then.
    pub(super) fn list(&mut self, dir: &Arc<Dir<V::State>>) -> bool {
        let Some((volume, key)) = self.shared.sources.routing.volume_of(dir) else {
            return false;
        };
        let shared = self.shared;
        let lists = shared.sources.routing.volumes()[volume].volume.lists();
        if !lists || !rules::may_list(&shared.options) {
            return false;
        }
        let begin = self.meter.begin();
        let next = match self.list_from(volume, key, None) {
            Ok(next) => next,
            Err(why) => {
                self.shared.sources.routing.fall_back(why);
                return false;
            }
        };
        let identity = self.shared.sources.routing.identity_of(dir, key.ino);
        // A visitor may ask for the descriptor: the directory is then found again by its identity.
        dir.slot.set_identity(identity);
        if !self.enter(dir, || Ok(identity)) {
            self.finish(Arc::clone(dir));
            return true;
        }
        if let Some(next) = next {
            self.push_rest(dir, 1, RestFrom::Volume(next));
        }
        self.visit(dir, None, numbers_of_read(0), false, 1, begin);
        self.finish(Arc::clone(dir));
        true
    }

    /// Fills the worker's buffer with entries of a directory, from the beginning or from a position
    /// on. Returns the position behind them; `None` if the directory has no more.
    pub(super) fn list_from(
        &mut self,
        volume: usize,
        key: DirectoryKey<'_>,
        from: Option<&Position>,
    ) -> Result<Option<Position>, Refused> {
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        let listed = self.reader(volume).list(key, from, &mut raw);
        self.raw = raw;
        listed
    }
}
