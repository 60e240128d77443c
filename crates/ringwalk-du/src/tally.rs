//! The number of files below directories and the sum of their sizes. A file counts once for each of
//! its names.

use crate::measurement::allocated_size;
use crate::read_error::{ReadError, Report, Stop};
use ringwalk::{
    Batch, Errno, Error, FileType, Flow, Identity, Metadata, Operation, SweepVisitor, Visitor,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

/// `d_type` values, which index the counts by type, stop below this.
const TYPES: usize = 16;

/// The counts of one worker. Roots do not count, only the files below them.
///
/// A directory that a mount shows at two places counts at both places, with all files below it.
#[derive(Clone)]
pub struct Tally<'t> {
    types: [u64; TYPES],
    /// Sum of the apparent sizes in bytes. Three sparse files can exceed 64 bits together.
    pub bytes: u128,
    /// Sum of the space taken in bytes, if the walk asks for [`Fields::BLOCKS`].
    ///
    /// [`Fields::BLOCKS`]: ringwalk::Fields::BLOCKS
    pub allocated: u128,
    /// Number of roots that are not directories. Each has been reported.
    pub no_directories: u64,
    report: &'t Report<'t>,
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
    /// Returns an empty tally. `report` gets the read errors, except errors of files that vanish.
    pub fn new(report: &'t Report<'t>) -> Self {
        Self {
            types: [0; TYPES],
            bytes: 0,
            allocated: 0,
            no_directories: 0,
            report,
            stop: None,
        }
    }

    /// Sets a function that ends the counting when it returns true. The sums are of no use then.
    pub fn stop_when(mut self, stop: &'t Stop<'t>) -> Self {
        self.stop = Some(stop);
        self
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_some_and(|stop| stop())
    }

    /// Returns the sum of the two.
    pub fn plus(mut self, other: &Self) -> Self {
        for (sum, part) in self.types.iter_mut().zip(other.types) {
            *sum += part;
        }
        self.bytes += other.bytes;
        self.allocated += other.allocated;
        self.no_directories += other.no_directories;
        self
    }

    /// Adds the sizes of a file with this number of names, as far as the walk asks for them.
    fn add(&mut self, file: &Metadata, names: u64) {
        if let Some(size) = file.size() {
            self.bytes += u128::from(size) * u128::from(names);
        }
        if file.blocks().is_some() {
            self.allocated += u128::from(allocated_size(file)) * u128::from(names);
        }
    }

    /// Returns the number of files of any type.
    pub fn files(&self) -> u64 {
        self.types.iter().sum()
    }

    /// Returns each type of file with the number of its files.
    pub fn by_type(&self) -> impl Iterator<Item = (FileType, u64)> {
        self.types.iter().zip(0..).filter_map(|(files, d_type)| {
            let file_type = FileType::from_d_type(d_type);
            (file_type as u8 == d_type).then_some((file_type, *files))
        })
    }

    /// Returns the number of files of one type.
    pub fn of(&self, file_type: FileType) -> u64 {
        self.types[file_type as usize % TYPES]
    }

    fn check_roots(&mut self, batch: &Batch<'_, ()>) {
        // The error of a root without metadata has been reported.
        for root in batch.entries().filter(|root| root.stat_error().is_none()) {
            if root.file_type() != FileType::Directory {
                let path = Path::new(OsStr::from_bytes(root.name()));
                let errno = if batch.is_saved() {
                    Errno::NOTDIR
                } else {
                    no_directory(path)
                };
                (self.report)(ReadError {
                    operation: Operation::Open,
                    path,
                    errno,
                });
                self.no_directories += 1;
            }
        }
    }
}

