//! Synthetic trees, and the answers that brute force finds for them.

use proptest::collection::vec;
use proptest::prelude::*;
use ringwalk::{Errno, FileType, Timestamp};
use ringwalk_snapshot::{
    Attributes, Entry, FailedOperation, Failure, Info, Skipped, Snapshot, SnapshotTree,
    TreeBuilder, WriteOptions,
};
use std::collections::{BTreeMap, HashSet};
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

/// A synthetic file.
#[derive(Clone, Debug, Default)]
pub(crate) struct File {
    pub(crate) is_directory: bool,
    pub(crate) ino: u64,
    /// The allocated size in blocks of 512 bytes.
    pub(crate) blocks: u64,
    pub(crate) uid: u32,
    pub(crate) mtime: i64,
    /// Names outside of the tree.
    pub(crate) elsewhere: u32,
    pub(crate) failed: bool,
    pub(crate) skipped: bool,
}

/// A synthetic tree: files by their paths relative to the root.
#[derive(Clone, Debug, Default)]
pub(crate) struct Made {
    pub(crate) files: BTreeMap<Vec<u8>, File>,
}

impl Made {
    /// Creates a tree of one empty directory.
    pub(crate) fn new() -> Self {
        let mut made = Self::default();
        made.add(
            b"",
            File {
                is_directory: true,
                ino: 1,
                blocks: 8,
                ..File::default()
            },
        );
        made
    }

    pub(crate) fn add(&mut self, path: &[u8], file: File) {
        self.files.insert(path.to_vec(), file);
    }

    /// Adds a directory of one block, whose inode number no other file has.
    pub(crate) fn directory(&mut self, path: &str) {
        let ino = self.new_number();
        let file = File {
            is_directory: true,
            ino,
            blocks: 1,
            ..File::default()
        };
        self.add(path.as_bytes(), file);
    }

    /// Adds a file with this inode number.
    pub(crate) fn file(&mut self, path: &str, ino: u64, blocks: u64) {
        self.add(
            path.as_bytes(),
            File {
                ino,
                blocks,
                ..File::default()
            },
        );
    }

    fn new_number(&self) -> u64 {
        1_000_000 + self.files.len() as u64
    }

    /// Returns the number of names that an inode has.
    pub(crate) fn names(&self, file: &File) -> u32 {
        let same = self.files.values().filter(|other| other.ino == file.ino);
        u32::try_from(same.count()).unwrap() + file.elsewhere
    }

    /// Returns the paths of all files at or below one, except the ones that were left out.
    pub(crate) fn below(&self, path: &[u8]) -> Vec<&Vec<u8>> {
        let prefix = crate::saved::join(path, b"x");
        let prefix = &prefix[..prefix.len() - 1];
        let below = |other: &&Vec<u8>| *other == path || other.starts_with(prefix);
        self.files.keys().filter(below).collect()
    }

    /// Returns the allocated bytes of these paths, of each inode once.
    pub(crate) fn alloc(&self, paths: &[&Vec<u8>]) -> u64 {
        let mut seen = HashSet::new();
        let files = paths.iter().map(|path| &self.files[*path]);
        let charged = files.filter(|file| !file.skipped && seen.insert(file.ino));
        charged.map(|file| file.blocks * 512).sum()
    }

    /// Returns the allocated bytes of the inodes all of whose names are among these paths.
    pub(crate) fn freeable(&self, paths: &HashSet<&Vec<u8>>) -> u64 {
        let mut names: BTreeMap<u64, (u32, &File)> = BTreeMap::new();
        for path in paths {
            let file = &self.files[*path];
            names.entry(file.ino).or_insert((0, file)).0 += 1;
        }
        let whole = names
            .values()
            .filter(|(seen, file)| *seen == self.names(file));
        whole.map(|(_, file)| file.blocks * 512).sum()
    }

    fn begin_root(&self, tree: &mut TreeBuilder, root: &[u8]) {
        tree.begin_root(root, &self.entry(b"", &self.files[&b""[..]]))
            .unwrap();
        self.write_below(tree, b"");
        tree.end_directory().unwrap();
    }

