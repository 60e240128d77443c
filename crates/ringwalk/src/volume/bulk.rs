//! What of a walk is read past the VFS: which of its roots lie on which volume.
//!
//! Volumes are opened when it is worth the trouble: at once if a source was asked for by name, else by the worker that finds that
//! the walk is not a small one ([`Bulk::is_worth_it`]). Until then, and beside it, directories are read by system calls;
//! nothing depends on when that changes.

use super::{Covered, Mounted, Reader, Refused, Volume, Wanting, btrfs, ext4};
use crate::dir::Dir;
use crate::metadata::{Identity, Metadata};
use crate::options::{Follow, Options, Order, SourceChoice};
use crate::privilege;
use crate::root::Root;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;
use std::os::fd::OwnedFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

/// `auto` opens volumes after so many entries, a directory counting for [`DIRECTORY_WORTH`]: opening takes about as long as
/// asking 200 files for their metadata.
const WORTH: u64 = 2000;

/// Entries that reading a directory takes as long as.
const DIRECTORY_WORTH: u64 = 4;

/// `auto` looks at no more roots than this: those of `du *` are many and small.
const MOST_ROOTS: usize = 64;

/// A volume, and what of it is covered by other mounts.
pub(crate) struct Ground {
    pub(crate) volume: Arc<dyn Volume>,
    pub(crate) mounted: Arc<Mounted>,
    pub(crate) covered: Covered,
}

/// Which roots lie on which ground.
#[derive(Default)]
pub(crate) struct Grounds {
    pub(crate) grounds: Vec<Ground>,
    /// For each root: the ground, and what the root was when that was found out.
    of_roots: Vec<Option<(usize, RootPlace)>>,
    /// Roots that are directories and lie on no ground, and why.
    pub(crate) refused: Vec<(usize, Refused)>,
}

/// What a root is, to be sure that it is still the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct RootPlace {
    identity: Identity,
    mnt_id: u64,
}

impl From<&Metadata> for RootPlace {
    fn from(metadata: &Metadata) -> Self {
        Self {
            identity: metadata.identity(),
            mnt_id: metadata.mnt_id,
        }
    }
}

/// What of a walk is read past the VFS.
pub(crate) struct Bulk {
    /// Whether the walk is of a kind that can be.
    allowed: bool,
    begun: AtomicBool,
    grounds: OnceLock<Grounds>,
    /// Roots as the walk itself has found them.
    seen: Vec<OnceLock<RootPlace>>,
    handed_back: AtomicU64,
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
            begun: AtomicBool::new(begun),
            grounds,
            seen: (0..seen).map(|_| OnceLock::new()).collect(),
            handed_back: AtomicU64::new(0),
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

    /// Whether volumes are still to be opened, now that a worker has seen so much.
    #[inline]
    pub(crate) fn is_worth_it(&self, entries: u64, directories: u64) -> bool {
        self.allowed
            && entries + directories * DIRECTORY_WORTH >= WORTH
            && !self.begun.load(Ordering::Relaxed)
    }

    /// Opens volumes; other workers go on without meanwhile.
    #[cold]
    pub(crate) fn open(&self, options: &Options) {
        if self.allowed && !self.begun.swap(true, Ordering::Relaxed) {
            // Only who has set the flag gets here.
            let _ = self.grounds.set(Grounds::find(options));
        }
    }

    pub(crate) fn grounds(&self) -> &[Ground] {
        self.grounds.get().map_or(&[], |found| &found.grounds)
    }

    /// Why the first root that is on no ground is not; `None` if all are, or it has not been looked at.
    pub(crate) fn refusal(&self) -> Option<&Refused> {
        let found = self.grounds.get()?;
        found.refused.first().map(|(_, why)| why)
    }

