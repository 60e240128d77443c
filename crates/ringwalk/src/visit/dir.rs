//! A directory of the walk: a small counted node that knows its parent, its name, and how much work
//! below it is pending.
//!
//! A node lives while something below it is pending. So a walk holds the directories in flight in
//! memory, and no others. Paths are not stored: they are built from the chain of parents when
//! somebody asks.

use crate::visit::leftover::{Leftover, Remaining};
use crate::visit::metadata::Identity;
use crate::visit::name::Name;
use crate::walk::descriptors::DescriptorSlot;
use crate::walk::reads::ReadsInFlight;
use ringwalk_sys::DirectoryFd;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// How a directory is opened. Directories of a saved tree never are.
#[derive(Debug)]
pub(crate) enum Origin {
    /// By its name, relative to the parent. `follow` says that the name is a symbolic link that the
    /// walk follows. `seen` is what statx(2) said of the entry, in a walk with a budget.
    Entry {
        follow: bool,
        seen: Option<Identity>,
    },
    /// A root given as a path.
    RootPath { follow: bool },
    /// A root given as an open descriptor.
    RootFd(Arc<DirectoryFd>),
}

/// A directory that is walked, as visitors see it.
#[derive(Debug)]
pub struct Dir<S> {
    parent: Option<Arc<Dir<S>>>,
    name: Name,
    /// See [`number`](Self::number).
    number: u64,
    depth: u32,
    root_index: u32,
    pub(crate) origin: Origin,
    /// A link led to this directory or to one above it, so the walk may be inside of it already.
    below_link: bool,
    /// Reads and batches under way, plus children that have not been left. At zero the directory is
    /// left.
    pub(crate) pending: AtomicUsize,
    /// The descriptor that children are opened relative to.
    pub(crate) slot: DescriptorSlot,
    /// The reads behind the first one that are in flight.
    pub(crate) reads: ReadsInFlight,
    /// What remains of this directory, if the walk goes on where another one stopped.
    pub(crate) resumed: Option<Box<Leftover>>,
    /// Entries read of this directory, in a walk with a budget.
    read: AtomicU64,
    /// This walk does not read all of the directory, or of what is below it.
    partial: AtomicBool,
    /// The visitor wants nothing more of this directory.
    pruned: AtomicBool,
    /// Nothing more will be read of this directory: it was read to its end, or reading failed.
    ended: AtomicBool,
    /// The failure to read on has been reported.
    failed: AtomicBool,
    state: S,
}

impl<S> Dir<S> {
    /// Creates a root. Its `number` is 0 unless it is one of a saved tree.
    pub(crate) fn root(
        name: &CStr,
        root_index: u32,
        number: u64,
        origin: Origin,
        state: S,
    ) -> Self {
        Self::new(None, root_index, name, number, origin, state)
    }

    pub(crate) fn child(
        parent: &Arc<Self>,
        name: &CStr,
        number: u64,
        origin: Origin,
        state: S,
    ) -> Self {
        let root_index = parent.root_index;
        Self::new(Some(parent), root_index, name, number, origin, state)
    }

    fn new(
        parent: Option<&Arc<Self>>,
        root_index: u32,
        name: &CStr,
        number: u64,
        origin: Origin,
        state: S,
    ) -> Self {
        let below_link = matches!(origin, Origin::Entry { follow: true, .. })
            || parent.is_some_and(|parent| parent.below_link);
        Self {
            parent: parent.cloned(),
            name: name.into(),
            number,
            depth: parent.map_or(0, |parent| parent.depth + 1),
            root_index,
            origin,
            below_link,
            pending: AtomicUsize::new(1),
            slot: DescriptorSlot::default(),
            reads: ReadsInFlight::default(),
            resumed: None,
            read: AtomicU64::new(0),
            partial: AtomicBool::new(false),
            pruned: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            state,
        }
    }

    /// Creates the directory of a leftover below a root that the walk goes on with. Its name is the
    /// path relative to the root.
    pub(crate) fn resumed(root: &Arc<Self>, name: &CStr, leftover: Leftover, state: S) -> Self {
        let (follow, seen) = (false, leftover.identity);
        let origin = Origin::Entry { follow, seen };
        let mut dir = Self::child(root, name, 0, origin, state);
        // A walk counts levels in 32 bits everywhere.
        dir.depth = u32::try_from(leftover.depth).unwrap_or(u32::MAX);
        dir.resume(leftover);
        dir
    }

    /// Makes this the directory of a leftover.
    pub(crate) fn resume(&mut self, leftover: Leftover) {
        if leftover.remaining != Remaining::Whole {
            self.set_partial();
        }
        self.resumed = Some(Box::new(leftover));
    }

    /// Returns the visitor's state of this directory. Several workers may look at it at once.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Returns the number of levels below the root: 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// Returns the index of this directory's root in the list of roots, from 0.
    pub fn root_index(&self) -> usize {
        self.root_index as usize
    }

    /// Returns the directory this one was found in; `None` for a root.
    pub fn parent(&self) -> Option<&Dir<S>> {
        self.parent.as_deref()
    }

    pub(crate) fn parent_arc(&self) -> Option<&Arc<Dir<S>>> {
        self.parent.as_ref()
    }

    /// Returns the last component of the path; for a root the path as it was given. For a directory
    /// that a walk [goes on with](crate::Walk::resume) it is the path relative to the root.
    pub fn name(&self) -> &[u8] {
        self.name.bytes()
    }

