//! A directory of the walk: a small counted node that knows its parent, its name and what is still pending below it.
//!
//! Nodes live while something below them is pending, never longer: what a walk holds in memory are the directories in
//! flight. Paths are not stored; they are built from the chain of parents when asked for.

use crate::descriptor::Slot;
use crate::metadata::Identity;
use crate::name::Name;
use ringwalk_sys::DirectoryFd;
use std::ffi::CStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How a directory is opened.
#[derive(Debug)]
pub(crate) enum Origin {
    /// By its name in the parent's directory. `follow`: the name is a symbolic link that the walk follows.
    Entry { follow: bool },
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
    /// The inode number as the directory above has it; 0 for a root.
    ino: u64,
    depth: u32,
    root_index: u32,
    pub(crate) origin: Origin,
    /// This directory or one above it was reached through a link: it may be one that the walk is inside of.
    below_link: bool,
    /// Reads and batches under way, plus children that have not been left. Zero: time to leave.
    pub(crate) pending: AtomicUsize,
    /// The descriptor that children are opened relative to.
    pub(crate) slot: Slot,
    /// A visitor is done with this directory before all of it has been read.
    pruned: AtomicBool,
    /// Nothing more is to be read of it: it has been read to its end, or cannot be.
    ended: AtomicBool,
    /// That it could not be read on has been told.
    failed: AtomicBool,
    state: S,
}

impl<S> Dir<S> {
    pub(crate) fn root(name: &CStr, root_index: u32, origin: Origin, state: S) -> Self {
        Self {
            parent: None,
            name: name.into(),
            ino: 0,
            depth: 0,
            root_index,
            origin,
            below_link: false,
            pending: AtomicUsize::new(1),
            slot: Slot::default(),
            pruned: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            state,
        }
    }

    pub(crate) fn child(parent: &Arc<Self>, name: &CStr, ino: u64, follow: bool, state: S) -> Self {
        Self {
            name: name.into(),
            ino,
            depth: parent.depth + 1,
            root_index: parent.root_index,
            origin: Origin::Entry { follow },
            below_link: follow || parent.below_link,
            pending: AtomicUsize::new(1),
            slot: Slot::default(),
            pruned: AtomicBool::new(false),
            ended: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            state,
            parent: Some(Arc::clone(parent)),
        }
    }

    /// What the visitor keeps with this directory. Several workers may look at it at once.
    pub fn state(&self) -> &S {
        &self.state
    }

    /// Levels below the root: 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth as usize
    }

    /// The place of this directory's root in the list of roots, from 0.
    pub fn root_index(&self) -> usize {
        self.root_index as usize
    }

    /// The directory this one was found in; `None` for a root.
    pub fn parent(&self) -> Option<&Dir<S>> {
        self.parent.as_deref()
    }

    pub(crate) fn parent_arc(&self) -> Option<&Arc<Dir<S>>> {
        self.parent.as_ref()
    }

    /// The last component of the path; for a root the path as it was given.
    pub fn name(&self) -> &[u8] {
        self.name.bytes()
    }

    /// The last component for a system call; for a root the path as it was given.
    pub fn c_name(&self) -> &CStr {
        self.name.as_c_str()
    }

    /// The path, beginning with the root as it was given.
    pub fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.path_into(&mut path);
        path
    }

    /// Writes the path over what is in `path`. Its length may exceed `PATH_MAX`.
    pub fn path_into(&self, path: &mut Vec<u8>) {
        path.clear();
        // The length first, then the names from the last to the first: no list of ancestors, no recursion.
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

    /// The inode number as the directory above has it, which at a mount point is that of the directory underneath; 0 for a
    /// root.
    pub(crate) fn ino(&self) -> u64 {
        self.ino
    }

    pub(crate) fn is_below_link(&self) -> bool {
        self.below_link
    }

    /// This directory or the nearest above it that is the one with this identity, as far as identities have been noted.
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

    /// Notes that nothing more is to be read.
    pub(crate) fn end(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Notes that it could not be read on; true for the first who does.
    pub(crate) fn fail_to_end(&self) -> bool {
        self.end();
        !self.failed.swap(true, Ordering::Relaxed)
    }

    /// Whether nothing more is to be read.
    pub(crate) fn has_ended(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    pub(crate) fn is_pruned(&self) -> bool {
        self.pruned.load(Ordering::Relaxed)
    }

    pub(crate) fn prune(&self) {
        self.pruned.store(true, Ordering::Relaxed);
    }

    /// Slashes between this directory's path and a name in it: none after one, nor after the empty name that an open
    /// root may have been given.
    fn slash(&self) -> usize {
        let name = self.name();
        usize::from(!name.is_empty() && !name.ends_with(b"/"))
    }

    /// Adds work that must be finished before this directory is left.
    pub(crate) fn add_pending(&self, count: usize) {
        self.pending.fetch_add(count, Ordering::Relaxed);
    }

    /// Takes away one piece of work; true when it was the last, and the directory is to be left.
    pub(crate) fn finish_one(&self) -> bool {
        // Acquire and release: who leaves the directory sees all that other workers did to its state.
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
        let mut dir = Arc::new(Dir::root(root, 0, Origin::RootPath { follow: false }, ()));
        for name in names {
            dir = Arc::new(Dir::child(&dir, name, 0, false, ()));
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
