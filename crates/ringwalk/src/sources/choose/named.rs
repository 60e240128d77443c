//! Finds a source that was asked for by name; once, before a walk or during it.

use super::{Kernel, rules};
use crate::sources::registry::SourceChoice;
use crate::sources::volume::{MountedVolumes, seconds_now};
use crate::sources::ways::Way;
use crate::walk::options::Options;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::OnceLock;

/// The findings about the source that was asked for by name.
#[derive(Default)]
pub(crate) struct NamedSource {
    pub(super) volumes: OnceLock<MountedVolumes>,
    pub(super) kernel: OnceLock<Kernel>,
}

impl NamedSource {
    /// Checks whether the source can be used for every root that is a directory. For `auto` or
    /// system calls there is nothing to check.
    ///
    /// # Errors
    ///
    /// For the first root that the source cannot read.
    pub(crate) fn check(&self, options: &Options) -> Result<(), SourceError> {
        let refused = match options.source.way() {
            Way::Choice | Way::SystemCalls => None,
            Way::Kernel(find) => {
                let found = self.kernel.get_or_init(find);
                found.as_ref().err().map(|why| (0, why.clone()))
            }
            Way::FileSystem(_) => {
                let find = || MountedVolumes::find(options, seconds_now());
                let found = self.volumes.get_or_init(find);
                let first = found.refused.first();
                first.map(|(root, why)| (*root, why.to_string()))
            }
        };
        let Some((root, reason)) = refused else {
            return Ok(());
        };
        let root = options.roots.get(root).map(|root| root.name.clone());
        Err(SourceError {
            source: options.source,
            path: root.unwrap_or_default(),
            reason,
        })
    }

    /// Returns the volumes and the kernel's interface, as far as they have been looked for. With an
    /// older tree, `auto` looks for volumes before the walk: directories that system calls have
    /// already read cannot be taken from the tree.
    pub(super) fn into_found(self, options: &Options) -> (Option<MountedVolumes>, Option<Kernel>) {
        let early = options.older.is_some() && rules::may_use_volumes(options);
        let find = || MountedVolumes::find(options, seconds_now());
        let volumes = self.volumes.into_inner().or_else(|| early.then(find));
        (volumes, self.kernel.into_inner())
    }

    /// Returns versions and features of the source, if it can be used and has any.
    pub(crate) fn details(&self, options: &Options) -> Option<String> {
        let Way::Kernel(find) = options.source.way() else {
            return None;
        };
        let found = self.kernel.get_or_init(find).as_ref().ok()?;
        Some(crate::sources::kernel::describe(found))
    }
}

/// A source that was asked for by name and cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SourceError {
    source: SourceChoice,
    path: Vec<u8>,
    reason: String,
}

impl SourceError {
    /// Returns the root that the source cannot read, as the caller gave it.
    pub fn path(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// Returns why the source cannot be used.
    pub fn reason(&self) -> &str {
        &self.reason
    }
}

impl fmt::Display for SourceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, source) = (self.path.escape_ascii(), self.source);
        write!(
            f,
            "cannot read \"{path}\" by source {source}: {}",
            self.reason
        )
    }
}

impl std::error::Error for SourceError {}
