//! Paths of files and directories, which are made of the names when they are needed.

use super::{DirId, FileId, Inventory};

/// A name of a file: a path that begins with a root.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name {
    path: Vec<u8>,
    /// Length of the root.
    root: usize,
}

impl Name {
    /// Joins the path of a root, as it was given, and a path below it; the latter is empty if the
    /// root is the file.
    pub fn new(root: &[u8], below: &[u8]) -> Self {
        let names = (!below.is_empty()).then_some(below);
        Self {
            path: join(root, names.into_iter()),
            root: root.len(),
        }
    }

    /// Returns the whole path.
    pub fn path(&self) -> &[u8] {
        &self.path
    }

    /// Returns the path of the root, as it was given.
    pub fn root(&self) -> &[u8] {
        &self.path[..self.root]
    }

    /// Returns the path below the root; empty if the root is the file.
    pub fn below(&self) -> &[u8] {
        let below = &self.path[self.root..];
        // A root can end with a slash.
        below.strip_prefix(b"/").unwrap_or(below)
    }

    /// Returns the whole path.
    pub fn into_path(self) -> Vec<u8> {
        self.path
    }
}

impl Inventory {
    /// Returns the names of a directory and of those above it, from below to above. The root has
    /// none.
    pub(super) fn names_up(&self, dir: DirId) -> impl Iterator<Item = &[u8]> + Clone {
        let named = self.up(dir).map(move |at| (at, self.directory(at)));
        named
            .take_while(|(at, directory)| directory.parent != *at)
            .map(move |(_, directory)| self.name_at(directory.name))
    }

    /// Returns a directory and those above it, up to its root.
    pub(crate) fn up(&self, dir: DirId) -> impl Iterator<Item = DirId> + Clone + '_ {
        std::iter::successors(Some(dir), |dir| {
            let parent = self.directory(*dir).parent;
            (parent != *dir).then_some(parent)
        })
    }

    /// Returns the name of a file and the names of the directories above it. A root that is a file
    /// has no name.
    fn names_of_path(&self, id: FileId) -> impl Iterator<Item = &[u8]> + Clone {
        let name = self.file_name(id);
        let name = (!name.is_empty()).then_some(name);
        name.into_iter().chain(self.names_up(self.file(id).dir))
    }

    /// Returns the path of a file relative to its root; empty if the root is the file.
    pub(crate) fn file_below_root(&self, id: FileId) -> Vec<u8> {
        join(b"", self.names_of_path(id))
    }

    /// Returns the path of a directory, beginning with the root as it was given.
    pub(crate) fn directory_path(&self, dir: DirId) -> Vec<u8> {
        join(&self.root_of(dir).path, self.names_up(dir))
    }

    /// Returns the path of a file, beginning with the root as it was given.
    pub(crate) fn file_path(&self, id: FileId) -> Name {
        let root = &self.root_of(self.file(id).dir).path;
        Name {
            path: join(root, self.names_of_path(id)),
            root: root.len(),
        }
    }
}

/// Returns a path that begins with `head`, and goes on with these names, the last one first.
fn join<'n>(head: &[u8], names: impl Iterator<Item = &'n [u8]> + Clone) -> Vec<u8> {
    let mut len = head.len();
    for name in names.clone() {
        len += name.len() + 1;
    }
    let has_no_slash = len > head.len() && matches!(head.last(), None | Some(b'/'));
    len -= usize::from(has_no_slash);
    let mut path = vec![0; len];
    let mut at = len;
    for name in names {
        at -= name.len();
        path[at..at + name.len()].copy_from_slice(name);
        if at > head.len() {
            at -= 1;
            path[at] = b'/';
        }
    }
    path[..head.len()].copy_from_slice(head);
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_has_one_slash_between_two_names() {
        let names = [&b"file"[..], b"dir"];
        for (head, expected) in [
            (&b""[..], &b"dir/file"[..]),
            (b"/", b"/dir/file"),
            (b"root", b"root/dir/file"),
            (b"root/", b"root/dir/file"),
        ] {
            assert_eq!(join(head, names.into_iter()), expected);
            assert_eq!(join(head, std::iter::empty()), head);
        }
    }

    #[test]
    fn a_name_knows_its_root() {
        for (root, below, path) in [
            (&b"a"[..], &b"b/c"[..], &b"a/b/c"[..]),
            (b"a/", b"b", b"a/b"),
            (b"/", b"b", b"/b"),
            (b"a", b"", b"a"),
            (b"a/", b"", b"a/"),
        ] {
            let name = Name::new(root, below);
            assert_eq!(
                (name.root(), name.below(), name.path()),
                (root, below, path)
            );
        }
    }
}
