//! One file of a saved tree, as visitors see it.

use super::SharedReader;
use crate::visit::metadata::{Fields, Metadata};
use rustix::io::Errno;

/// A file of a saved tree: asks for what the walk has not read.
#[derive(Clone, Copy, Debug)]
pub struct SavedFile<'b> {
    pub(crate) reader: &'b SharedReader,
    pub(crate) file: u64,
}

impl SavedFile<'_> {
    /// Returns at least these fields of the file, as far as they are known.
    ///
    /// # Errors
    ///
    /// The error that the file was saved with; `EIO` if the saved tree cannot be read.
    pub fn metadata(&self, fields: Fields) -> Result<Metadata, Errno> {
        self.reader.borrow_mut().metadata(self.file, fields)
    }

    /// Returns the metadata, if it has these fields.
    pub(crate) fn metadata_with(&self, fields: Fields) -> Result<Metadata, Errno> {
        let metadata = self.metadata(fields)?;
        if metadata.mask.contains(fields) {
            Ok(metadata)
        } else {
            Err(Errno::NODATA)
        }
    }

    /// Returns the target of a symbolic link.
    ///
    /// # Errors
    ///
    /// `ENODATA` if it is not known, and as [`metadata`](Self::metadata).
    pub fn target(&self) -> Result<Vec<u8>, Errno> {
        self.reader.borrow_mut().target(self.file)
    }

    /// Returns true if a directory has no entries.
    ///
    /// # Errors
    ///
    /// `ENODATA` if that is not known, and as [`metadata`](Self::metadata).
    pub fn is_empty_directory(&self) -> Result<bool, Errno> {
        self.reader.borrow_mut().is_empty(self.file)
    }
}
