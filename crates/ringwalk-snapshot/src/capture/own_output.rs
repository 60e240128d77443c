//! The files that a snapshot leaves out because it writes or replaces them.

use ringwalk::identity::IdentityTrust;
use ringwalk::{Fields, Identity, Metadata};
use std::ffi::{OsStr, OsString};
use std::fs::{File, read_link};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The output of a snapshot, as a walk may meet it.
#[derive(Debug, Default)]
pub(crate) struct OwnOutput {
    /// The new file. It has a name meanwhile where the file system has no files without one.
    new: Option<Identity>,
    old: Option<OldFile>,
    /// The only paths that it can have, where another file can have its inode number.
    only: Option<Vec<PathBuf>>,
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
        let only = || {
            // Without a name, or without `/proc`, it is no path that a walk meets.
            let new = read_link(format!("/proc/self/fd/{}", new.as_raw_fd()));
            [new, path.canonicalize()].into_iter().flatten().collect()
        };
        Self {
            new: new.metadata().ok().map(identity),
            old: OldFile::at(path),
            only: (!IdentityTrust::of(new).is_unique).then(only),
        }
    }

    /// Creates the output that is the whole directory at `path`, with all below it.
    pub(crate) fn directory(path: &Path) -> Self {
        let is_unique = File::open(path).is_ok_and(|file| IdentityTrust::of(file).is_unique);
        let only = || path.canonicalize().into_iter().collect();
        Self {
            // As above.
            new: identity(path),
            old: None,
            only: (!is_unique).then(only),
        }
    }

    /// Returns true if a file of the tree is the output. `path` returns its path, without symbolic
    /// links.
    pub(super) fn is(&self, metadata: &Metadata, path: impl Fn() -> Vec<u8>) -> bool {
        let Some(file) = metadata.identity() else {
            return false;
        };
        let is_old = |old: &OldFile| old.file == file && old.has_name(&path());
        let is_one_of = |paths: &Vec<PathBuf>| {
            let path = path();
            paths.iter().any(|own| own.as_os_str().as_bytes() == path)
        };
        (self.new == Some(file) || self.old.as_ref().is_some_and(is_old))
            && self.only.as_ref().is_none_or(is_one_of)
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
    metadata.ok()?.identity()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The directory of a shared walk would take another one with its number along, with all below.
    #[test]
    fn where_inode_numbers_are_not_unique_the_path_decides() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().canonicalize().unwrap();
        let found = Metadata::of_path(None, &path, false, Fields::INO).unwrap();
        let mut own = OwnOutput::directory(&path);
        own.only = Some(vec![path.clone()]);
        assert!(own.is(&found, || path.as_os_str().as_bytes().to_vec()));
        assert!(!own.is(&found, || b"/elsewhere".to_vec()));
        own.only = None;
        assert!(own.is(&found, || b"/elsewhere".to_vec()));
    }
}
