//! What of a walk is read past the VFS: which of its directories, and whether it is worth it.
//!
//! Volumes are opened when it is worth the trouble: at once if a source was asked for by name, else by the worker that finds that
//! the walk is not a small one ([`Bulk::is_worth_it`]). Until then, and beside it, directories are read by system calls;
//! nothing depends on when that changes.

use super::grounds::{Ground, Grounds, MOST_ROOTS, RootPlace};
use super::{Refused, Wanting, seconds_now};
use crate::dir::Dir;
use crate::metadata::{Identity, Metadata};
use crate::options::{Options, Order, SourceChoice};
use ringwalk_sys::Records;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// `auto` opens volumes after so many entries, a directory counting for [`DIRECTORY_WORTH`]: opening takes about as long as
/// asking 200 files for their metadata.
const WORTH: u64 = 2000;

/// Entries that reading a directory takes as long as.
const DIRECTORY_WORTH: u64 = 4;

/// `auto` looks whether a volume is of use after it has left so many entries to be asked for.
const MANY_LEFT: u64 = 1000;

/// Directories further below their root are read by system calls: all those above are looked at for each of them, and would have to
/// be gone through again whenever one is opened.
const DEEPEST: usize = 1000;

/// What of a walk is read past the VFS.
pub(crate) struct Bulk {
    /// Whether the walk is of a kind that can be.
    allowed: bool,
    /// When the walk began, in seconds since the epoch.
    since: u64,
    begun: AtomicBool,
    grounds: OnceLock<Grounds>,
    /// Roots as the walk itself has found them.
    seen: Vec<OnceLock<RootPlace>>,
    handed_back: AtomicU64,
    /// Entries whose metadata came past the VFS, and those that had to be asked for.
    answered: AtomicU64,
    left: AtomicU64,
    given_up: AtomicBool,
    /// Why a directory was last handed back.
    why: Mutex<Option<Refused>>,
}

impl Bulk {
    pub(crate) fn new(options: &Options, found: Option<Grounds>) -> Self {
        let allowed = is_allowed(options);
        let seen = if allowed { options.roots.len() } else { 0 };
        let begun = found.is_some();
        let grounds = OnceLock::new();
        if let Some(found) = found {
            // The cell is empty.
            let _ = grounds.set(found);
        }
        Self {
            allowed,
            since: seconds_now(),
            begun: AtomicBool::new(begun),
            grounds,
            seen: (0..seen).map(|_| OnceLock::new()).collect(),
            handed_back: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            left: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
            why: Mutex::new(None),
        }
    }

    /// Whether roots' inode numbers and mounts must be known.
    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Notes what the walk has found a root to be.
    pub(crate) fn set_root(&self, root: usize, metadata: &Metadata) {
        if let Some(seen) = self.seen.get(root) {
            // Each root is looked at once.
            let _ = seen.set(metadata.into());
        }
    }

    /// How many times a worker has seen what makes it worth opening volumes.
    #[inline]
    pub(crate) fn worth(entries: u64, directories: u64) -> u64 {
        (entries + directories * DIRECTORY_WORTH) / WORTH
    }

    /// Whether directories are listed past the VFS.
    #[inline]
    pub(crate) fn is_listing(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
            && self.grounds().iter().any(|ground| ground.volume.lists())
    }

    /// Whether volumes may be opened and have not been.
    #[inline]
    pub(crate) fn may_open(&self) -> bool {
        self.allowed && !self.begun.load(Ordering::Relaxed)
    }

    /// Opens volumes, if that has not been done; other workers go on without meanwhile.
    #[cold]
    pub(crate) fn open(&self, options: &Options) {
        if !self.begun.swap(true, Ordering::Relaxed) {
            // Only who has set the flag gets here.
            let _ = self.grounds.set(Grounds::find(options, self.since));
        }
    }

