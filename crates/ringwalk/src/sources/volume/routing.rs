//! Volume routing: decides which directories of a walk are read past the VFS, and from which
//! volume.
//!
//! The walk opens volumes at once if a source was asked for by name. Otherwise the first worker
//! that has seen enough opens them (`choose/rules.rs`, `worth`). Until then, and for directories on
//! no volume, workers use system calls. No answer depends on when that changes.

use super::mounted_volumes::{MountedVolume, MountedVolumes, RootPlace};
use super::{DirectoryKey, Refused, seconds_now};
use crate::sources::choose::rules;
use crate::sources::registry::SourceChoice;
use crate::visit::dir::Dir;
use crate::visit::metadata::{Identity, Metadata};
use crate::walk::options::Options;
use ringwalk_sys::Records;
use ringwalk_sys::sync::lock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};

/// `auto` may give volumes up after they have left this many entries to system calls.
const MANY_UNANSWERED: u64 = 1000;

/// The greatest depth below their root at which volumes read directories. Routing examines all
/// ancestors of each directory, and opening a directory by name goes through all of them again.
const DEEPEST: usize = 1000;

/// Routes the directories of a walk to volumes.
pub(crate) struct VolumeRouting {
    /// True if volumes can serve a walk of this kind.
    allowed: bool,
    /// When the walk began, in seconds since the epoch.
    since: u64,
    begun: AtomicBool,
    volumes: OnceLock<MountedVolumes>,
    /// The roots as the walk has found them.
    seen: Vec<OnceLock<RootPlace>>,
    fell_back: AtomicU64,
    /// Entries whose metadata came from a volume, and entries for which system calls were made.
    answered: AtomicU64,
    unanswered: AtomicU64,
    given_up: AtomicBool,
    /// Why the last directory fell back to system calls.
    why: Mutex<Option<Refused>>,
}

impl VolumeRouting {
    pub(crate) fn new(options: &Options, found: Option<MountedVolumes>) -> Self {
        let allowed = rules::may_use_volumes(options);
        let seen = if allowed { options.roots.len() } else { 0 };
        let begun = found.is_some();
        let volumes = OnceLock::new();
        if let Some(found) = found {
            // The cell is empty.
            let _ = volumes.set(found);
        }
        Self {
            allowed,
            since: seconds_now(),
            begun: AtomicBool::new(begun),
            volumes,
            seen: (0..seen).map(|_| OnceLock::new()).collect(),
            fell_back: AtomicU64::new(0),
            answered: AtomicU64::new(0),
            unanswered: AtomicU64::new(0),
            given_up: AtomicBool::new(false),
            why: Mutex::new(None),
        }
    }

    /// Returns true if volumes can serve the walk, which then needs inode numbers and mounts of its
    /// roots.
    pub(crate) fn is_allowed(&self) -> bool {
        self.allowed
    }

    /// Notes the metadata of a root.
    pub(crate) fn set_root(&self, root: usize, metadata: &Metadata) {
        if let Some(seen) = self.seen.get(root) {
            // Each root is looked at once.
            let _ = seen.set(metadata.into());
        }
    }

    /// Returns true if a volume lists directories.
    #[inline]
    pub(crate) fn is_listing(&self) -> bool {
        !self.given_up.load(Ordering::Relaxed)
            && self
                .volumes()
                .iter()
                .any(|mounted_volume| mounted_volume.volume.lists())
    }

    /// Returns true if volumes may be opened and are not yet.
    #[inline]
    pub(crate) fn may_open(&self) -> bool {
        self.allowed && !self.begun.load(Ordering::Relaxed)
    }

    /// Opens the volumes, once. Other workers go on without them meanwhile.
    #[cold]
    pub(crate) fn open(&self, options: &Options) {
        if !self.begun.swap(true, Ordering::Relaxed) {
            // Only the worker that has set the flag gets here.
            let _ = self.volumes.set(MountedVolumes::find(options, self.since));
        }
    }

    /// Returns the source of the first volume; `None` if there is none.
    pub(crate) fn source(&self) -> Option<SourceChoice> {
        let first = self.volumes().first().filter(|_| self.allowed);
        first.map(|volume| volume.source)
    }

    /// Returns a description of the volumes, or why there is none. `choice` is the source that was
    /// asked for.
    pub(crate) fn reason(&self, choice: SourceChoice) -> String {
        let volumes = self.volumes().iter();
        let described: Vec<_> = volumes.map(MountedVolume::describe).collect();
        let described = described.join("; ");
        if self.given_up.load(Ordering::Relaxed) {
            return format!("{described}; given up, as most files were changed lately");
        }
        if choice == SourceChoice::Syscall {
            // The caller wants no other source.
            return String::new();
        }
        if described.is_empty() || !self.allowed {
            return self.why_not().to_owned();
        }
        described
    }