    /// Returns the last component for a system call; for a root the path as it was given.
    pub fn c_name(&self) -> &CStr {
        self.name.as_c_str()
    }

    /// Returns the path, beginning with the root as it was given.
    pub fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.path_into(&mut path);
        path
    }

    /// Replaces the contents of `path` by the path. Its length may exceed `PATH_MAX`.
    pub fn path_into(&self, path: &mut Vec<u8>) {
        path.clear();
        // The length comes first, then the names from the last to the first: that needs no list of
        // ancestors and no recursion.
        let mut length = self.name().len();
        let mut dir = self;
        while let Some(parent) = dir.parent() {
            length += parent.name().len() + parent.slash();
            dir = parent;
        }
        path.resize(length, b'/');
        let mut end = length;
        let mut dir = self;
        loop {
            let start = end - dir.name().len();
            path[start..end].copy_from_slice(dir.name());
            let Some(parent) = dir.parent() else { break };
            end = start - parent.slash();
            dir = parent;
        }
    }

    /// Returns the number by which the directory is listed without being opened. It is the inode
    /// number as the directory above lists it, or 0 for a root; at a mount point it is the number
    /// of the directory underneath. In a saved tree it is the listing number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Returns the name by which the directory is opened, and whether a symbolic link of this name
    /// is followed.
    pub(crate) fn opened_by(&self) -> (&CStr, bool) {
        match &self.origin {
            Origin::Entry { follow, .. } | Origin::RootPath { follow } => (self.c_name(), *follow),
            // Opened anew, so that the position of the given descriptor stays.
            Origin::RootFd(_) => (c".", false),
        }
    }

    pub(crate) fn is_below_link(&self) -> bool {
        self.below_link
    }

    /// Returns this directory, or the nearest above it, that has this identity, as far as
    /// identities have been noted.
    pub(crate) fn or_above(&self, identity: Identity) -> Option<&Self> {
        let mut at = Some(self);
        while let Some(dir) = at {
            if dir.slot.identity() == Some(identity) {
                return at;
            }
            at = dir.parent();
        }
        None
    }

    /// Notes that nothing more will be read.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Notes that reading failed. Returns true for the first worker that notes it.
    pub(crate) fn fail_to_end(&self) -> bool {
        self.end();
        !self.failed.swap(true, Ordering::Relaxed)
    }

    /// Returns true if nothing more will be read.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Notes entries that were read of this directory.
    pub(crate) fn add_read(&self, entries: usize) {
        self.read.fetch_add(entries as u64, Ordering::Relaxed);
    }

    /// Returns how many entries of this directory were noted as read.
    pub(crate) fn read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Notes that this walk does not read all of the directory, or of what is below it.
    pub(crate) fn set_partial(&self) {
        self.partial.store(true, Ordering::Relaxed);
    }

    /// Returns true if this walk does not read all of the directory, or of what is below it.
    pub(crate) fn is_partial(&self) -> bool {
        self.partial.load(Ordering::Relaxed)
    }

    pub(crate) fn is_pruned(&self) -> bool {
        self.pruned.load(Ordering::Relaxed)
    }

    pub(crate) fn prune(&self) {
        self.pruned.store(true, Ordering::Relaxed);
    }

    /// Returns the number of slashes between this directory's path and a name in it. It is 0 if the
    /// path ends with a slash, or is the empty name of an open root.
    fn slash(&self) -> usize {
        let name = self.name();
        usize::from(!name.is_empty() && !name.ends_with(b"/"))
    }

    /// Adds work that must be finished before this directory is left.
    pub(crate) fn add_pending(&self, count: usize) {
        self.pending.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes away one piece of work. Returns true if it was the last, and the directory is to be
    /// left.
    pub(crate) fn finish_one(&self) -> bool {
        // Acquire and release: the worker that leaves the directory sees all that other workers did
        // to its state.
        self.pending.fetch_sub(1, Ordering::AcqRel) == 1
    }
}

impl<S> Drop for Dir<S> {
    /// Drops the chain of parents in a loop: a chain of 100 000 must not use as many stack frames.
    fn drop(&mut self) {
        let mut next = self.parent.take();
        while let Some(parent) = next {
            next = Arc::into_inner(parent).and_then(|mut dir| dir.parent.take());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(root: &CStr, names: &[&CStr]) -> Arc<Dir<()>> {
        let mut dir = Arc::new(Dir::root(
            root,
            0,
            0,
            Origin::RootPath { follow: false },
            (),
        ));
        for name in names {
            dir = Arc::new(Dir::child(
                &dir,
                name,
                0,
                Origin::Entry {
                    follow: false,
                    seen: None,
                },
                (),
            ));
        }
        dir
    }

    #[test]
    fn paths_begin_with_the_root_as_given() {
        assert_eq!(chain(c"/", &[]).path(), b"/");
        assert_eq!(chain(c"/", &[c"a", c"b"]).path(), b"/a/b");
        assert_eq!(chain(c"x//", &[c"a"]).path(), b"x//a");
        assert_eq!(chain(c"", &[c"a", c"b"]).path(), b"a/b");
        assert_eq!(chain(c".", &[c"a", c"bc", c"d"]).path(), b"./a/bc/d");
    }

    #[test]
    fn a_long_chain_is_dropped_without_recursion() {
        let names = vec![c"x"; 200_000];
        let dir = chain(c".", &names);
        assert_eq!(dir.depth(), 200_000);
        let thread = std::thread::Builder::new().stack_size(64 * 1024);
        thread.spawn(move || drop(dir)).unwrap().join().unwrap();
    }
}