    /// The source that was read from.
    pub(crate) fn source(&self) -> &'static str {
        if !self.allowed {
            return "syscall";
        }
        let first = self.grounds().first();
        first.map_or("syscall", |ground| ground.volume.name())
    }

    /// Why that one.
    pub(crate) fn reason(&self, options: &Options) -> String {
        let described = self.grounds().iter().map(|ground| ground.volume.describe());
        let described = described.collect::<Vec<_>>().join("; ");
        if self.given_up.load(Ordering::Relaxed) {
            return format!("{described}; given up, as most files were changed lately");
        }
        match (options.source, described.is_empty()) {
            // Nothing else was wanted.
            (SourceChoice::Syscall, _) => String::new(),
            (_, empty) if empty || !self.allowed => self.why_not().to_owned(),
            _ => described,
        }
    }

    /// Why `auto` has no volume.
    fn why_not(&self) -> &str {
        if !self.allowed {
            return "the walk wants directories open or entries in order";
        }
        let Some(found) = self.grounds.get() else {
            return "too small a walk to look for another";
        };
        let first = found.refused.first();
        first.map_or("no root is a directory", |(_, why)| &why.0)
    }

    pub(crate) fn grounds(&self) -> &[Ground] {
        self.grounds.get().map_or(&[], |found| &found.all)
    }

    /// The ground that a directory is to be read on, and how it is asked for there. `None` if it must be read by system calls.
    pub(crate) fn ground_of<'d, S>(&self, dir: &'d Dir<S>) -> Option<(usize, Wanting<'d>)> {
        if self.given_up.load(Ordering::Relaxed) {
            return None;
        }
        self.place_of(dir)
    }

    /// As [`ground_of`](Self::ground_of), for a directory that has been read in part: it is read on where it was begun, even
    /// if the others no longer are.
    pub(crate) fn place_of<'d, S>(&self, dir: &'d Dir<S>) -> Option<(usize, Wanting<'d>)> {
        let found = self.grounds.get()?;
        let (index, place) = (*found.of_roots.get(dir.root_index())?)?;
        if self.seen.get(dir.root_index())?.get() != Some(&place)
            || dir.is_below_link()
            || dir.depth() > DEEPEST
        {
            return None;
        }
        let ground = &found.all[index];
        let ino = |dir: &Dir<S>| match dir.parent() {
            Some(_) => dir.ino(),
            None => place.identity.ino,
        };
        let own = ino(dir);
        let mut at = dir;
        // Above, nothing may have led elsewhere; and on a damaged file system a directory may be in itself, which the
        // kernel refuses to enter (`ELOOP`).
        while let Some(parent) = at.parent() {
            let above = ino(parent);
            if !ground.volume.holds(at.ino())
                || ground.covered.contains(above, at.name())
                || above == own
            {
                return None;
            }
            at = parent;
        }
        let wanting = Wanting {
            ino: own,
            parent: dir.parent().map(ino),
            name: dir.name(),
        };
        Some((index, wanting))
    }

    /// What an open directory would say of itself, for one that lies on a ground.
    pub(crate) fn identity_of<S>(&self, dir: &Dir<S>, ino: u64) -> Identity {
        let seen = self.seen.get(dir.root_index()).and_then(OnceLock::get);
        Identity {
            // A directory has a ground only where its root has been seen.
            dev: seen.map_or(0, |place| place.identity.dev),
            ino,
        }
    }

    /// The entries of a directory that lead away from its ground: to what is mounted on them, to other parts.
    pub(crate) fn elsewhere(&self, ground: usize, ino: u64, records: &Records) -> Vec<usize> {
        let Ground {
            volume, covered, ..
        } = &self.grounds()[ground];
        let names = covered.names_in(ino);
        if names.is_empty() && !volume.has_parts() {
            return Vec::new();
        }
        let is_covered = |index| {
            let name = records.name(index).to_bytes();
            names.iter().any(|covered| covered == name)
        };
        (0..records.len())
            .filter(|&index| !volume.holds(records.ino(index)) || is_covered(index))
            .collect()
    }

    /// Counts entries whose metadata a reader has told, and those it has left. `auto` gives up where most are left, as
    /// in a tree that was written a moment ago: asking for them one by one in directories that were not opened takes longer than
    /// reading by system calls does.
    pub(crate) fn count_answers(&self, options: &Options, answered: u64, left: u64) {
        let answered = self.answered.fetch_add(answered, Ordering::Relaxed) + answered;
        let left = self.left.fetch_add(left, Ordering::Relaxed) + left;
        if left >= MANY_LEFT && left > answered && options.source == SourceChoice::Auto {
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a directory that a reader has refused.
    pub(crate) fn hand_back(&self, why: Refused) {
        self.handed_back.fetch_add(1, Ordering::Relaxed);
        *self.why.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
    }

    pub(crate) fn handed_back(&self) -> u64 {
        self.handed_back.load(Ordering::Relaxed)
    }

    /// Why a directory was last handed back.
    pub(crate) fn last_hand_back(&self) -> Option<String> {
        let why = self.why.lock().unwrap_or_else(PoisonError::into_inner);
        why.as_ref().map(ToString::to_string)
    }
}

/// Whether a walk is of a kind that volumes can serve: those that act on open directories or want a certain order are served
/// by system calls, which open each directory in any case.
fn is_allowed(options: &Options) -> bool {
    if options.parents_open || options.preorder || options.order == Order::Name {
        return false;
    }
    if options.source == SourceChoice::Auto {
        return options.roots.len() <= MOST_ROOTS && options.max_depth > 0;
    }
    options.source.is_volume()
}
