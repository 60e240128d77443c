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
    left_out: LeftOut,
}

impl FilesBelow {
    /// Begins a walk, in the order of names. `roots` are its roots. They are kept open, so that the
    /// files are looked up below them.
    pub fn new(walk: Walk, roots: &[OsString]) -> Self {
        Self {
            roots: Roots::open(roots),
            left_out: LeftOut::default(),
            entries: walk.depth_first().into_iter(),
        }
    }

    /// Returns the summary of the walk; `None` before its end.
    pub fn summary(&self) -> Option<&Summary> {
        self.entries.summary()
    }

    fn is_left_out(&self, error: &Error) -> bool {
        let is_root = || self.roots.0.iter().any(|(root, _)| root == error.path());
        self.left_out.holds(error.path()) && !is_root()
    }
}

impl Iterator for FilesBelow {
    type Item = Result<FileToHash<PathBuf>, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.entries.next()? {
                Ok(entry) => {
                    if !self.left_out.takes(&entry)
                        && let Some(file) = self.roots.file(entry)
                    {
                        return Some(Ok(file));
                    }
                }
                Err(error) if self.is_left_out(&error) => {}
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// Leaves out file systems of the kernel below a root.
#[derive(Debug, Default)]
struct LeftOut {
    /// The last directory that was left out. Entries come depth first.
    directory: Option<PathBuf>,
    /// The type of the root's own file system, if it is one of the kernel: its files are wanted.
    wanted: Option<u64>,
}

impl LeftOut {
    /// Returns true if the path lies in a directory that is left out.
    fn holds(&self, path: &Path) -> bool {
        let directory = self.directory.as_deref();
        directory.is_some_and(|directory| path.starts_with(directory))
    }

    /// Looks at the next entry. Returns true if it is left out.
    fn takes(&mut self, entry: &OwnedEntry) -> bool {
        let kind = || kernel_file_system(entry.path().as_os_str().as_bytes());
        if entry.depth() == 0 {
            // This root can lie in a directory that was left out below the previous root.
            self.directory = None;
            self.wanted = kind();
            return false;
        }
        if self.holds(entry.path()) {
            return true;
        }
        if entry.file_type() == FileType::Directory {
            let kind = kind();
            if kind.is_some() && kind != self.wanted {
                self.directory = Some(entry.path().to_path_buf());
            }
        }
        false
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