/// Returns the reason why a root that is not a directory cannot be counted. For a link it is the
/// reason why its target cannot be reached.
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
            // The file vanished after it was listed.
            if entry.stat_error() == Some(Errno::NOENT) {
                continue;
            }
            self.types[entry.file_type() as usize % TYPES] += 1;
            if let Some(metadata) = entry.metadata() {
                self.add(metadata, 1);
            }
        }
        if self.is_stopped() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        if !error.is_vanished() {
            (self.report)(error.into());
        }
    }
}

/// Returns the name of a type in answers of programs.
pub fn type_name(file_type: FileType) -> &'static str {
    match file_type {
        FileType::BlockDevice => "block_device",
        FileType::CharacterDevice => "character_device",
        FileType::Directory => "directory",
        FileType::Fifo => "fifo",
        FileType::Regular => "file",
        FileType::Socket => "socket",
        FileType::Symlink => "symlink",
        FileType::Unknown => "unknown",
    }
}

/// The counts of one thread of an inode sweep.
#[derive(Debug)]
pub struct SweptTally<'t> {
    /// The root directory, which does not count.
    root: Option<Identity>,
    tally: Tally<'t>,
}

impl<'t> SweptTally<'t> {
    /// Returns a visitor that adds to `tally`.
    pub fn new(tally: Tally<'t>) -> Self {
        Self { root: None, tally }
    }

    /// Returns the tally.
    pub fn into_tally(self) -> Tally<'t> {
        self.tally
    }
}

impl SweepVisitor for SweptTally<'_> {
    fn root(&mut self, root: &Metadata) {
        self.root = root.identity();
    }

    fn is_stopped(&self) -> bool {
        self.tally.is_stopped()
    }

    fn files(&mut self, files: &[Metadata]) {
        for file in files {
            if file.identity() == self.root {
                continue;
            }
            // Each name counts, and a directory has one.
            let names = match file.file_type() {
                FileType::Directory => 1,
                FileType::Regular
                | FileType::Symlink
                | FileType::BlockDevice
                | FileType::CharacterDevice
                | FileType::Fifo
                | FileType::Socket
                | FileType::Unknown => u64::from(file.nlink().expect("a sweep reads whole inodes")),
            };
            self.tally.types[file.file_type() as usize % TYPES] += names;
            self.tally.add(file, names);
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

    fn walk<'t>(roots: &[PathBuf], fields: Fields, report: &'t Report<'t>) -> (Tally<'t>, Summary) {
        let walk = Walk::from_roots(roots.iter().map(PathBuf::as_path)).fields(fields);
        let outcome = walk.follow(Follow::CommandLine).run(|_| Tally::new(report));
        let none = Tally::new(report);
        (
            outcome.visitors.iter().fold(none, Tally::plus),
            outcome.summary,
        )
    }

    fn quiet(_: ReadError<'_>) {}

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
    fn each_type_comes_up_once() {
        let mut tally = Tally::new(&quiet);
        for (d_type, files) in (0..).zip(&mut tally.types) {
            *files = u64::from(FileType::from_d_type(d_type) as u8 == d_type);
        }
        let all: Vec<_> = tally.by_type().collect();
        assert_eq!(all.len() as u64, tally.files());
        assert!(all.contains(&(FileType::Unknown, 1)) && all.contains(&(FileType::Socket, 1)));
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
        let reported = Mutex::new(Vec::new());
        let report = |error: ReadError<'_>| {
            let name = error.path.file_name().unwrap().to_owned();
            reported.lock().unwrap().push((name, error.errno));
        };
        let roots = ["file", "missing"].map(|name| tree.path().join(name));
        let (tally, summary) = walk(&roots, Fields::SIZE, &report);
        assert_eq!((tally.files(), tally.no_directories), (0, 1));
        assert_eq!(summary.errors, 1);
        let mut reported = reported.lock().unwrap().clone();
        reported.sort_by(|a, b| a.0.cmp(&b.0));
        assert_eq!(
            reported,
            [
                ("file".into(), Errno::NOTDIR),
                ("missing".into(), Errno::NOENT)
            ]
        );
    }
}
