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
mod tests {
    use super::*;

    fn of(path: &str) -> Vec<String> {
        let all = places(OsStr::new(path)).unwrap();
        all.into_iter()
            .map(|path| String::from_utf8(path).unwrap())
            .collect()
    }

    #[test]
    fn paths_that_are_gone_are_taken_as_they_are_written() {
        let path = "/nowhere/a/../b/./c//d";
        assert_eq!(of(path), [path, "/nowhere/b/c/d"]);
        assert_eq!(of("/nowhere/"), ["/nowhere"]);
        assert_eq!(of("/../.."), ["/../..", "/"]);
        assert_eq!(of("//"), ["/"]);
    }

    #[test]
    fn relative_paths_begin_at_the_working_directory() {
        let here = std::env::current_dir().unwrap();
        let here = here.to_str().unwrap();
        assert_eq!(
            of("no://where"),
            ["no://where".to_owned(), format!("{here}/no:/where")]
        );
        assert_eq!(of("./nowhere/.."), ["./nowhere/..", here]);
    }

    #[test]
    fn symbolic_links_are_followed_if_they_are_there() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path().canonicalize().unwrap();
        std::os::unix::fs::symlink("/", folder.join("link")).unwrap();
        let link = folder.join("link/usr");
        assert_eq!(of(link.to_str().unwrap())[1], "/usr");
    }

    #[test]
    fn an_empty_path_is_an_error() {
        assert!(places(OsStr::new("")).is_err());
    }

    #[test]
    fn a_path_lies_below_a_root_by_its_text() {
        for (root, path, expected) in [
            ("/r", "/r/a/b", Some("a/b")),
            ("/r", "/r/", Some("")),
            ("/r", "/rest", None),
            ("/r", "r", None),
            ("/", "/", Some("")),
            ("/", "/a", Some("a")),
            ("/", "a", None),
            ("s3://bucket", "s3://bucket/a/", Some("a")),
            ("s3://bucket/", "s3://bucket", Some("")),
            ("s3://", "s3://bucket", Some("/bucket")),
            (".", "./a", Some("a")),
            (".", "..", None),
        ] {
            let found = below(root.as_bytes(), path.as_bytes());
            assert_eq!(found, expected.map(str::as_bytes), "{root} {path}");
        }
    }
}