    fn write_below(&self, tree: &mut TreeBuilder, directory: &[u8]) {
        for (path, file) in &self.files {
            let slash = path.iter().rposition(|byte| *byte == b'/');
            if path.is_empty() || path[..slash.unwrap_or(0)] != *directory {
                continue;
            }
            let name = &path[slash.map_or(0, |slash| slash + 1)..];
            let entry = self.entry(name, file);
            if file.is_directory && !file.skipped {
                tree.begin_directory(&entry).unwrap();
                self.write_below(tree, path);
                tree.end_directory().unwrap();
            } else {
                tree.file(&entry).unwrap();
            }
        }
    }

    fn entry<'n>(&self, name: &'n [u8], file: &File) -> Entry<'n> {
        let kind = if file.is_directory {
            FileType::Directory
        } else {
            FileType::Regular
        };
        let nlink = if file.is_directory {
            2
        } else {
            self.names(file)
        };
        Entry {
            attributes: Attributes {
                ino: Some(file.ino),
                dev: Some(5),
                mode: Some(0o644),
                nlink: Some(nlink),
                uid: Some(file.uid),
                gid: Some(0),
                size: Some(file.blocks * 500),
                alloc: Some(file.blocks * 512),
                mtime: Some(Timestamp {
                    secs: file.mtime,
                    nanos: 5,
                }),
                charged_once: !file.is_directory && nlink > 1,
                ..Attributes::default()
            },
            failure: file.failed.then_some(Failure {
                operation: FailedOperation::Open,
                errno: Errno::ACCESS,
            }),
            skipped: file.skipped.then_some(Skipped::OtherFs),
            ..Entry::new(name, kind)
        }
    }
}

/// Writes a snapshot of trees at these paths.
pub(crate) fn write(path: &Path, trees: &[(&str, &Made)]) {
    let mut tree = TreeBuilder::new(WriteOptions::default());
    for (root, made) in trees {
        made.begin_root(&mut tree, root.as_bytes());
    }
    tree.finish(Info::default(), path).unwrap();
}

/// Returns a snapshot of trees at these paths, in a file that is gone already.
pub(crate) fn snapshot(trees: &[(&str, &Made)]) -> Arc<SnapshotTree> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made");
    write(&path, trees);
    Arc::new(SnapshotTree::new(Snapshot::open(&path).unwrap()))
}

/// Returns ncdu's JSON of a synthetic file.
pub(crate) fn ncdu(path: &Path) {
    let text =
        r#"[1,2,{"progname":"ncdu"},[{"name":"/top","dsize":4096},{"name":"a","dsize":512}]]"#;
    std::fs::File::create(path)
        .unwrap()
        .write_all(text.as_bytes())
        .unwrap();
}

const NAMES: [&[u8]; 6] = [b"a", b"b", b"a.b", b"\xff", b"c.txt", b"\xc3\xa4"];

/// Returns trees of a few files, some of which have several names.
pub(crate) fn made() -> impl Strategy<Value = Made> {
    let file = (
        0..64_usize,
        0..NAMES.len(),
        any::<bool>(),
        0..12_u64,
        0..9_u64,
        0..3_u32,
    );
    vec(file, 0..40).prop_map(|files| {
        let mut made = Made::new();
        let mut directories = vec![Vec::new()];
        for (number, (parent, name, is_directory, ino, blocks, uid)) in (0..).zip(files) {
            let parent = directories[parent % directories.len()].clone();
            let path = crate::saved::join(&parent, NAMES[name]);
            if made.files.contains_key(&path) {
                continue;
            }
            // A third of the files share a few inodes.
            let is_linked = !is_directory && ino < 4;
            let file = File {
                is_directory,
                ino: if is_linked { 100 + ino } else { 1000 + number },
                blocks: if is_linked { ino } else { blocks },
                uid: if is_linked { 7 } else { uid },
                mtime: i64::from(uid) * 100 - 50,
                elsewhere: u32::from(is_linked && ino == 3),
                ..File::default()
            };
            if is_directory {
                directories.push(path.clone());
            }
            made.add(&path, file);
        }
        made
    })
}
