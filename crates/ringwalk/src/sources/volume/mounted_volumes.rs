//! Finds the volume that each root of a walk lies on.

use super::{CopyMemory, Covered, OpenMount, Reader, Refused, Volume};
use crate::sources::choose::rules;
use crate::sources::older::{OlderTree, OlderVolume};
use crate::sources::registry::SourceChoice;
use crate::visit::metadata::{Identity, Metadata};
use crate::walk::options::Options;
use crate::walk::root::Root;
use crate::walk::settings::Follow;
use ringwalk_sys::file_system_uuid;
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::{Errno, retry_on_intr};
use std::os::fd::OwnedFd;
use std::sync::Arc;

/// A volume, its mount, and the entries that other mounts cover.
pub(crate) struct MountedVolume {
    /// The source that reads the volume.
    pub(crate) source: SourceChoice,
    pub(crate) volume: Arc<dyn Volume>,
    pub(crate) mounted: Arc<OpenMount>,
    pub(crate) covered: Covered,
    /// Why nothing is taken from the older tree, if there is one.
    pub(super) not_updated: Option<Refused>,
}

/// The mounted volumes of a walk, and the roots on them.
#[derive(Default)]
pub(crate) struct MountedVolumes {
    pub(crate) all: Vec<MountedVolume>,
    /// For each root: the index of its volume, and the root's identity when it was found.
    pub(super) of_roots: Vec<Option<(usize, RootPlace)>>,
    /// Roots that are directories on no volume, and the reasons.
    pub(crate) refused: Vec<(usize, Refused)>,
    /// The memory that all volumes may hold in copies of large directories.
    copies: Arc<CopyMemory>,
}

/// The identity of a root, to see later that it is still the same directory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootPlace {
    pub(super) identity: Identity,
    mnt_id: u64,
}

impl From<&Metadata> for RootPlace {
    fn from(metadata: &Metadata) -> Self {
        Self {
            identity: Identity {
                dev: metadata.dev,
                ino: metadata.ino,
            },
            mnt_id: metadata.mnt_id,
        }
    }
}

impl MountedVolumes {
    /// Opens the volumes of all roots, for a walk that began at the second `since`.
    pub(crate) fn find(options: &Options, since: u64) -> Self {
        let mut found = Self::default();
        if let Err(why) = rules::check_privilege(options.source) {
            found.refused.push((0, why));
            return found;
        }
        for (index, root) in options.roots.iter().enumerate() {
            let place = match found.place(root, options, since) {
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

    /// Returns `None` for a root that is not a directory, or that cannot be opened for a reason
    /// that the walk itself will find and report.
    fn place(
        &mut self,
        root: &Root,
        options: &Options,
        since: u64,
    ) -> Result<Option<(usize, RootPlace)>, Refused> {
        let directory = match open_root(root, options.follow != Follow::Never) {
            Ok(directory) => directory,
            Err(errno) if is_of_the_path(errno) => return Ok(None),
            Err(errno) => return Err(unopened(errno)),
        };
        rules::check_type(options.source, &directory)?;
        let mounted = OpenMount::look_at(&directory)?;
        let place = RootPlace::from(&mounted);
        let known = self.all.iter().position(|mounted_volume| {
            let metadata = &mounted_volume.mounted.metadata;
            (metadata.dev, metadata.mnt_id) == (mounted.dev, mounted.mnt_id)
        });
        if let Some(known) = known {
            return Ok(Some((known, place)));
        }
        let mut mounted = OpenMount::new(&directory, options.sync)?;
        mounted.begin_at(since);
        if RootPlace::from(&mounted.metadata) != place {
            return Err(Refused::because("it was replaced while it was looked at"));
        }
        let mounted_volume = MountedVolume::open(Arc::new(mounted), options, &self.copies)?;
        self.all.push(mounted_volume);
        Ok(Some((self.all.len() - 1, place)))
    }
}

impl MountedVolume {
    fn open(
        mounted: Arc<OpenMount>,
        options: &Options,
        copies: &Arc<CopyMemory>,
    ) -> Result<Self, Refused> {
        mounted.check()?;
        let file_system = mounted.mount.file_system.clone();
        let (source, opener) = rules::for_walk(options.source, &file_system.to_string_lossy())?;
        rules::check_auto(options.source, opener)?;
        let mut volume = (opener.open_volume)(Arc::clone(&mounted), copies)?;
        let covered = Covered::of(&mounted)?;
        let mut not_updated = None;
        if let Some(older) = &options.older {
            match update(&volume, &mounted, older, options) {
                Ok(updated) => volume = updated,
                Err(why) => not_updated = Some(why),
            }
        }
        Ok(Self {
            source,
            volume,
            mounted,
            covered,
            not_updated,
        })
    }

    /// Returns a description for people, which says why nothing is taken from an older tree.
    pub(super) fn describe(&self) -> String {
        let described = self.volume.describe();
        match &self.not_updated {
            Some(why) => format!("{described}; nothing taken from the older snapshot: {why}"),
            None => described,
        }
    }

    pub(crate) fn reader(&self) -> Box<dyn Reader> {
        Arc::clone(&self.volume).reader()
    }
}

/// Returns a volume that takes from an older tree what has not changed.
fn update(
    volume: &Arc<dyn Volume>,
    mounted: &OpenMount,
    older: &Arc<dyn OlderTree>,
    options: &Options,
) -> Result<Arc<dyn Volume>, Refused> {
    if options.follow == Follow::Always {
        return Err(Refused::because("the walk follows links"));
    }
    let uuid = file_system_uuid(mounted.directory()).map_err(|errno| {
        Refused::because(format!("its UUID is not known (Linux 6.9 has it): {errno}"))
    })?;
    let older = OlderVolume::new(older, &uuid, volume.subvolume(), options.fields)?;
    Arc::clone(volume).update(older)
}

/// Returns true if a path cannot be opened as a directory because of the path itself: nothing
/// there, no directory, no permission. Other errors, such as a lack of descriptors, may be gone
/// when the walk opens it.
fn is_of_the_path(errno: Errno) -> bool {
    matches!(
        errno,
        Errno::NOENT
            | Errno::NOTDIR
            | Errno::LOOP
            | Errno::ACCESS
            | Errno::PERM
            | Errno::NAMETOOLONG
            | Errno::INVAL
    )
}

fn unopened(errno: Errno) -> Refused {
    Refused::because(format!("it cannot be opened: {errno}"))
}

pub(crate) fn open_root(root: &Root, follow: bool) -> Result<OwnedFd, Errno> {
    let mut flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    if let Some(fd) = &root.fd {
        return retry_on_intr(|| openat(fd, c".", flags, Mode::empty()));
    }
    if !follow {
        flags |= OFlags::NOFOLLOW;
    }
    retry_on_intr(|| openat(CWD, root.name.as_slice(), flags, Mode::empty()))
}
