//! The files below roots, for [`hash_files`](crate::hash_files()).

use crate::{FileToHash, OpenRoot, kernel_file_system};
use ringwalk::{DepthFirstEntries, Error, FileType, OwnedEntry, Summary, Walk};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The regular files that a walk finds, and its errors. The context of a file is its path, which
/// begins with the root as it was given. Files that the kernel makes up, as below `/proc`, are left
/// out, unless a root lies among them.
#[derive(Debug)]
pub struct FilesBelow {
    entries: DepthFirstEntries,
    roots: Roots,
    /// The type of the file system that the last root is on, if it is one of the kernel.
    wanted: Option<u64>,
}

impl FilesBelow {
    /// Begins a walk, in the order of names. `roots` are its roots. They are kept open, so that the
    /// files are looked up below them.
    pub fn new(walk: Walk, roots: &[OsString]) -> Self {
        Self {
            roots: Roots::open(roots),
            wanted: None,
            entries: walk.depth_first().into_iter(),
        }
    }

    /// Returns the summary of the walk; `None` before its end.
    pub fn summary(&self) -> Option<&Summary> {
        self.entries.summary()
    }

    /// Returns true for a directory of another file system of the kernel than its root is on: files
    /// below a root that lies on one are wanted.
    fn is_left_out(&mut self, entry: &OwnedEntry) -> bool {
        let kind = || kernel_file_system(entry.path().as_os_str().as_bytes());
        if entry.depth() == 0 {
            self.wanted = kind();
            return false;
        }
        entry.file_type().is_dir() && kind().is_some_and(|kind| Some(kind) != self.wanted)
    }
}

impl Iterator for FilesBelow {
    type Item = Result<FileToHash<PathBuf>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.entries.next()? {
                Ok(entry) if self.is_left_out(&entry) => self.entries.skip_current_dir(),
                Ok(entry) => {
                    if let Some(file) = self.roots.file(entry) {
                        return Some(Ok(file));
                    }
                }
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The roots, open for the files below them.
#[derive(Debug)]
struct Roots(Vec<(OsString, Arc<OpenRoot>)>);

impl Roots {
    fn open(roots: &[OsString]) -> Self {
        let roots = roots.iter().map(|root| {
            // The walk reports a root that cannot be opened. If the walk can open it after all,
            // `file` uses the whole paths of its files.
            let open = OpenRoot::open(Path::new(root)).unwrap_or(OpenRoot::Working);
            (root.clone(), Arc::new(open))
        });
        Self(roots.collect())
    }

    /// Returns the file to hash, if the entry is a regular file or a root that may be one. Its
    /// context is the path, beginning with the root as it was given.
    fn file(&self, entry: OwnedEntry) -> Option<FileToHash<PathBuf>> {
        let is_root = entry.depth() == 0;
        let file_type = entry.file_type();
        let is_wanted = match file_type {
            FileType::Regular => true,
            // The walk has reported a root whose type is unknown.
            FileType::Directory | FileType::Unknown => false,
            // A path that the user has given is reported if it is not a regular file.
            _ => is_root,
        };
        if !is_wanted {
            return None;
        }
        let (ino, root) = (entry.ino(), entry.root_index());
        let path = entry.into_path();
        if is_root {
            return Some(FileToHash {
                root: Arc::new(OpenRoot::Working),
                path: path.clone(),
                ino,
                only: None,
                context: path,
            });
        }
        let (root, open) = self.0.get(root)?;
        let below = match **open {
            OpenRoot::Directory(_) => below(&path, root),
            // A path below the root would be looked up in the working directory.
            OpenRoot::Working => path.clone(),
        };
        Some(FileToHash {
            root: Arc::clone(open),
            path: below,
            ino,
            only: None,
            context: path,
        })
    }
}

/// Returns the part of a path that follows its root. The walk begins every path with its root as
/// the user has given it.
fn below(path: &Path, root: &OsStr) -> PathBuf {
    let bytes = path.as_os_str().as_bytes();
    let mut below = bytes.strip_prefix(root.as_bytes()).unwrap_or(bytes);
    while let Some(rest) = below.strip_prefix(b"/") {
        below = rest;
    }
    PathBuf::from(OsStr::from_bytes(below))
}
