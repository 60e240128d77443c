//! Trees to walk, and the answer of the standard library for them.
#![allow(dead_code, reason = "each test file uses a part")]

use ringwalk::{Batch, Error, Fields, Flow, Left, Metadata, Root, Visitor, Walk};
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Creates a walk over the tree at `root`, by the source that `RINGWALK_TEST_SOURCE` names: all
/// tests here hold for each source. A source that cannot be used fails them, and is not replaced by
/// another one.
pub(crate) fn walk(root: impl Into<Root>) -> Walk {
    walks([root])
}

/// Creates such a walk over several trees.
pub(crate) fn walks(roots: impl IntoIterator<Item = impl Into<Root>>) -> Walk {
    let walk = Walk::from_roots(roots);
    let Some(name) = std::env::var_os("RINGWALK_TEST_SOURCE") else {
        return walk;
    };
    let name = name.to_str().expect("the name of a source");
    let walk = walk.source(name.parse().expect("the name of a source"));
    walk.check_source().expect("a source that can be used");
    walk
}

/// Small random numbers, the same on every run (xorshift, Marsaglia 2003).
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed * 2 + 1)
    }

    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % bound
    }

    /// Returns a name of 1 to 40 bytes, of any value that a name may have.
    pub(crate) fn name(&mut self) -> PathBuf {
        let length = 1 + self.below(40);
        let mut bytes: Vec<u8> = (0..length)
            .map(|_| match u8::try_from(1 + self.below(255)).unwrap() {
                b'/' => b'_',
                byte => byte,
            })
            .collect();
        if bytes.iter().all(|b| *b == b'.') {
            bytes[0] = b'x';
        }
        std::ffi::OsString::from_vec(bytes).into()
    }
}

/// Fills `dir` with about `entries` files, directories and links.
pub(crate) fn grow(dir: &Path, random: &mut Random, entries: usize) {
    let mut dirs = vec![dir.to_path_buf()];
    for _ in 0..entries {
        let at = usize::try_from(random.below(dirs.len() as u64)).unwrap();
        let path = dirs[at].join(random.name());
        if path.symlink_metadata().is_ok() {
            continue;
        }
        match random.below(10) {
            0..3 => {
                fs::create_dir(&path).unwrap();
                dirs.push(path);
            }
            3 => symlink("..", &path).unwrap(),
            4 => symlink("nowhere", &path).unwrap(),
            _ => fs::write(&path, vec![0; usize::try_from(random.below(5000)).unwrap()]).unwrap(),
        }
    }
}

/// The data of an entry that tests compare: path, size, depth.
pub(crate) type Seen = (Vec<u8>, u64, usize);

/// Returns all entries of a tree, the root included, read by the standard library.
pub(crate) fn expected(root: &Path) -> BTreeSet<Seen> {
    let mut all = BTreeSet::new();
    let mut to_do = vec![(root.to_path_buf(), 0)];
    while let Some((path, depth)) = to_do.pop() {
        let metadata = path.symlink_metadata().unwrap();
        all.insert((path.as_os_str().as_bytes().to_vec(), metadata.size(), depth));
        if metadata.is_dir() {
            for entry in fs::read_dir(&path).unwrap() {
                to_do.push((entry.unwrap().path(), depth + 1));
            }
        }
    }
    all
}

/// Collects the entries of a walk, and checks the order of calls.
#[derive(Default)]
pub(crate) struct Collect {
    pub(crate) seen: Vec<Seen>,
    pub(crate) left: Vec<Vec<u8>>,
    pub(crate) errors: Vec<Error>,
}

impl Visitor for Collect {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        for entry in batch.entries() {
            let size = entry.metadata().and_then(Metadata::size).unwrap_or(0);
            self.seen.push((entry.path(), size, entry.depth()));
        }
        Flow::Continue
    }

    fn leave(&mut self, dir: &Left<'_, ()>) {
        self.left.push(dir.path());
    }

    fn error(&mut self, error: &Error) {
        self.errors.push(error.clone());
    }
}

/// Runs a walk, and joins the entries that its workers have collected.
pub(crate) fn collect(walk: ringwalk::Walk) -> (Collect, ringwalk::Summary) {
    let outcome = walk.fields(Fields::SIZE).run(|_| Collect::default());
    let mut all = Collect::default();
    for visitor in outcome.visitors {
        all.seen.extend(visitor.seen);
        all.left.extend(visitor.left);
        all.errors.extend(visitor.errors);
    }
    (all, outcome.summary)
}

/// Returns the entries as a set. Each must have been seen once.
pub(crate) fn as_set(seen: Vec<Seen>) -> BTreeSet<Seen> {
    let count = seen.len();
    let set: BTreeSet<_> = seen.into_iter().collect();
    assert_eq!(set.len(), count, "an entry was seen twice");
    set
}