    /// The ground that a directory lies on, and how it is asked for there. `None` if it must be read by system calls.
    pub(crate) fn ground_of<'d, S>(&self, dir: &'d Dir<S>) -> Option<(usize, Wanting<'d>)> {
        let found = self.grounds.get()?;
        let (index, place) = (*found.of_roots.get(dir.root_index())?)?;
        if self.seen.get(dir.root_index())?.get() != Some(&place) || dir.is_below_link() {
            return None;
        }
        let ground = &found.grounds[index];
        let ino = |dir: &Dir<S>| match dir.parent() {
            Some(_) => dir.ino(),
            None => place.identity.ino,
        };
        let mut at = dir;
        // Above, nothing may have led elsewhere.
        while let Some(parent) = at.parent() {
            if !ground.volume.holds(at.ino()) || ground.covered.contains(ino(parent), at.name()) {
                return None;
            }
            at = parent;
        }
        let wanting = Wanting {
            ino: ino(dir),
            parent: dir.parent().map(ino),
            name: dir.name(),
        };
        Some((index, wanting))
    }

    /// What an open directory would say of itself, for one that lies on a ground.
    pub(crate) fn identity_of<S>(&self, dir: &Dir<S>, ino: u64) -> Identity {
        let seen = self.seen.get(dir.root_index()).and_then(OnceLock::get);
        Identity {
            dev: seen.map_or(0, |place| place.identity.dev),
            ino,
        }
    }

    /// The names in a directory that something else is mounted on, if it lies on a ground.
    pub(crate) fn covered_names(&self, ground: usize, ino: u64) -> &[Vec<u8>] {
        self.grounds()[ground].covered.names_in(ino)
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
    if options.parents_open || options.preorder || options.order != Order::Any {
        return false;
    }
    match options.source {
        SourceChoice::Ext4 | SourceChoice::Xfs | SourceChoice::Btrfs => true,
        SourceChoice::Auto => options.roots.len() <= MOST_ROOTS && options.max_depth > 0,
        _ => false,
    }
}

impl Grounds {
    /// Opens the volumes of all roots.
    pub(crate) fn find(options: &Options) -> Self {
        let mut found = Self::default();
        if options.source == SourceChoice::Auto && !privilege::may_read_everything() {
            let why = "CAP_DAC_READ_SEARCH is missing: auto reads past the VFS only what system calls would read as well";
            found.refused.push((0, Refused::because(why)));
            return found;
        }
        for (index, root) in options.roots.iter().enumerate() {
            let place = match found.place(root, options) {
                Ok(place) => place,
                Err(why) => {
                    found.refused.push((index, why));
                    None
                }
            };
            found.of_roots.push(place);
        }
        found
    }

    /// `None` for what is no directory, or cannot be opened: the walk will tell of that.
    fn place(
        &mut self,
        root: &Root,
        options: &Options,
    ) -> Result<Option<(usize, RootPlace)>, Refused> {
        let Ok(directory) = open_root(root, options.follow != Follow::Never) else {
            return Ok(None);
        };
        let mounted = Mounted::look_at(&directory)?;
        let place = RootPlace::from(&mounted);
        let known = self.grounds.iter().position(|ground| {
            let metadata = &ground.mounted.metadata;
            (metadata.dev, metadata.mnt_id) == (mounted.dev, mounted.mnt_id)
        });
        if let Some(known) = known {
            return Ok(Some((known, place)));
        }
        let mounted = Mounted::new(&directory, options.sync)?;
        if RootPlace::from(&mounted.metadata) != place {
            return Err(Refused::because("it was replaced while it was looked at"));
        }
        let ground = Ground::open(Arc::new(mounted), options)?;
        self.grounds.push(ground);
        Ok(Some((self.grounds.len() - 1, place)))
    }
}

impl Ground {
    fn open(mounted: Arc<Mounted>, options: &Options) -> Result<Self, Refused> {
        mounted.check()?;
        let volume = open_volume(Arc::clone(&mounted), options)?;
        let covered = Covered::of(&mounted)?;
        Ok(Self {
            volume,
            mounted,
            covered,
        })
    }

    pub(crate) fn reader(&self) -> Box<dyn Reader> {
        Arc::clone(&self.volume).reader()
    }
}

fn open_volume(mounted: Arc<Mounted>, options: &Options) -> Result<Arc<dyn Volume>, Refused> {
    let file_system = mounted.mount.file_system.clone();
    match (options.source, file_system.as_str()) {
        (SourceChoice::Auto | SourceChoice::Ext4, "ext2" | "ext3" | "ext4") => ext4::open(mounted),
        (SourceChoice::Auto | SourceChoice::Btrfs, "btrfs") => btrfs::open(mounted),
        (choice, other) => Err(not_on(choice, other)),
    }
}

/// Why a source does not read this file system.
pub(crate) fn not_on(choice: SourceChoice, file_system: &str) -> Refused {
    match choice {
        SourceChoice::Auto => {
            Refused::because(format!("nothing better is known for {file_system}"))
        }
        _ => Refused::because(format!("it is on {file_system}")),
    }
}

pub(crate) fn open_root(root: &Root, follow: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Some(fd) = &root.fd {
        return openat(fd, c".", flags, Mode::empty());
    }
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    openat(CWD, root.name.as_slice(), flags, Mode::empty())
}
