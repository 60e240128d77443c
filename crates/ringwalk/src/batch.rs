//! What a visitor is given: the entries of one directory, borrowed from the buffer they were read into.

use crate::dir::Dir;
use crate::entry_buffer::EntryRef;
use crate::error::{Error, Failure, Operation};
use crate::metadata::{Fields, Metadata};
use crate::raw_batch::RawBatch;
use crate::stat::Place;
use ringwalk_sys::RawFileType as FileType;
use rustix::io::Errno;
use std::cell::Cell;
use std::ffi::CStr;
use std::fmt;
use std::os::fd::BorrowedFd;

/// A directory that the walk would descend into, and what the visitor has said to that.
pub(crate) struct Descent<S> {
    pub(crate) index: u32,
    pub(crate) pruned: Cell<bool>,
    pub(crate) state: Cell<Option<S>>,
}

/// Entries of one directory: one filled buffer, or a part of one.
///
/// The roots of a walk come as entries of a batch without a directory, at depth 0.
pub struct Batch<'b, S> {
    pub(crate) raw: &'b RawBatch,
    pub(crate) place: Place<'b>,
    pub(crate) dir: Option<&'b Dir<S>>,
    pub(crate) index: u32,
    pub(crate) descents: &'b [Descent<S>],
    /// The first root of this batch, in the list of roots.
    pub(crate) first_root: usize,
}

impl<S> fmt::Debug for Batch<'_, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Batch")
            .field("index", &self.index)
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<'b, S> Batch<'b, S> {
    /// The directory of these entries; `None` for the roots themselves.
    pub fn dir(&self) -> Option<&'b Dir<S>> {
        self.dir
    }

    /// The number of this batch within its directory, from 0, in the order of reading; for roots among the batches of
    /// roots. Numbers may be left out. In a walk in [`Order::Any`](crate::Order::Any) several workers may read one large directory at
    /// a time, and then the order is only roughly that.
    pub fn index(&self) -> u32 {
        self.index
    }

    /// Depth of the entries: 0 for roots, 1 for what is in a root.
    pub fn depth(&self) -> usize {
        self.dir.map_or(0, |dir| dir.depth() + 1)
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.raw.records.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.raw.records.is_empty()
    }

    /// The entries, in the order of the directory, or by name if that was asked for.
    pub fn entries(&self) -> impl Iterator<Item = Entry<'_, S>> {
        (0..self.raw.records.len()).map(|index| Entry { batch: self, index })
    }

    /// The entry with this number, from 0.
    pub fn get(&self, index: usize) -> Option<Entry<'_, S>> {
        (index < self.len()).then_some(Entry { batch: self, index })
    }

    /// The open directory, for calls on its entries; `None` for roots, whose names are relative to the working directory. A source that reads past the VFS
    /// has not opened it: then this does, once.
    ///
    /// # Errors
    ///
    /// Those of opening it; `ENOENT` if it is no longer where it was.
    pub fn fd(&self) -> Result<Option<BorrowedFd<'b>>, Error> {
        self.place.directory().map_err(|errno| Error {
            operation: Operation::Open,
            path: self.dir.map(Dir::path).unwrap_or_default(),
            errno,
            vanished: errno == Errno::NOENT,
            loops_with: None,
        })
    }
}

/// One entry of a batch.
pub struct Entry<'b, S> {
    batch: &'b Batch<'b, S>,
    index: usize,
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
    /// What is known of the entry itself, without where it is.
    fn from(entry: Entry<'b, S>) -> Self {
        Self {
            raw: entry.batch.raw,
            index: entry.index,
        }
    }
}

