//! The leftovers that a walk goes on with.

use super::Worker;
use super::pull::ReadEntries;
use super::roots::push_roots;
use crate::sources::names_at::NamesAt;
use crate::sources::raw_batch::RawBatch;
use crate::sources::stat::stat_entries;
use crate::sources::volume::open_root;
use crate::sources::{DirectoryJob, JobStep};
use crate::system::filesystem;
use crate::visit::dir::{Dir, Origin};
use crate::visit::error::{Failure, Operation};
use crate::visit::leftover::{Leftover, ListedName, Remaining};
use crate::visit::metadata::Identity;
use crate::visit::visitor::Visitor;
use crate::walk::descriptors::{At, identity, open_beneath};
use crate::walk::positions::{is_mount_root, seek};
use crate::walk::scheduler::Task;
use crate::walk::settings::Follow;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::ffi::CString;
use std::sync::Arc;

impl<V: Visitor> Worker<'_, V> {
    /// Pushes the directories of all leftovers. The first is pushed last, so that it is popped
    /// first.
    pub(super) fn resume(&mut self) {
        let shared = self.shared;
        let roots = self.resumed_roots();
        let leftovers = shared.options.resume.as_deref().unwrap_or_default();
        let mut pushed = 0;
        for leftover in leftovers.iter().rev() {
            if let Some(dir) = self.dir_of(leftover, &roots) {
                self.deque.push(Task::Open(Arc::new(dir)));
                pushed += 1;
            }
        }
        if pushed > 0 {
            self.pushed(pushed);
        }
        for root in roots.into_iter().flatten() {
            shared.descriptors.child_opened(&root);
            self.finish(root);
        }
        shared.scheduler.finish_root();
    }

    /// Opens the roots, and returns a node for each, or why it cannot be opened.
    fn resumed_roots(&mut self) -> Vec<Result<Arc<Dir<V::State>>, Errno>> {
        let shared = self.shared;
        let roots = &shared.options.roots;
        let mut raw = RawBatch::default();
        push_roots(roots, &mut raw);
        let place = NamesAt::Roots(roots);
        stat_entries(&mut raw, place, shared.root_fields, true, false);
        let mut nodes = Vec::with_capacity(roots.len());
        for index in 0..roots.len() {
            let node = match (raw.metadata(index), raw.failure(index)) {
                (Some(metadata), _) => {
                    shared.boundaries.set(index, metadata);
                    self.resumed_root(index)
                }
                (None, failure) => Err(failure.unwrap_or(Errno::NOENT)),
            };
            nodes.push(node);
        }
        nodes
    }

    /// Opens a root, and returns its node. The root stays open until the last of its leftovers is
    /// opened.
    fn resumed_root(&self, index: usize) -> Result<Arc<Dir<V::State>>, Errno> {
        let shared = self.shared;
        let node = self.root_node(index, V::State::default());
        let fd = self.open_root(index)?;
        let found = identity(&*fd)?;
        // Each root is looked at once.
        let _ = shared.root_identities[index].set(found);
        node.slot.set_identity(found);
        node.set_partial();
        let node = Arc::new(node);
        shared.descriptors.expect_children(&node, 1, Some(&fd));
        shared.scheduler.add_roots(1);
        Ok(node)
    }

    fn open_root(&self, index: usize) -> Result<Arc<DirectoryFd>, Errno> {
        let options = &self.shared.options;
        let opened = open_root(&options.roots[index], options.follow != Follow::Never)?;
        Ok(Arc::new(opened.into()))
    }

    fn root_node(&self, index: usize, state: V::State) -> Dir<V::State> {
        let options = &self.shared.options;
        let root = &options.roots[index];
        let origin = match &root.fd {
            Some(fd) => Origin::RootFd(Arc::clone(fd)),
            None => Origin::RootPath {
                follow: options.follow != Follow::Never,
            },
        };
        let name = root.c_name().unwrap_or_default();
        let number = u32::try_from(index).unwrap_or(u32::MAX);
        Dir::root(&name, number, 0, origin, state)
    }

    /// Returns the node of a leftover. If its root is not there any more, or is another one,
    /// reports that and returns `None`.
    fn dir_of(
        &mut self,
        leftover: &Leftover,
        roots: &[Result<Arc<Dir<V::State>>, Errno>],
    ) -> Option<Dir<V::State>> {
        let root = match roots.get(leftover.root) {
            Some(Ok(root)) => root,
            Some(Err(errno)) => return self.not_resumed(leftover, *errno),
            None => return self.not_resumed(leftover, Errno::NOENT),
        };
        let Ok(name) = CString::new(leftover.path.clone()) else {
            return self.not_resumed(leftover, Errno::NOENT);
        };
        // Another machine may number the device of the same file system differently.
        let found = root.slot.identity().map(|found| found.ino);
        if found != Some(leftover.root_identity.ino) {
            return self.not_resumed(leftover, Errno::STALE);
        }
        let state = self.visitor.resume(leftover);
        if leftover.path.is_empty() {
            let mut dir = self.root_node(leftover.root, state);
            dir.resume(leftover.clone());
            self.shared.scheduler.add_roots(1);
            return Some(dir);
        }
        root.add_pending(1);
        self.shared.descriptors.expect_children(root, 1, None);
        Some(Dir::resumed(root, &name, leftover.clone(), state))
    }

    /// Reports a leftover whose root cannot be gone on with. It stays a leftover.
    fn not_resumed(&mut self, leftover: &Leftover, errno: Errno) -> Option<Dir<V::State>> {
        let root = self.shared.options.roots.get(leftover.root);
        let mut path = root.map(|root| root.name.clone()).unwrap_or_default();
        if !leftover.path.is_empty() {
            path.push(b'/');
            path.extend_from_slice(&leftover.path);
        }
        let operation = Operation::Open;
        let place = (path, leftover.depth);
        self.report_error(Failure { operation, errno }, place, false, None);
        self.leftovers.push(leftover.clone());
        None
    }

    /// Opens the directory of a leftover, beneath its root, and gives it to the source at the
    /// position from which it remains.
    pub(super) fn open_resumed(&mut self, dir: Arc<Dir<V::State>>, leftover: &Leftover) {
        let opened = self.open_below_root(&dir).and_then(|fd| {
            self.check_identity(&fd, leftover)?;
            if let Remaining::From { position, .. } = leftover.remaining {
                seek(&fd, position).map_err(open_failure)?;
            }
            Ok(fd)
        });
        let fd = match opened {
            Ok(fd) => fd,
            Err(failure) => return self.open_failed(dir, failure),
        };
        if !self.enter(&dir, || identity(&*fd)) {
            return self.finish(dir);
        }
        if let Remaining::Names(names) = &leftover.remaining {
            return self.visit_names(dir, &fd, names);
        }
        dir.reads.begin(0);
        self.give(DirectoryJob {
            dir,
            step: JobStep::Read(fd),
            next_batch: 0,
            concurrent: false,
            to_end: !self.pin_in_advance(),
        });
    }

    fn open_below_root(&self, dir: &Arc<Dir<V::State>>) -> Result<Arc<DirectoryFd>, Failure> {
        let Some(root) = dir.parent_arc() else {
            return self.open_root(dir.root_index()).map_err(open_failure);
        };
        match self.shared.descriptors.get(root) {
            Ok(At::Dir(root)) => open_beneath(&root, dir.name()).map_err(open_failure),
            // A root that is not at its place has not vanished with all below it: its file system
            // may have been unmounted.
            Ok(At::Cwd) => Err(open_failure(Errno::STALE)),
            Err(failure) if failure.is_race() => Err(open_failure(Errno::STALE)),
            Err(failure) => Err(failure),
        }
    }

    /// Returns a failure if another directory is at the place of a leftover.
    fn check_identity(&self, fd: &DirectoryFd, leftover: &Leftover) -> Result<(), Failure> {
        let found = identity(fd).map_err(open_failure)?;
        let Some(expected) = leftover.identity else {
            return Ok(());
        };
        let root = self.shared.root_identities[leftover.root].get();
        let is_elsewhere = |identity: Identity, root: Identity| identity.dev != root.dev;
        let same_device = root.is_some_and(|root| {
            is_elsewhere(found, *root) == is_elsewhere(expected, leftover.root_identity)
        });
        if found.ino == expected.ino && same_device {
            return Ok(());
        }
        // An automount shows its directory only when it is opened.
        if leftover.remaining == Remaining::Whole && is_mount_root(fd).map_err(open_failure)? {
            return Ok(());
        }
        Err(open_failure(if filesystem::has_lasting_inodes(fd) {
            Errno::NOENT
        } else {
            Errno::STALE
        }))
    }

    /// Visits entries whose names were read before.
    fn visit_names(
        &mut self,
        dir: Arc<Dir<V::State>>,
        fd: &Arc<DirectoryFd>,
        names: &[ListedName],
    ) {
        self.raw.clear();
        for listed in names {
            let (file_type, ino) = (listed.file_type, listed.ino);
            self.raw.records.push_bytes(&listed.name, file_type, ino);
        }
        self.shared.spending.add(names.len());
        let begin = self.meter.begin();
        let entries = ReadEntries {
            dir: &dir,
            fd,
            index: 0,
            metadata: false,
            begin,
        };
        self.visit_entries(&entries, None, false, false);
        self.finish(dir);
    }
}

fn open_failure(errno: Errno) -> Failure {
    Failure {
        operation: Operation::Open,
        errno,
    }
}