    /// Returns why `auto` has no volume.
    fn why_not(&self) -> &str {
        if !self.allowed {
            return "the walk wants directories open or entries in order";
        }
        let Some(found) = self.volumes.get() else {
            return "the walk is too small to look for another";
        };
        let first = found.refused.first();
        first.map_or("no root is a directory", |(_, why)| &why.0)
    }

    pub(crate) fn volumes(&self) -> &[MountedVolume] {
        self.volumes.get().map_or(&[], |found| &found.all)
    }

    /// Returns the mounted volume from which a directory is read, and the directory's key there.
    /// Returns `None` if system calls must read it.
    pub(crate) fn volume_of<'d, S>(&self, dir: &'d Dir<S>) -> Option<(usize, DirectoryKey<'d>)> {
        if self.given_up.load(Ordering::Relaxed) {
            return None;
        }
        self.volume_begun_on(dir)
    }

    /// Returns the same as [`volume_of`](Self::volume_of), for a directory that was read in part.
    /// Its volume continues, even if volumes have been given up since.
    pub(crate) fn volume_begun_on<'d, S>(
        &self,
        dir: &'d Dir<S>,
    ) -> Option<(usize, DirectoryKey<'d>)> {
        let found = self.volumes.get()?;
        let (index, place) = (*found.of_roots.get(dir.root_index())?)?;
        if self.seen.get(dir.root_index())?.get() != Some(&place)
            || dir.is_below_link()
            || dir.depth() > DEEPEST
        {
            return None;
        }
        let mounted_volume = &found.all[index];
        let ino = |dir: &Dir<S>| match dir.parent() {
            Some(_) => dir.number(),
            None => place.identity.ino,
        };
        let own = ino(dir);
        let mut at = dir;
        // No directory above may lead to another volume. On a damaged file system a directory may
        // lie in itself, which the kernel refuses to enter (`ELOOP`).
        while let Some(parent) = at.parent() {
            let above = ino(parent);
            if !mounted_volume.volume.holds(at.number())
                || mounted_volume.covered.contains(above, at.name())
                || above == own
            {
                return None;
            }
            at = parent;
        }
        let key = DirectoryKey {
            ino: own,
            parent: dir.parent().map(ino),
            name: dir.name(),
        };
        Some((index, key))
    }

    /// Returns the identity that statx(2) would report of a directory on a volume.
    pub(crate) fn identity_of<S>(&self, dir: &Dir<S>, ino: u64) -> Identity {
        let seen = self.seen.get(dir.root_index()).and_then(OnceLock::get);
        Identity {
            // A directory is on a volume only where its root has been seen.
            dev: seen.map_or(0, |place| place.identity.dev),
            ino,
        }
    }

    /// Returns the entries of a directory that lead away from its volume: mount points, and entries
    /// of other subvolumes.
    pub(crate) fn elsewhere(
        &self,
        mounted_volume: usize,
        ino: u64,
        records: &Records,
    ) -> Vec<usize> {
        let MountedVolume {
            volume, covered, ..
        } = &self.volumes()[mounted_volume];
        let names = covered.names_in(ino);
        if names.is_empty() && !volume.has_subvolumes() {
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

    /// Counts entries whose metadata a reader has returned, and entries that it has left to system
    /// calls. `auto` gives volumes up if they leave most entries, as in a tree that was written a
    /// moment ago. Asking for these entries one by one, in directories that are not open, takes
    /// longer than a walk by system calls.
    pub(crate) fn count_answers(&self, options: &Options, answered: u64, unanswered: u64) {
        let answered = self.answered.fetch_add(answered, Ordering::Relaxed) + answered;
        let unanswered = self.unanswered.fetch_add(unanswered, Ordering::Relaxed) + unanswered;
        if unanswered >= MANY_UNANSWERED
            && unanswered > answered
            && options.source == SourceChoice::Auto
        {
            self.given_up.store(true, Ordering::Relaxed);
        }
    }

    /// Counts a directory that a reader has refused, and that falls back to system calls.
    pub(crate) fn fall_back(&self, why: Refused) {
        self.fell_back.fetch_add(1, Ordering::Relaxed);
        *lock(&self.why) = Some(why);
    }

    pub(crate) fn fell_back(&self) -> u64 {
        self.fell_back.load(Ordering::Relaxed)
    }

    /// Returns why the last directory fell back to system calls.
    pub(crate) fn fallback_reason(&self) -> Option<String> {
        let why = lock(&self.why);
        why.as_ref().map(ToString::to_string)
    }
}
