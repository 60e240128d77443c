//! A directory that the filter of a walk decides about.

use crate::visit::metadata::Metadata;

/// A directory that the walk is about to descend into, for [`Walk::filter`](crate::Walk::filter).
#[derive(Debug)]
pub struct Candidate<'b> {
    pub(crate) name: &'b [u8],
    pub(crate) depth: usize,
    pub(crate) metadata: Option<&'b Metadata>,
}

impl<'b> Candidate<'b> {
    /// Returns the name; for a root the path as given.
    pub fn name(&self) -> &'b [u8] {
        self.name
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
