//! How many files there are below directories, and how large they are together, by each of their names.

use crate::trouble::{Stop, Tell, Trouble};
use ringwalk::{
    Batch, Errno, Error, FileType, Flow, Identity, Metadata, Operation, ScanVisitor, Visitor,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// `d_type` values, which index the counts by type, stop below this.
const TYPES: usize = 16;

/// What one worker has counted. Roots do not count, only what is below them.
///
/// Names are counted: a directory that a mount shows at two places counts at both, with all below.
#[derive(Clone)]
pub struct Tally<'t> {
    types: [u64; TYPES],
    /// Sum of the apparent sizes in bytes. Wide, because three sparse files can already be larger together than 64 bits tell.
    pub bytes: u128,
    /// Roots that are no directories; each has been told of.
    pub no_directories: u64,
    tell: &'t Tell<'t>,
    stop: Option<&'t Stop<'t>>,
}

impl std::fmt::Debug for Tally<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tally")
            .field("files", &self.files())
            .field("bytes", &self.bytes)
            .finish_non_exhaustive()
    }
}

impl<'t> Tally<'t> {
    /// Nothing yet; `tell` is told of what cannot be read, but not of files that vanish.
    pub fn new(tell: &'t Tell<'t>) -> Self {
        Self {
            types: [0; TYPES],
            bytes: 0,
            no_directories: 0,
            tell,
            stop: None,
        }
    }

    /// Has the counting end, and its sums be of no use, when `stop` is true.
    pub fn stop_when(mut self, stop: &'t Stop<'t>) -> Self {
        self.stop = Some(stop);
        self
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// Both together.
    pub fn plus(mut self, other: &Self) -> Self {
        for (sum, part) in self.types.iter_mut().zip(other.types) {
            *sum += part;
        }
        self.bytes += other.bytes;
        self.no_directories += other.no_directories;
        self
    }

    /// Files of any type.
    pub fn files(&self) -> u64 {
        self.types.iter().sum()
    }

    /// Files of one type.
    pub fn of(&self, file_type: FileType) -> u64 {
        self.types[file_type as usize % TYPES]
    }

    fn check_roots(&mut self, batch: &Batch<'_, ()>) {
        // What could not be looked at has been told already.
        for root in batch.entries().filter(|root| root.stat_error().is_none()) {
            if root.file_type() != FileType::Directory {
                let path = Path::new(OsStr::from_bytes(root.name()));
                (self.tell)(Trouble {
                    operation: Operation::Open,
                    path,
                    errno: no_directory(path),
                });
                self.no_directories += 1;
            }
        }
    }
}

/// Why a root that is no directory cannot be counted; for a link, what keeps us from its target.
fn no_directory(path: &Path) -> Errno {
    let failure = std::fs::metadata(path).err();
    failure
        .and_then(|failure| failure.raw_os_error())
        .map_or(Errno::NOTDIR, Errno::from_raw_os_error)
}

impl Visitor for Tally<'_> {
    type State = ();

    fn batch(&mut self, batch: &Batch<'_, ()>) -> Flow {
        if batch.dir().is_none() {
            self.check_roots(batch);
            return Flow::Continue;
        }
        for entry in batch.entries() {
            // Listed, then gone: not below the root any more.
            if entry.stat_error() == Some(Errno::NOENT) {
                continue;
            }
            self.types[entry.file_type() as usize % TYPES] += 1;
            if let Some(metadata) = entry.metadata() {
                self.bytes += u128::from(metadata.size);
            }
        }
        if self.is_stopped() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        if !error.is_vanished() {
            (self.tell)(error.into());
        }
    }
}

/// What one thread of a scan has counted.
#[derive(Debug)]
pub struct Scanned<'t> {
    /// The directory itself, which does not count.
    root: Option<Identity>,
    tally: Tally<'t>,
}

impl<'t> Scanned<'t> {
    /// Adds to `tally`.
    pub fn new(tally: Tally<'t>) -> Self {
        Self { root: None, tally }
    }

