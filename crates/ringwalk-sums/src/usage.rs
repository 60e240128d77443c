//! How much space trees take, each file once.
//!
//! Without an order among results there is one sum and one set of files met, which all workers look into: of a file's names it does not
//! matter which is met first, as the sum is the same.

use crate::location::{Location, lies_within_itself};
use crate::met::Met;
use crate::trouble::{Stop, Tell, Trouble};
use ringwalk::{
    Batch, Entry, Error, Fields, FileType, Flow, Follow, Identity, Metadata, Operation,
    ScanVisitor, Visitor,
};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

/// Returns the size of a regular file or a symbolic link in bytes, and 0 for every other type, of
/// which POSIX does not say what `st_size` means. A negative size counts as 0.
pub fn apparent_size(metadata: &Metadata) -> u64 {
    match metadata.file_type() {
        FileType::Regular | FileType::Symlink => {
            i64::try_from(metadata.size).map_or(0, |_| metadata.size)
        }
        _ => 0,
    }
}

/// The space that a file takes, in bytes.
pub fn allocated_size(metadata: &Metadata) -> u64 {
    metadata.blocks.saturating_mul(512)
}

/// Sums over files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sum of the sizes of regular files and symbolic links, in bytes.
    pub apparent: u128,
    /// Sum of the space taken, in bytes.
    pub allocated: u128,
    /// Files of any type, roots included; one with several names is one.
    pub files: u64,
}

impl Usage {
    /// Both together.
    pub fn plus(mut self, other: &Self) -> Self {
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.files += other.files;
        self
    }

    fn add(&mut self, metadata: &Metadata) {
        self.apparent += u128::from(apparent_size(metadata));
        self.allocated += u128::from(allocated_size(metadata));
        self.files += 1;
    }
}

/// What all workers of a measurement share.
pub struct Measuring<'t> {
    /// What the walk follows.
    pub follow: Follow,
    /// Only files on the device of their root count.
    pub one_file_system: bool,
    /// Told of what cannot be read, but not of files that vanish.
    pub tell: &'t Tell<'t>,
    /// Ends the work when it is true; the sums are of no use then.
    pub stop: &'t Stop<'t>,
    /// Files that may be met again.
    pub met: Mutex<Met>,
}

impl std::fmt::Debug for Measuring<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Measuring")
            .field("follow", &self.follow)
            .finish_non_exhaustive()
    }
}

impl Measuring<'_> {
    /// The metadata that a walk or a scan must ask for.
    pub const FIELDS: Fields = Fields::TYPE
        .union(Fields::INO)
        .union(Fields::NLINK)
        .union(Fields::SIZE)
        .union(Fields::BLOCKS);

    /// Whether a file is met for the first time.
    fn is_new(&self, file: Identity) -> bool {
        let mut met = self.met.lock().unwrap_or_else(PoisonError::into_inner);
        met.insert(file)
    }
}

/// One worker's part, of a walk or of a scan.
#[derive(Debug)]
pub struct Measurer<'m, 't> {
    measuring: &'m Measuring<'t>,
    /// What it has come to.
    pub usage: Usage,
}

impl<'m, 't> Measurer<'m, 't> {
    /// Nothing yet.
    pub fn new(measuring: &'m Measuring<'t>) -> Self {
        Self {
            measuring,
            usage: Usage::default(),
        }
    }

    /// Whether a file counts, and is descended into.
    fn admits(&self, batch: &Batch<'_, Location>, metadata: &Metadata) -> bool {
        let follows = self.measuring.follow == Follow::Always;
        let is_directory = metadata.file_type() == FileType::Directory;
        if let Some(dir) = batch.dir() {
            if self.measuring.one_file_system && metadata.dev != dir.state().device {
                return false;
            }
            // Where links are followed, every directory met is kept.
            if !follows && lies_within_itself(dir, metadata, false, |location| location) {
                return false;
            }
        }
        let may_repeat = follows || (metadata.nlink > 1 && !is_directory);
        !may_repeat || self.measuring.is_new(metadata.identity())
    }

    /// A link that was to be followed leads nowhere: its target has no size.
    fn leads_nowhere(&self, entry: &Entry<'_, Location>) {
        let path = entry.path();
        let path = Path::new(OsStr::from_bytes(&path));
        let failure = std::fs::metadata(path).err();
        let Some(errno) = failure.and_then(|failure| failure.raw_os_error()) else {
            return;
        };
        (self.measuring.tell)(Trouble {
            operation: Operation::Stat,
            path,
            errno: ringwalk::Errno::from_raw_os_error(errno),
        });
    }
}

