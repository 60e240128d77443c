//! The files that a snapshot leaves out because it writes or replaces them.

use ringwalk::{Fields, Identity, Metadata};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The output of a snapshot, as a walk may meet it.
#[derive(Debug, Default)]
pub(crate) struct OwnOutput {
    /// The new file. It has a name meanwhile where the file system has no files without one.
    new: Option<Identity>,
    old: Option<OldFile>,
}

/// The name that is to be replaced. Other hard links of its file stay as they are.
#[derive(Debug)]
struct OldFile {
    file: Identity,
    folder: Identity,
    name: OsString,
}

impl OwnOutput {
    /// Creates the output at `path`, which is written to `new` first.
    pub(super) fn new(path: &Path, new: &File) -> Self {
        // A file that cannot be asked is met by no walk that could read its metadata.
        let identity = |metadata: std::fs::Metadata| Identity {
            dev: metadata.dev(),
            ino: metadata.ino(),
        };
        Self {
            new: new.metadata().ok().map(identity),
            old: OldFile::at(path),
        }
    }

    /// Creates the output that is the whole directory at `path`, with all below it.
    pub(crate) fn directory(path: &Path) -> Self {
        Self {
            // As above.
            new: identity(path),
            old: None,
        }
    }

    /// Returns true if a file of the tree is the output. `path` returns its path.
    pub(super) fn is(&self, metadata: &Metadata, path: impl FnOnce() -> Vec<u8>) -> bool {
        let file = metadata.identity();
        let is_old = |old: &OldFile| old.file == file && old.has_name(&path());
        self.new == Some(file) || self.old.as_ref().is_some_and(is_old)
    }
}

impl OldFile {
    /// Returns the file at a path; `None` if there is none.
    fn at(path: &Path) -> Option<Self> {
        let path = path.canonicalize().ok()?;
        Some(Self {
            file: identity(&path)?,
            folder: identity(path.parent()?)?,
            name: path.file_name()?.to_owned(),
        })
    }

    /// Returns true if `path` is the name that is to be replaced. The same folder may be mounted at
    /// several places.
    fn has_name(&self, path: &[u8]) -> bool {
        let path = Path::new(OsStr::from_bytes(path));
        let is_here = |folder: &Path| identity(folder) == Some(self.folder);
        path.file_name() == Some(&self.name) && path.parent().is_some_and(is_here)
    }
}

fn identity(path: &Path) -> Option<Identity> {
    let metadata = Metadata::of_path(None, path, true, Fields::INO);
    Some(metadata.ok()?.identity())
}
