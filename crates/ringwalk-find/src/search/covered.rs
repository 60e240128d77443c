//! Entries under a mounted file: their directory may list the type of the file under the mount.

use super::dir_state::DirState;
use super::shared::Shared;
use crate::mounts::{MountPoints, Names};
use crate::plan::When;
use ringwalk::{Batch, Entry, FileType, Follow};

/// The entries of a directory that a mounted file may cover.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) enum Covered<'s> {
    #[default]
    None,
    /// The entries with these names.
    Named(&'s Names),
    /// Any entry: the table of mounts cannot be read.
    Any,
}

impl<'s> Covered<'s> {
    /// Returns the entries of `batch` that may be covered, if the search asks for types and does
    /// not read the metadata of all files anyway.
    pub(crate) fn of(shared: &'s Shared<'_>, batch: &Batch<'_, DirState>) -> Self {
        let Some(dir) = batch.dir().filter(|_| !batch.is_saved()) else {
            return Self::None;
        };
        if !shared.plan.asks_type || shared.plan.when == When::Always {
            return Self::None;
        }
        let table = shared.mount_points.get_or_init(|| MountPoints::read().ok());
        let Some(points) = table else {
            return Self::Any;
        };
        // The table of mounts has other names for a starting point and for a followed link.
        let named = dir.depth() > 0 && shared.command.follow != Follow::Always;
        let found = points.names_in(named.then(|| dir.name()));
        found.map_or(Self::None, Self::Named)
    }

    /// Returns true if the directory may list a wrong type for `entry`.
    #[inline]
    pub(crate) fn includes(self, entry: &Entry<'_, DirState>) -> bool {
        let named = match self {
            Self::None => false,
            Self::Named(names) => names.contains(entry.name()),
            Self::Any => true,
        };
        // Only a directory can cover a directory. The metadata belongs to the file on top.
        named && entry.file_type() != FileType::Directory && entry.metadata().is_none()
    }
}
