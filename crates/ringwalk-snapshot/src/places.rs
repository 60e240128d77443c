//! Where a snapshot has a file that a user names by its path in the file system.

use rustix::io::Errno;
use std::ffi::OsStr;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Returns the paths at which a snapshot may have a file: as the user wrote it, since the root of
/// an import may be any text, such as `s3://bucket`; as an absolute path; and as it is after the
/// symbolic links that are there now.
///
/// # Errors
///
/// If the path is empty, or if it is relative and the working directory is not known.
pub fn places(path: &OsStr) -> io::Result<Vec<Vec<u8>>> {
    if path.is_empty() {
        return Err(Errno::NOENT.into());
    }
    let mut all = vec![without_slashes(path.as_bytes()).to_vec()];
    all.retain(|written| !written.is_empty());
    let path = Path::new(path);
    let base = if path.is_absolute() {
        PathBuf::new()
    } else {
        std::env::current_dir()?
    };
    all.push(normal(&base.join(path)).into_os_string().into_vec());
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

/// Returns the path relative to a root, if a path begins with the path of the root. Both are
/// compared as they are written.
pub(crate) fn below<'p>(root: &[u8], path: &'p [u8]) -> Option<&'p [u8]> {
    match without_slashes(path).strip_prefix(without_slashes(root))? {
        [] => Some(b""),
        [b'/', rest @ ..] => Some(rest),
        _ => None,
    }
}

/// Returns a path without the slashes at its end.
fn without_slashes(path: &[u8]) -> &[u8] {
    let slashes = path.iter().rev().take_while(|byte| **byte == b'/').count();
    &path[..path.len() - slashes]
}

#[cfg(test)]
mod tests;
