//! A directory that the filter of a walk decides about.

use crate::visit::metadata::Metadata;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

/// A directory that the walk is about to descend into, for [`Walk::filter`](crate::Walk::filter).
pub struct Candidate<'b> {
    pub(crate) name: &'b [u8],
    /// Returns the path of the directory that lists it; empty for a root.
    pub(crate) directory: &'b dyn Fn() -> Vec<u8>,
    pub(crate) depth: usize,
    pub(crate) metadata: Option<&'b Metadata>,
}

impl fmt::Debug for Candidate<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candidate")
            .field("path", &self.path())
            .field("depth", &self.depth)
            .finish_non_exhaustive()
    }
}

impl<'b> Candidate<'b> {
    /// Returns the name; for a root the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.name
    }

    /// Returns the name as [`name`](Self::name) does, in the form of the standard library.
    pub fn file_name(&self) -> &'b OsStr {
        OsStr::from_bytes(self.name)
    }

    /// Returns the path, beginning with the root as it was given. Each call builds it.
    pub fn path(&self) -> PathBuf {
        let mut path = (self.directory)();
        if !path.is_empty() && !path.ends_with(b"/") {
            path.push(b'/');
        }
        path.extend_from_slice(self.name);
        PathBuf::from(OsString::from_vec(path))
    }

    /// Returns the depth below the root; 0 for a root itself.
    pub fn depth(&self) -> usize {
        self.depth
    }

    /// Returns the metadata, if fields were asked for.
    pub fn metadata(&self) -> Option<&'b Metadata> {
        self.metadata
    }
}