impl Visitor for Measurer<'_, '_> {
    type State = Location;

    fn batch(&mut self, batch: &Batch<'_, Location>) -> Flow {
        let follows = match self.measuring.follow {
            Follow::Never => false,
            Follow::CommandLine => batch.dir().is_none(),
            Follow::Always => true,
        };
        for entry in batch.entries() {
            // Where there is none, the error has been told.
            let Some(metadata) = entry.metadata() else {
                entry.prune();
                continue;
            };
            if follows && metadata.file_type() == FileType::Symlink {
                self.leads_nowhere(&entry);
                continue;
            }
            if !self.admits(batch, metadata) {
                entry.prune();
                continue;
            }
            self.usage.add(metadata);
            if metadata.file_type() == FileType::Directory {
                entry.descend_with(match batch.dir() {
                    Some(dir) => Location::below(dir, metadata, |location| location),
                    None => Location::of_root(metadata.identity()),
                });
            }
        }
        if (self.measuring.stop)() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        if !error.is_vanished() {
            (self.measuring.tell)(error.into());
        }
    }
}

impl ScanVisitor for Measurer<'_, '_> {
    fn is_stopped(&self) -> bool {
        (self.measuring.stop)()
    }

    fn files(&mut self, files: &[Metadata]) {
        for file in files {
            self.usage.add(file);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::Walk;
    use std::os::unix::fs::{MetadataExt as _, symlink};

    fn measure(root: &Path, follow: Follow, tell: &Tell<'_>) -> Usage {
        let measuring = Measuring {
            follow,
            one_file_system: false,
            tell,
            stop: &|| false,
            met: Mutex::default(),
        };
        let walk = Walk::new(root).fields(Measuring::FIELDS).follow(follow);
        let outcome = walk.run(|_| Measurer::new(&measuring));
        let usages = outcome.visitors.iter().map(|visitor| visitor.usage);
        usages.fold(Usage::default(), |sum, usage| sum.plus(&usage))
    }

    fn nothing_is_told(trouble: Trouble<'_>) {
        panic!("{trouble:?}");
    }

    #[test]
    fn a_file_with_two_names_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("one"), [7; 5000]).unwrap();
        std::fs::hard_link(dir.path().join("one"), dir.path().join("sub/two")).unwrap();
        let files = ["", "sub", "one"].map(|name| dir.path().join(name).metadata().unwrap());
        let usage = measure(dir.path(), Follow::Never, &nothing_is_told);
        assert_eq!(usage.files, 3);
        assert_eq!(usage.apparent, 5000, "directories have no apparent size");
        let blocks = files.iter().map(|m| u128::from(m.blocks()) * 512).sum();
        assert_eq!(usage.allocated, blocks);
    }

    #[test]
    fn what_links_lead_to_counts_once_and_loops_end() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a", "b"] {
            std::fs::create_dir(dir.path().join(name)).unwrap();
        }
        std::fs::write(dir.path().join("a/file"), [7; 100]).unwrap();
        for (target, name) in [
            ("../a", "b/a"),
            ("..", "a/up"),
            ("a/file", "file"),
            ("b", "c"),
        ] {
            symlink(target, dir.path().join(name)).unwrap();
        }
        for _ in 0..20 {
            let usage = measure(dir.path(), Follow::Always, &nothing_is_told);
            assert_eq!(usage.files, 4, "the root, a, b and the file");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let link = dir.path().join("link");
        for (target, errno) in [
            ("missing", ringwalk::Errno::NOENT),
            ("file/below", ringwalk::Errno::NOTDIR),
        ] {
            symlink(target, &link).unwrap();
            let told = Mutex::new(Vec::new());
            let usage = measure(dir.path(), Follow::Always, &|trouble| {
                let told_of = (trouble.path.to_owned(), trouble.errno);
                told.lock().unwrap().push(told_of);
            });
            assert_eq!(usage.files, 2);
            assert_eq!(*told.lock().unwrap(), [(link.clone(), errno)]);
            let usage = measure(dir.path(), Follow::Never, &nothing_is_told);
            assert_eq!(usage.files, 3);
            std::fs::remove_file(&link).unwrap();
        }
    }
}
