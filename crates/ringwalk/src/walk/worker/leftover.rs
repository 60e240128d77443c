//! Tasks that become leftovers when the budget is spent.

use super::Worker;
use crate::sources::raw_batch::RawBatch;
use crate::sources::syscall::read_failure;
use crate::system::filesystem;
use crate::visit::dir::{Dir, Origin};
use crate::visit::leftover::{Leftover, ListedName, Remaining};
use crate::visit::metadata::Identity;
use crate::visit::visitor::Visitor;
use crate::walk::descriptors::{Descriptors, identity};
use crate::walk::positions::{ResumePoint, cut, resume_point};
use crate::walk::scheduler::{Part, Rest, RestFrom, Task};
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::collections::HashMap;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Makes a leftover of a task. Returns the task if this walk must do it. Entries that have been
    /// read are visited, unless names become leftovers. A directory is read to its end if no other
    /// walk can continue it.
    pub(super) fn make_leftover(&mut self, task: Task<V::State>) -> Option<Task<V::State>> {
        match task {
            Task::Open(dir) if !dir.parent().is_some_and(Dir::is_pruned) => {
                let leftover = self.unopened_leftover(&dir);
                self.keep(leftover, &dir);
                self.abandon(dir);
                None
            }
            Task::Rest(rest) if !rest.dir.is_pruned() && !rest.dir.has_ended() => {
                self.make_leftover_of_rest(*rest)
            }
            Task::Part(part) if self.leaves_names() && !part.metadata && !part.dir.is_pruned() => {
                self.make_leftover_of_part(*part)
            }
            task => Some(task),
        }
    }

    /// Keeps a leftover of `dir`.
    fn keep(&mut self, leftover: Leftover, dir: &Arc<Dir<V::State>>) {
        dir.set_partial();
        self.leftovers.push(leftover);
    }

    /// Returns the leftover of a directory that was not opened.
    fn unopened_leftover(&self, dir: &Arc<Dir<V::State>>) -> Leftover {
        if let Some(resumed) = &dir.resumed {
            // What remained before remains now.
            let tag = self.visitor.tag(dir);
            return Leftover {
                tag,
                ..(**resumed).clone()
            };
        }
        let seen = match &dir.origin {
            Origin::Entry { seen, .. } => *seen,
            Origin::RootPath { .. } | Origin::RootFd(_) => self.root_identity(dir),
        };
        let identity = seen.or_else(|| listed_identity(dir));
        self.leftover_of(dir, identity, Remaining::Whole)
    }

    /// Makes a leftover of the rest of a directory, if another walk can go on there. Otherwise
    /// returns the task.
    fn make_leftover_of_rest(&mut self, rest: Rest<V::State>) -> Option<Task<V::State>> {
        let RestFrom::Fd { fd, .. } = &rest.from else {
            return Some(Task::Rest(Box::new(rest)));
        };
        match identity(&**fd).and_then(|found| Ok((found, resume_point(fd)?))) {
            Ok((found, ResumePoint::At(position))) => {
                let to = end_of_range(&rest.dir);
                let remaining = Remaining::From { position, to };
                let leftover = self.leftover_of(&rest.dir, Some(found), remaining);
                self.keep(leftover, &rest.dir);
            }
            Ok((_, ResumePoint::AtEnd)) => {}
            Ok((_, ResumePoint::Lost(errno))) => self.fail(&rest.dir, read_failure(errno)),
            // After an error, reading on gives the same one, or succeeds.
            Ok((_, ResumePoint::Declined)) | Err(_) => return Some(Task::Rest(Box::new(rest))),
        }
        if let RestFrom::Fd { fd, pinned } = rest.from {
            self.drop_rest(rest.dir, fd, pinned);
        }
        None
    }

    /// Returns true if entries that were read become leftovers when their metadata was not asked
    /// for.
    pub(super) fn leaves_names(&self) -> bool {
        self.shared.options.leave_names
            && self.may_divide()
            && self.shared.spending.is_spent()
            && self.shared.concurrency.has_waited()
    }

    /// Makes a leftover of a part of a batch. Returns the task if its entries need no calls, or its
    /// directory is not open.
    fn make_leftover_of_part(&mut self, part: Part<V::State>) -> Option<Task<V::State>> {
        let descending = part.dir.depth() + 1 < self.shared.options.max_depth;
        let needs_calls = self
            .shared
            .entry_fields
            .needs_any(&part.raw.records, descending);
        // Without its identity the directory could be replaced, and nobody would see it.
        let found = Descriptors::held(&part.dir).and_then(|fd| identity(&*fd).ok());
        let Some(found) = found.filter(|_| needs_calls) else {
            return Some(Task::Part(Box::new(part)));
        };
        let names = names_of(&part.raw);
        let leftover = self.leftover_of(&part.dir, Some(found), Remaining::Names(names));
        self.keep(leftover, &part.dir);
        self.shared.descriptors.child_opened(&part.dir);
        self.finish(part.dir);
        None
    }

    fn leftover_of(
        &self,
        dir: &Arc<Dir<V::State>>,
        identity: Option<Identity>,
        remaining: Remaining,
    ) -> Leftover {
        Leftover {
            root: dir.root_index(),
            root_identity: self
                .root_identity(dir)
                .unwrap_or(Identity { dev: 0, ino: 0 }),
            path: self.path_below_root(dir),
            depth: dir.depth(),
            identity,
            remaining,
            read: dir.read(),
            tag: self.visitor.tag(dir),
        }
    }

    /// Returns device and inode number of the root of `dir`.
    fn root_identity(&self, dir: &Dir<V::State>) -> Option<Identity> {
        self.shared.root_identities[dir.root_index()].get().copied()
    }

    /// Returns the path of `dir` relative to its root.
    fn path_below_root(&self, dir: &Dir<V::State>) -> Vec<u8> {
        let mut path = dir.path();
        let root = &self.shared.options.roots[dir.root_index()].name;
        path.drain(..root.len().min(path.len()));
        if path.first() == Some(&b'/') {
            path.remove(0);
        }
        path
    }

    /// Returns true if the range of a directory that the walk goes on with ends in the buffer, and
    /// removes the entries behind its end.
    pub(super) fn ends_range(
        &mut self,
        dir: &Dir<V::State>,
        fd: &Arc<DirectoryFd>,
    ) -> Result<bool, Errno> {
        match end_of_range(dir) {
            Some(to) => cut(&mut self.raw, fd, to),
            None => Ok(false),
        }
    }
}

