//! Where a snapshot has a file that a user names by its path in the file system.

use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Component, Path, PathBuf};

/// Returns the absolute paths at which a snapshot may have a file: as the user wrote it, and as it
/// is after the symbolic links that are there now.
///
/// # Errors
///
/// If the path is empty, or if it is relative and the working directory is not known.
pub fn places(path: &OsStr) -> io::Result<Vec<Vec<u8>>> {
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    let path = Path::new(path);
    let base = if path.is_absolute() {
        PathBuf::new()
    } else {
        std::env::current_dir()?
    };
    let written = normal(&base.join(path));
    let mut all = vec![written.into_os_string().into_vec()];
    // The file need not exist any more.
    if let Ok(resolved) = path.canonicalize() {
        all.push(resolved.into_os_string().into_vec());
    }
    all.dedup();
    Ok(all)
}

/// Returns an absolute path without `.`, `..` and double slashes.
fn normal(path: &Path) -> PathBuf {
    let mut out = PathBuf::from("/");
    for component in path.components() {
        match component {
            Component::Normal(name) => out.push(name),
            Component::ParentDir => {
                out.pop();
            }
            Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
        }
    }
    out
}

#[cfg(test)]
mod tests;
