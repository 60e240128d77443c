//! The reader of a worker, which its visitor's entries use too.

use super::{Listed, SavedBatch, SavedEntry, SavedReader};
use crate::sources::names_at::OpenOnDemand;
use crate::sources::raw_batch::RawBatch;
use crate::visit::metadata::Fields;
use crate::walk::root::Root;
use crate::walk::settings::Follow;
use ringwalk_sys::{DirectoryFd, RawFileType as FileType};
use rustix::io::Errno;
use std::cell::{RefCell, RefMut};
use std::fmt;

/// The reader of a worker, lent to the entries that its visitor looks at.
pub(crate) struct SharedReader {
    reader: RefCell<Box<dyn SavedReader>>,
    /// Fields without which an entry fails.
    required: Fields,
    follow: Follow,
}

impl SharedReader {
    pub(crate) fn new(reader: Box<dyn SavedReader>, required: Fields, follow: Follow) -> Self {
        Self {
            reader: RefCell::new(reader),
            required,
            follow,
        }
    }

    /// Adds the roots to `raw`, which is empty.
    pub(crate) fn find_roots(&self, roots: &[Root], raw: &mut RawBatch) {
        let mut batch = self.batch(raw);
        let follow = self.follow != Follow::Never;
        for root in roots {
            // No file has a name with a NUL byte, and none has an empty one.
            let name = root.c_name().unwrap_or_default();
            let name = name.to_bytes();
            if let Err(errno) = self.borrow_mut().root(name, follow, &mut batch) {
                batch.push(&SavedEntry {
                    name,
                    file_type: FileType::Unknown,
                    ino: 0,
                    file: 0,
                    listing: 0,
                });
                batch.failed(errno);
            }
        }
    }

    /// Adds entries of a directory to `raw`, as [`SavedReader::list`] does.
    pub(crate) fn list(&self, listing: u64, from: Option<u64>, raw: &mut RawBatch) -> Listed {
        let mut batch = self.batch(raw);
        self.borrow_mut().list(listing, from, &mut batch)
    }

    fn batch<'b>(&self, raw: &'b mut RawBatch) -> SavedBatch<'b> {
        SavedBatch::new(raw, self.required, self.follow == Follow::Always)
    }

    pub(super) fn borrow_mut(&self) -> RefMut<'_, Box<dyn SavedReader>> {
        self.reader.borrow_mut()
    }
}

impl OpenOnDemand for SharedReader {
    /// Fails: a saved tree has nothing to open.
    fn open(&self) -> Result<&DirectoryFd, Errno> {
        Err(Errno::OPNOTSUPP)
    }
}

impl fmt::Debug for SharedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedReader").finish_non_exhaustive()
    }
}