/// Returns the entries of a batch as the directory lists them.
fn names_of(raw: &RawBatch) -> Vec<ListedName> {
    let records = &raw.records;
    let listed = (0..records.len()).map(|index| ListedName {
        name: records.name(index).to_bytes().to_vec(),
        file_type: records.file_type(index),
        ino: records.ino(index),
    });
    listed.collect()
}

/// Joins the leftovers of each directory that are names. A batch that is cut into many parts makes
/// a leftover of each.
pub(crate) fn join_names(leftovers: Vec<Leftover>) -> Vec<Leftover> {
    let mut joined: Vec<Leftover> = Vec::with_capacity(leftovers.len());
    let mut places: HashMap<(usize, Vec<u8>, u64), usize> = HashMap::new();
    for leftover in leftovers {
        let Remaining::Names(names) = leftover.remaining else {
            joined.push(leftover);
            continue;
        };
        let key = (leftover.root, leftover.path.clone(), leftover.tag);
        let place = places.get(&key).map(|place| &mut joined[*place]);
        match place {
            Some(first) if first.identity == leftover.identity => {
                if let Remaining::Names(all) = &mut first.remaining {
                    all.extend(names);
                }
            }
            _ => {
                places.insert(key, joined.len());
                joined.push(Leftover {
                    remaining: Remaining::Names(names),
                    ..leftover
                });
            }
        }
    }
    joined
}

/// Returns device and inode number of a directory as the directory above lists it. At a mount point
/// they identify the directory underneath.
fn listed_identity<S>(dir: &Dir<S>) -> Option<Identity> {
    let parent = Descriptors::held(dir.parent()?)?;
    let found = identity(&*parent).ok()?;
    (dir.number() != 0 && filesystem::lists_inodes(&*parent)).then(|| Identity {
        dev: found.dev,
        ino: dir.number(),
    })
}

/// Returns the position at which the range of a directory ends that the walk goes on with.
fn end_of_range<S>(dir: &Dir<S>) -> Option<i64> {
    match dir.resumed.as_ref()?.remaining {
        Remaining::From { to, .. } => to,
        Remaining::Whole | Remaining::Names(_) => None,
    }
}