impl<'b, S> Entry<'b, S> {
    /// The name: any bytes except `/` and NUL; for a root the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.c_name().to_bytes()
    }

    /// The name for a system call. Finding its end takes a moment: who needs it more than once keeps it.
    #[inline]
    pub fn c_name(&self) -> &'b CStr {
        self.batch.raw.records.name(self.index)
    }

    /// The type: from the metadata if there is any, else as the directory says, which may be
    /// [`Unknown`](FileType::Unknown). Where the walk may descend it is never unknown, unless it could not be found out.
    #[inline]
    pub fn file_type(&self) -> FileType {
        self.batch.raw.records.file_type(self.index)
    }

    /// The inode number as the directory has it (at a mount point: that of the directory underneath); 0 for roots.
    pub fn ino(&self) -> u64 {
        self.batch.raw.records.ino(self.index)
    }

    /// The cookie of the next entry (`d_off`): opaque, valid for the open directory only; 0 for roots.
    pub fn cookie(&self) -> i64 {
        self.batch.raw.records.cookie(self.index)
    }

    /// Whether this is a symbolic link that was followed: type and metadata are those of its target.
    pub fn is_followed(&self) -> bool {
        self.batch.raw.is_followed(self.index)
    }

    /// Depth below the root, 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.batch.depth()
    }

    /// The place of this entry's root in the list of roots, from 0.
    pub fn root_index(&self) -> usize {
        match self.batch.dir {
            Some(dir) => dir.root_index(),
            None => self.batch.first_root + self.index,
        }
    }

    /// The metadata, if fields were asked for and it could be had.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.batch.raw.metadata(self.index)
    }

    /// Why there is no metadata. The visitor has been told of this error too.
    pub fn stat_error(&self) -> Option<Errno> {
        self.batch.raw.failure(self.index)
    }

    /// The directory above that this one is once more, reached through a link that is followed, its own or one above
    /// it, so that descending would never end. None for what is no directory, and unless the walk follows all links.
    ///
    /// The walk does not descend into such a directory in any case, and reports it when it comes to open it; this is for
    /// visitors that must know before. May ask for metadata.
    pub fn looped_to(&self) -> Option<&'b Dir<S>> {
        let dir = self.batch.dir?;
        if self.file_type() != FileType::Directory || !(self.is_followed() || dir.is_below_link()) {
            return None;
        }
        let known = self.metadata().filter(|m| m.mask.contains(Fields::INO));
        let identity = match known {
            Some(metadata) => metadata.identity(),
            // What cannot be told now, the walk finds out when it has opened it.
            None => self.stat(Fields::INO).ok()?.identity(),
        };
        dir.or_above(identity)
    }

    /// Asks for metadata of this entry now, whatever the walk asked for; the target's if the link was followed.
    ///
    /// # Errors
    ///
    /// Those of statx(2).
    pub fn stat(&self, fields: Fields) -> Result<Metadata, Error> {
        let follow = self.is_followed();
        self.batch
            .place
            .stat(self.index, self.c_name(), follow, fields)
            .map_err(|errno| {
                let failure = Failure {
                    operation: Operation::Stat,
                    errno,
                };
                Error {
                    operation: Operation::Stat,
                    path: self.path(),
                    errno,
                    vanished: self.batch.dir.is_some() && failure.is_race(),
                    loops_with: None,
                }
            })
    }

    /// The path, beginning with the root as it was given.
    pub fn path(&self) -> Vec<u8> {
        let mut path = Vec::new();
        self.path_into(&mut path);
        path
    }

    /// Writes the path over what is in `path`.
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

    /// Whether the walk will descend into this entry: it is a directory within the bounds of the walk and has not been
    /// pruned.
    pub fn will_descend(&self) -> bool {
        self.descent().is_some_and(|descent| !descent.pruned.get())
    }

    /// Do not descend into this entry.
    pub fn prune(&self) {
        if let Some(descent) = self.descent() {
            descent.pruned.set(true);
        }
    }

    /// Keep `state` with the directory that this entry becomes. Without effect where
    /// [`will_descend`](Self::will_descend) is false.
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

/// A directory that the walk is about to descend into, for [`Walk::filter`](crate::Walk::filter).
#[derive(Debug)]
pub struct Candidate<'b> {
    pub(crate) name: &'b [u8],
    pub(crate) depth: usize,
    pub(crate) metadata: Option<&'b Metadata>,
}

impl<'b> Candidate<'b> {
    /// The name; for a root the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.name
    }

    /// Depth below the root, 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// The metadata, if fields were asked for.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.metadata
    }
}
