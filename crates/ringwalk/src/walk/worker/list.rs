//! Directories that are listed without being opened: past the VFS, from their mounted volume, or
//! from a saved tree.

use super::Worker;
use crate::sources::choose::rules;
use crate::sources::saved::Listed;
use crate::sources::syscall::read_failure;
use crate::sources::volume::{Position, Reader};
use crate::visit::batch::numbers_of_read;
use crate::visit::dir::Dir;
use crate::visit::error::{Failure, Operation};
use crate::visit::metadata::Identity;
use crate::visit::visitor::Visitor;
use crate::walk::scheduler::RestFrom;
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Instant;

/// The counters of a worker that measures no calls are reported to the monitor after this many
/// entries.
const REPORT_EVERY: u64 = 1 << 16;

/// Entries in the worker's buffer, of a directory that is not open.
pub(super) struct ListedEntries {
    /// The device and inode number of the directory. In a saved tree its listing number.
    pub(super) identity: Identity,
    /// The position behind the entries; `None` if the directory has no more.
    pub(super) next: Option<Position>,
    /// Why the directory was not read to its end.
    pub(super) failure: Option<Failure>,
    /// The buffer has the metadata of the entries.
    pub(super) metadata: bool,
    /// How many calls were made since `begin`.
    pub(super) calls: u64,
    pub(super) begin: Option<Instant>,
}

impl<V: Visitor> Worker<'_, V> {
    /// Returns this worker's reader of a mounted volume.
    pub(super) fn reader(&mut self, volume: usize) -> &mut (dyn Reader + 'static) {
        if self.readers.len() <= volume {
            self.readers.resize_with(volume + 1, || None);
        }
        let open = || self.shared.sources.routing.volumes()[volume].reader();
        &mut **self.readers[volume].get_or_insert_with(open)
    }

    /// Lists a directory without opening it, and visits its entries. Returns false if system calls
    /// must read it.
    pub(super) fn list(&mut self, dir: &Arc<Dir<V::State>>) -> bool {
        let Some(listed) = self.fill(dir, None) else {
            return false;
        };
        match listed.failure {
            Some(failure) if failure.operation == Operation::Open => {
                self.fail(dir, failure);
                self.abandon(Arc::clone(dir));
            }
            _ => self.begin_listed(Arc::clone(dir), listed),
        }
        true
    }

    /// Lists on in a large directory.
    pub(super) fn list_on(&mut self, dir: Arc<Dir<V::State>>, position: &Position, index: u32) {
        match self.fill(&dir, Some(position)) {
            Some(listed) => self.visit_listed(&dir, index, listed),
            // The entries that were given cannot be taken back, so system calls cannot begin anew.
            None => self.fail(&dir, read_failure(Errno::IO)),
        }
        self.finish(dir);
    }

    /// Fills the worker's buffer with entries of a directory, from the beginning or from a position
    /// on. Returns `None` if only system calls can list it.
    fn fill(&mut self, dir: &Dir<V::State>, from: Option<&Position>) -> Option<ListedEntries> {
        if let Some(reader) = &self.saved {
            self.raw.clear();
            let from = from.map(|position| position.at);
            let mut listed = reader.list(dir.number(), from, &mut self.raw);
            // A saved tree is in the order of names already.
            if let Some(compare) = &self.shared.options.compare {
                while let Some(at) = listed.next {
                    listed = reader.list(dir.number(), Some(at), &mut self.raw);
                }
                self.raw.sort_by(compare);
            }
            let Listed { next, failure } = listed;
            return Some(ListedEntries {
                identity: Identity {
                    dev: 0,
                    ino: dir.number(),
                },
                next: next.map(Position::at),
                failure: failure.map(|(operation, errno)| Failure { operation, errno }),
                metadata: true,
                calls: 0,
                begin: None,
            });
        }
        let routing = &self.shared.sources.routing;
        let (volume, key) = match from {
            Some(_) => routing.volume_begun_on(dir),
            None => routing.volume_of(dir),
        }?;
        if !routing.volumes()[volume].volume.lists() || !rules::may_list(&self.shared.options) {
            return None;
        }
        let begin = self.meter.begin();
        let mut raw = std::mem::take(&mut self.raw);
        raw.clear();
        let listed = self.reader(volume).list(key, from, &mut raw);
        self.raw = raw;
        match listed {
            Ok(next) => Some(ListedEntries {
                identity: routing.identity_of(dir, key.ino),
                next,
                failure: None,
                metadata: false,
                calls: 1,
                begin,
            }),
            Err(why) => {
                if from.is_none() {
                    routing.fall_back(why);
                }
                None
            }
        }
    }

    /// Begins a directory whose entries were listed, and visits them.
    pub(super) fn begin_listed(&mut self, dir: Arc<Dir<V::State>>, listed: ListedEntries) {
        // A visitor may ask for the descriptor: the directory is then found again by its identity.
        let identity = listed.identity;
        dir.slot.set_identity(identity);
        if self.enter(&dir, || Ok(identity)) {
            self.visit_listed(&dir, 0, listed);
        }
        self.finish(dir);
    }

    /// Visits the entries in the buffer, which are batch `index`. Pushes the rest of the directory,
    /// if it goes on, and in preorder the parts of the batch behind each directory.
    fn visit_listed(&mut self, dir: &Arc<Dir<V::State>>, index: u32, listed: ListedEntries) {
        let ListedEntries {
            next,
            failure,
            metadata,
            calls,
            begin,
            ..
        } = listed;
        let cuts = if self.shared.options.preorder {
            self.cut()
        } else {
            Vec::new()
        };
        if let Some(next) = next {
            self.push_rest(dir, index + 1, RestFrom::Listing(next));
        }
        let numbers = self.push_cuts(dir, None, numbers_of_read(index), metadata, cuts);
        self.visit(dir, None, numbers, metadata, calls, begin);
        if let Some(failure) = failure {
            self.fail(dir, failure);
        }
        if self.totals.entries - self.reported.entries > REPORT_EVERY {
            self.report();
        }
    }
}
