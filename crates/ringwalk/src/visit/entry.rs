//! One entry of a batch, as a visitor sees it.

use crate::pull::entry_buffer::EntryRef;
use crate::sources::saved::SavedFile;
use crate::visit::batch::{Batch, Descent};
use crate::visit::dir::Dir;
use crate::visit::error::{Error, Failure, Operation};
use crate::visit::metadata::{Fields, Metadata};
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::ffi::{CStr, OsStr};
use std::fmt;
use std::os::unix::ffi::OsStrExt as _;

/// One entry of a batch.
pub struct Entry<'b, S> {
    pub(super) batch: &'b Batch<'b, S>,
    pub(super) index: usize,
}

impl<S> fmt::Debug for Entry<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Entry")
            .field("name", &self.c_name())
            .field("file_type", &self.file_type())
            .finish_non_exhaustive()
    }
}

impl<S> Clone for Entry<'_, S> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<S> Copy for Entry<'_, S> {}

impl<'b, S> From<Entry<'b, S>> for EntryRef<'b> {
    /// Returns the entry without its directory.
    fn from(entry: Entry<'b, S>) -> Self {
        Self {
            raw: entry.batch.raw,
            index: entry.index,
        }
    }
}

impl<'b, S> Entry<'b, S> {
    /// Returns the name: any bytes except `/` and NUL; for a root the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.c_name().to_bytes()
    }

    /// Returns the name as [`name`](Self::name) does, in the form of the standard library.
    pub fn file_name(&self) -> &'b OsStr {
        OsStr::from_bytes(self.name())
    }

    /// Returns the name for a system call. Its end is searched for, so keep the result if you need
    /// it more than once.
    #[inline]
    pub fn c_name(&self) -> &'b CStr {
        self.batch.raw.records.name(self.index)
    }

    /// Returns the type: from the metadata if there is any, else as the directory lists it, which
    /// may be [`Unknown`](FileType::Unknown). Where the walk may descend, the type is unknown only
    /// if it could not be found out.
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.batch.raw.records.file_type(self.index)
    }

    /// Returns the inode number as the directory lists it; 0 for roots. At a mount point it is the
    /// number of the directory underneath.
    pub fn ino(&self) -> u64 {
        self.batch.raw.records.ino(self.index)
    }

    /// Returns true if this is a symbolic link that was followed: type and metadata belong to its
    /// target.
    pub fn is_followed(&self) -> bool {
        self.batch.raw.is_followed(self.index)
    }

    /// Returns the depth below the root; 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.batch.depth()
    }

    /// Returns the index of this entry's root in the list of roots, from 0.
    pub fn root_index(&self) -> usize {
        match self.batch.dir {
            Some(dir) => dir.root_index(),
            None => self.batch.first_root + self.index,
        }
    }

    /// Returns the metadata, if fields were asked for and the source has returned them.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.batch.raw.metadata(self.index)
    }

    /// Returns the error that prevented the metadata. The visitor has been given this error, too.
    pub fn stat_error(&self) -> Option<Errno> {
        self.batch.raw.failure(self.index)
    }

    /// Returns true if the entry, which has this metadata, lies beyond the device or mount that the
    /// walk [stays](crate::Walk::stay) on: a directory that the walk does not descend into, a link
    /// that was followed to such a place, or another file that is a mount point.
    pub fn lies_beyond(&self, metadata: &Metadata) -> bool {
        let boundaries = self.batch.boundaries;
        if self.is_followed() || metadata.file_type() == FileType::Directory {
            boundaries.lies_beyond(self.root_index(), metadata)
        } else {
            boundaries.is_mounted_beyond(self.root_index(), metadata)
        }
    }

    /// Returns the directory above that is the same directory as this one. A link that the walk
    /// follows leads to it, its own or one above it, and descending would never end. Returns `None`
    /// for an entry that is no directory, and unless the walk follows all links.
    ///
    /// The walk never descends into such a directory, and reports it when it comes to open it. This
    /// method is for visitors that must know earlier. It may ask for metadata.
    pub fn looped_to(&self) -> Option<&'b Dir<S>> {
        let dir = self.batch.dir?;
        if self.file_type() != FileType::Directory || !(self.is_followed() || dir.is_below_link()) {
            return None;
        }
        let identity = match self.metadata().and_then(Metadata::identity) {
            Some(identity) => identity,
            // If this call fails, the walk notices the loop when it has opened the directory.
            None => self.stat(Fields::INO).ok()?.identity()?,
        };
        dir.or_above(identity)
    }

    /// Asks for metadata of this entry now, whatever the walk asked for. If the entry is a link
    /// that was followed, returns the metadata of its target.
    ///
    /// # Errors
    ///
    /// The errors of statx(2). `ENODATA` if a field is not known; only in a saved tree for the
    /// time of birth, the mount and the project, which not every file has.
    pub fn stat(&self, fields: Fields) -> Result<Metadata, Error> {
        let follow = self.is_followed();
        let answer = match self.saved() {
            Some(file) => file.metadata_with(fields),
            None => self
                .batch
                .place
                .stat(self.index, self.c_name(), follow, fields),
        };
        answer.map_err(|errno| {
            let failure = Failure {
                operation: Operation::Stat,
                errno,
            };
            Error {
                operation: Operation::Stat,
                path: self.path(),
                depth: self.depth(),
                errno,
                vanished: self.batch.dir.is_some() && failure.is_race(),
                loops_with: None,
            }
        })
    }

    /// Returns the file in the saved tree that the walk reads; `None` in a walk of a live tree.
    pub fn saved(&self) -> Option<SavedFile<'b>> {
        let reader = self.batch.saved?;
        let file = *self.batch.raw.files.get(self.index)?;
        Some(SavedFile { reader, file })
    }

    /// Returns the path, beginning with the root as it was given.
    pub fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.path_into(&mut path);
        path
    }

    /// Replaces the contents of `path` by the path.
    pub fn path_into(&self, path: &mut Vec<u8>) {
        path.clear();
        if let Some(dir) = self.batch.dir {
            dir.path_into(path);
            if !path.is_empty() && !path.ends_with(b"/") {
                path.push(b'/');
            }
        }
        path.extend_from_slice(self.name());
    }

    /// Returns true if the walk will descend into this entry: it is a directory within the bounds
    /// of the walk, and was not pruned.
    pub fn will_descend(&self) -> bool {
        self.descent().is_some_and(|descent| !descent.pruned.get())
    }

    /// Keeps the walk from descending into this entry.
    pub fn prune(&self) {
        if let Some(descent) = self.descent() {
            descent.pruned.set(true);
        }
    }

    /// Keeps `state` with the directory that this entry becomes. Has no effect where
    /// [`will_descend`](Self::will_descend) returns false.
    pub fn descend_with(&self, state: S) {
        if let Some(descent) = self.descent() {
            descent.state.set(Some(state));
        }
    }

    fn descent(&self) -> Option<&'b Descent<S>> {
        if self.file_type() != FileType::Directory {
            return None;
        }
        let found = self
            .batch
            .descents
            .binary_search_by_key(&self.index, |descent| descent.index as usize);
        found.ok().map(|at| &self.batch.descents[at])
    }
}