    /// What has been counted.
    pub fn into_tally(self) -> Tally<'t> {
        self.tally
    }
}

impl ScanVisitor for Scanned<'_> {
    fn root(&mut self, root: &Metadata) {
        self.root = Some(root.identity());
    }

    fn is_stopped(&self) -> bool {
        self.tally.is_stopped()
    }

    fn files(&mut self, files: &[Metadata]) {
        for file in files {
            if Some(file.identity()) == self.root {
                continue;
            }
            // Every name counts, and a directory has one.
            let names = match file.file_type() {
                FileType::Directory => 1,
                _ => u64::from(file.nlink),
            };
            self.tally.types[file.file_type() as usize % TYPES] += names;
            self.tally.bytes += u128::from(file.size) * u128::from(names);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::{Fields, Follow, Summary, Walk};
    use std::path::PathBuf;
    use std::sync::Mutex;

    /// A directory with a file of 5 bytes that has two names, and a link to it.
    fn tree() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path();
        std::fs::create_dir(path.join("sub")).unwrap();
        std::fs::write(path.join("file"), "12345").unwrap();
        std::fs::hard_link(path.join("file"), path.join("sub/again")).unwrap();
        std::os::unix::fs::symlink("file", path.join("link")).unwrap();
        dir
    }

    fn walk<'t>(roots: &[PathBuf], fields: Fields, tell: &'t Tell<'t>) -> (Tally<'t>, Summary) {
        let walk = Walk::from_roots(roots.iter().map(PathBuf::as_path)).fields(fields);
        let outcome = walk.follow(Follow::CommandLine).run(|_| Tally::new(tell));
        let none = Tally::new(tell);
        (
            outcome.visitors.iter().fold(none, Tally::plus),
            outcome.summary,
        )
    }

    fn quiet(_: Trouble<'_>) {}

    #[test]
    fn every_name_below_counts_with_its_size() {
        let tree = tree();
        let sub = std::fs::symlink_metadata(tree.path().join("sub"))
            .unwrap()
            .len();
        let (tally, summary) = walk(&[tree.path().to_owned()], Fields::SIZE, &quiet);
        assert_eq!(
            (tally.files(), tally.bytes),
            (4, u128::from(5 + 5 + 4 + sub))
        );
        let of = |file_type| tally.of(file_type);
        assert_eq!(
            [FileType::Regular, FileType::Symlink, FileType::Directory].map(of),
            [2, 1, 1]
        );
        assert_eq!(summary.directories, 2);
    }

    #[test]
    fn without_metadata_names_count() {
        let tree = tree();
        let roots = [tree.path().to_owned(), tree.path().join("sub")];
        let (tally, _) = walk(&roots, Fields::empty(), &quiet);
        assert_eq!((tally.files(), tally.bytes), (5, 0));
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told_from_a_file() {
        let tree = tree();
        let nowhere = tree.path().join("nowhere");
        std::os::unix::fs::symlink("missing", &nowhere).unwrap();
        assert_eq!(no_directory(&nowhere), Errno::NOENT);
        assert_eq!(no_directory(&tree.path().join("link")), Errno::NOTDIR);
    }

    #[test]
    fn roots_that_are_no_directories_are_told_of() {
        let tree = tree();
        let told = Mutex::new(Vec::new());
        let tell = |trouble: Trouble<'_>| {
            let name = trouble.path.file_name().unwrap().to_owned();
            told.lock().unwrap().push((name, trouble.errno));
        };
        let roots = ["file", "missing"].map(|name| tree.path().join(name));
        let (tally, summary) = walk(&roots, Fields::SIZE, &tell);
        assert_eq!((tally.files(), tally.no_directories), (0, 1));
        assert_eq!(summary.errors, 1);
        let mut told = told.lock().unwrap().clone();
        told.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            told,
            [
                ("file".into(), Errno::NOTDIR),
                ("missing".into(), Errno::NOENT)
            ]
        );
    }
}
