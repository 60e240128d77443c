//! The walk that fills a tree.

use super::LiveTree;
use super::arena::{Arena, TOP};
use super::entries::{DirIndex, EntryIndex, Found};
use crate::tree::Kind;
use ringwalk::Visitor;
use ringwalk::identity::IdentityTrust;
use ringwalk::{
    Batch, Dir, Entry, Errno, Error, Fields, FileType, Flow, Left, Metadata, Operation,
};
use ringwalk_delete::{Identity, Mark};
use ringwalk_gnu::reason;
use rustix::fs::{Mode, OFlags, open};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// The fields that a tree keeps.
pub(super) const FIELDS: Fields = Identity::FIELDS.union(Fields::UID).union(Fields::BLOCKS);

/// Returns the entry of a directory that a walk begins with. Only the top may be a symbolic link.
///
/// # Errors
///
/// The errors of statx(2) and open(2).
pub(super) fn root<'n>(path: &Path, name: &'n [u8], is_top: bool) -> Result<Found<'n>, Errno> {
    let metadata = Metadata::of_path(None, path, is_top, FIELDS)?;
    let link = if is_top {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    };
    let file = open(path, OFlags::PATH | OFlags::CLOEXEC | link, Mode::empty())?;
    Ok(Found {
        name,
        kind: kind_of(metadata.file_type()),
        ..known(&metadata, IdentityTrust::of(file)).ok_or(Errno::NODATA)?
    })
}

/// What is kept of a directory while it is walked.
#[derive(Debug, Default)]
pub(super) struct State {
    directory: Option<DirIndex>,
    was_entered: AtomicBool,
}

impl State {
    fn of(directory: DirIndex) -> Self {
        Self {
            directory: Some(directory),
            was_entered: AtomicBool::new(false),
        }
    }
}

/// Puts what a walk finds into a tree.
pub(super) struct Filler<'t> {
    tree: &'t LiveTree,
    /// The root of the walk, which is in the tree already.
    root: DirIndex,
    /// The last directory that could not be opened, and whether it has vanished.
    unopened: Option<(Vec<u8>, bool)>,
}

impl<'t> Filler<'t> {
    pub(super) fn new(tree: &'t LiveTree, root: DirIndex) -> Self {
        Self {
            tree,
            root,
            unopened: None,
        }
    }

    /// Returns how the walk goes on.
    fn flow(&self) -> Flow {
        if self.tree.stop.load(Ordering::Relaxed) {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    /// Gives the root its number in the tree.
    fn begin(&self, roots: &Batch<'_, State>) {
        for root in roots.entries() {
            root.descend_with(State::of(self.root));
        }
    }

    /// Notes that a directory with this path could not be read to its end.
    fn fail_at(&self, path: &[u8]) {
        let mut arena = self.tree.work();
        let relative = path.strip_prefix(self.tree.path.as_os_str().as_bytes());
        if let Some(index) = relative.and_then(|relative| lookup(&arena, relative)) {
            arena.fail(index);
        }
    }

    /// Returns how far identities can be trusted on the file system of a directory. Only
    /// directories of its entries can lie on another one, and nothing there is deleted through
    /// this directory.
    fn trust(&self, batch: &Batch<'_, State>, directory: DirIndex) -> IdentityTrust {
        let device = self.tree.work().directories.get(directory).device;
        // Without the descriptor nothing is trusted, and a file that has changed is kept.
        self.tree.trust.of(device, || batch.fd().ok().flatten())
    }

    /// Returns what is kept of an entry, and whether the walk will read it as a directory.
    fn found<'n>(&self, entry: &Entry<'n, State>, trust: IdentityTrust) -> (Found<'n>, bool) {
        let has_failed = entry.stat_error().is_some();
        let is_directory = entry.file_type() == FileType::Directory;
        let is_read = entry.will_descend();
        let known = entry.metadata().and_then(|found| known(found, trust));
        let found = Found {
            name: entry.name(),
            kind: kind_of(entry.file_type()),
            failed: has_failed,
            other: is_directory && !is_read && !has_failed && self.tree.stays_on_device,
            ..known.unwrap_or_default()
        };
        (found, is_read)
    }
}

impl Visitor for Filler<'_> {
    type State = State;

    fn enter(&mut self, dir: &Dir<State>) -> Flow {
        dir.state().was_entered.store(true, Ordering::Relaxed);
        self.flow()
    }

    fn batch(&mut self, batch: &Batch<'_, State>) -> Flow {
        let Some(dir) = batch.dir() else {
            self.begin(batch);
            return self.flow();
        };
        let Some(directory) = dir.state().directory else {
            // There was no room for the directory, and the walk is being stopped.
            return Flow::Stop;
        };
        let trust = self.trust(batch, directory);
        let entries = batch.entries().map(|entry| self.found(&entry, trust));
        let mut arena = self.tree.work();
        arena.add(directory, entries, |number, directory| {
            if let Some(entry) = batch.get(number) {
                entry.descend_with(State::of(directory));
            }
        });
        let is_full = arena.is_full;
        drop(arena);
        self.tree.changed();
        if is_full { Flow::Stop } else { self.flow() }
    }

    fn leave(&mut self, left: &Left<'_, State>) {
        let state = left.state();
        let Some(directory) = state.directory else {
            return;
        };
        let mut arena = self.tree.work();
        arena.directories.get_mut(directory).is_done = true;
        if !state.was_entered.load(Ordering::Relaxed) {
            let entry = arena.directories.get(directory).entry;
            let path = left.path();
            match self.unopened.take().filter(|(known, _)| *known == path) {
                // Somebody has removed it meanwhile.
                Some((_, true)) => arena.remove(entry, true),
                _ => arena.fail(entry),
            }
        }
        drop(arena);
        self.tree.changed();
    }

    fn error(&mut self, error: &Error) {
        let path = error.path().as_os_str().as_bytes();
        match error.operation() {
            // The entry has a flag, or has vanished and is not listed.
            Operation::Stat => {}
            Operation::Open => self.unopened = Some((path.to_vec(), error.is_vanished())),
            _ => self.fail_at(path),
        }
        if !error.is_vanished() {
            let reason = reason(&error.errno().into());
            self.tree.note_error(path, reason);
        }
    }
}

/// Returns the kept part of metadata; `None` if it lacks one of the fields that every file has.
fn known(metadata: &Metadata, trust: IdentityTrust) -> Option<Found<'static>> {
    Some(Found {
        size: metadata.size()?,
        blocks: metadata.blocks()?,
        mtime: metadata.mtime().map(|mtime| mtime.secs),
        uid: metadata.uid(),
        device: metadata.dev()?,
        inode: metadata.ino()?,
        links: metadata.nlink()?,
        mark: Mark::of(metadata, trust),
        ..Found::default()
    })
}

fn kind_of(file_type: FileType) -> Kind {
    match file_type {
        FileType::Directory => Kind::Directory,
        FileType::Regular => Kind::File,
        FileType::Symlink => Kind::Link,
        FileType::Unknown => Kind::Unknown,
        _ => Kind::Special,
    }
}

/// Returns the entry with a path relative to the top.
pub(super) fn lookup(arena: &Arena, path: &[u8]) -> Option<EntryIndex> {
    let mut at = TOP;
    for name in path
        .split(|byte| *byte == b'/')
        .filter(|name| !name.is_empty())
    {
        let directory = arena.entries.directory(at)?;
        at = arena.child(directory, name)?;
    }
    Some(at)
}
