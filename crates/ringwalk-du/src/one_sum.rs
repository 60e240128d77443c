//! The adapter for one sum: all files that count, on all workers, without an order.
//!
//! A sum is the same whichever name of a file is charged. So all workers share one set of seen
//! inodes, and each adds to a sum of its own. The files come from a walk, or from the inodes of a
//! whole file system.

use std::ffi::OsStr;
use std::fmt;
use std::ops::AddAssign;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Mutex;

use ringwalk::{
    Batch, Error, Fields, FileType, Flow, InodeSweep, Metadata, Operation, Outcome, Summary,
    SweepVisitor, Visitor, Walk,
};
use ringwalk_sys::sync::lock;

use crate::location::Location;
use crate::measurement::{allocated_size, apparent_size};
use crate::read_error::{ReadError, Report, Stop};
use crate::rule::{Charge, Rule, Verdict, why_nowhere};
use crate::seen_inodes::SeenInodes;

/// What is added up of each file.
pub(crate) trait Measure: Sync {
    /// A sum over files.
    type Sum: Default + Send + AddAssign;

    /// Adds a file `times` times.
    fn add(&self, sum: &mut Self::Sum, file: &Metadata, times: u64);
}

/// How much space the files of a tree take, each of them once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Sum of the sizes of regular files and symbolic links, in bytes.
    pub apparent: u128,
    /// Sum of the space taken, in bytes.
    pub allocated: u128,
    /// Number of files of any type, roots included. A file with several names is one.
    pub files: u64,
}

impl Usage {
    /// The metadata that a walk or an inode sweep must ask for.
    pub const FIELDS: Fields = Fields::TYPE
        .union(Fields::INO)
        .union(Fields::NLINK)
        .union(Fields::SIZE)
        .union(Fields::BLOCKS);

    /// Measures by `sweep`, if there is one and it succeeds, and by `walk` otherwise. Both ask for
    /// [`FIELDS`](Self::FIELDS) and follow the links that `rule` follows. `report` gets the read
    /// errors, except errors of files that vanish. When `stop` is true the work ends, and the
    /// result is of no use.
    ///
    /// # Panics
    ///
    /// If the walk has a budget, or goes on with leftovers.
    pub fn measure(
        walk: Walk,
        sweep: Option<InodeSweep>,
        rule: &Rule,
        report: &Report<'_>,
        stop: &Stop<'_>,
    ) -> Self {
        walk.expect_whole("a sum");
        let adding = Adding::new(rule, &Space, report, stop);
        let swept = sweep.and_then(|sweep| adding.sweep(sweep));
        let (usage, _) = swept.unwrap_or_else(|| adding.walk(walk.descends_everywhere(true)));
        usage
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.apparent += other.apparent;
        self.allocated += other.allocated;
        self.files += other.files;
    }
}

/// Measures both sizes of files.
#[derive(Debug)]
struct Space;

impl Measure for Space {
    type Sum = Usage;

    fn add(&self, sum: &mut Usage, file: &Metadata, times: u64) {
        sum.apparent += u128::from(apparent_size(file)) * u128::from(times);
        sum.allocated += u128::from(allocated_size(file)) * u128::from(times);
        sum.files += times;
    }
}

/// What all workers that add to one sum share.
pub(crate) struct Adding<'t, M> {
    rule: &'t Rule,
    measure: &'t M,
    report: &'t Report<'t>,
    stop: &'t Stop<'t>,
    seen: Mutex<SeenInodes>,
}

impl<M> fmt::Debug for Adding<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Adding")
            .field("rule", &self.rule)
            .finish_non_exhaustive()
    }
}

impl<'t, M: Measure> Adding<'t, M> {
    pub(crate) fn new(
        rule: &'t Rule,
        measure: &'t M,
        report: &'t Report<'t>,
        stop: &'t Stop<'t>,
    ) -> Self {
        Self {
            rule,
            measure,
            report,
            stop,
            seen: Mutex::default(),
        }
    }

    /// Returns the sum over the inodes of a whole file system. Returns `None` if the sweep
    /// declines.
    pub(crate) fn sweep(&self, sweep: InodeSweep) -> Option<(M::Sum, Summary)> {
        let outcome = sweep.run(|_| Adder::new(self)).ok()?;
        Some(sum(outcome))
    }

    /// Returns the sum over the files of a walk.
    fn walk(&self, walk: Walk) -> (M::Sum, Summary) {
        sum(walk.run(|_| Adder::new(self)))
    }
}

fn sum<M: Measure>(outcome: Outcome<Adder<'_, '_, M>>) -> (M::Sum, Summary) {
    let mut sum = M::Sum::default();
    for adder in outcome.visitors {
        sum += adder.sum;
    }
    (sum, outcome.summary)
}

/// One worker, of a walk or of an inode sweep.
struct Adder<'a, 't, M: Measure> {
    shared: &'a Adding<'t, M>,
    sum: M::Sum,
}

impl<'a, 't, M: Measure> Adder<'a, 't, M> {
    fn new(shared: &'a Adding<'t, M>) -> Self {
        Self {
            shared,
            sum: M::Sum::default(),
        }
    }

    /// Returns true if a file counts now.
    fn counts(&self, file: &Metadata, charge: Charge) -> bool {
        match charge {
            Charge::EachTime => true,
            Charge::Once => file
                .identity()
                .is_none_or(|identity| lock(&self.shared.seen).insert(identity)),
        }
    }
}

impl<M: Measure> Visitor for Adder<'_, '_, M> {
    type State = Location;

    fn batch(&mut self, batch: &Batch<'_, Location>) -> Flow {
        let Adding { rule, measure, .. } = self.shared;
        for entry in batch.entries() {
            // The error has been reported.
            let Some(metadata) = entry.metadata() else {
                entry.prune();
                continue;
            };
            match rule.judge(batch, metadata) {
                Verdict::Counts(charge) if self.counts(metadata, charge) => {
                    measure.add(&mut self.sum, metadata, 1);
                    if metadata.file_type() == FileType::Directory {
                        entry.descend_with(Location::of(batch, metadata));
                    }
                }
                Verdict::Counts(_) | Verdict::LeftOut => entry.prune(),
                Verdict::LeadsNowhere => (self.shared.report)(ReadError {
                    operation: Operation::Stat,
                    path: Path::new(OsStr::from_bytes(&entry.path())),
                    errno: why_nowhere(batch, &entry),
                }),
            }
        }
        if (self.shared.stop)() {
            return Flow::Stop;
        }
        Flow::Continue
    }

    fn error(&mut self, error: &Error) {
        if !error.is_vanished() {
            (self.shared.report)(error.into());
        }
    }
}

impl<M: Measure> SweepVisitor for Adder<'_, '_, M> {
    fn is_stopped(&self) -> bool {
        (self.shared.stop)()
    }

    fn files(&mut self, files: &[Metadata]) {
        let Adding { rule, measure, .. } = self.shared;
        for file in files {
            measure.add(&mut self.sum, file, rule.times(file));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ringwalk::{Errno, Follow};
    use std::os::unix::fs::{MetadataExt as _, symlink};

    fn measure(root: &Path, follow: Follow, report: &Report<'_>) -> Usage {
        let walk = Walk::new(root).fields(Usage::FIELDS).follow(follow);
        Usage::measure(walk, None, &Rule::new(follow), report, &|| false)
    }

    fn no_error(error: ReadError<'_>) {
        panic!("{error:?}");
    }

    #[test]
    fn a_file_with_two_names_counts_once() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("one"), [7; 5000]).unwrap();
        std::fs::hard_link(dir.path().join("one"), dir.path().join("sub/two")).unwrap();
        let files = ["", "sub", "one"].map(|name| dir.path().join(name).metadata().unwrap());
        let usage = measure(dir.path(), Follow::Never, &no_error);
        assert_eq!(usage.files, 3);
        assert_eq!(usage.apparent, 5000, "directories have no apparent size");
        let blocks = files.iter().map(|m| u128::from(m.blocks()) * 512).sum();
        assert_eq!(usage.allocated, blocks);
    }

    #[test]
    fn targets_of_links_count_once_and_loops_end() {
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
            let usage = measure(dir.path(), Follow::Always, &no_error);
            assert_eq!(usage.files, 4, "the root, a, b and the file");
        }
    }

    #[test]
    fn a_link_that_leads_nowhere_is_reported() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("file"), "").unwrap();
        let link = dir.path().join("link");
        for (target, errno) in [("missing", Errno::NOENT), ("file/below", Errno::NOTDIR)] {
            symlink(target, &link).unwrap();
            let reported = Mutex::new(Vec::new());
            let usage = measure(dir.path(), Follow::Always, &|error| {
                let error = (error.path.to_owned(), error.errno);
                reported.lock().unwrap().push(error);
            });
            assert_eq!(usage.files, 2);
            assert_eq!(*reported.lock().unwrap(), [(link.clone(), errno)]);
            let usage = measure(dir.path(), Follow::Never, &no_error);
            assert_eq!(usage.files, 3);
            std::fs::remove_file(&link).unwrap();
        }
    }

    #[test]
    fn an_inode_sweep_adds_a_file_once_or_by_each_name() {
        let dir = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| dir.path().join(name));
        std::fs::write(&one, [7; 500]).unwrap();
        std::fs::hard_link(&one, two).unwrap();
        let files = [dir.path(), &one]
            .map(|path| Metadata::of_path(None, path, false, Usage::FIELDS).unwrap());
        for (count_links, expected) in [(false, (500, 2)), (true, (1000, 3))] {
            let rule = Rule::new(Follow::Never).count_links(count_links);
            let adding = Adding::new(&rule, &Space, &no_error, &|| false);
            let mut adder = Adder::new(&adding);
            adder.files(&files);
            assert_eq!((adder.sum.apparent, adder.sum.files), expected);
        }
    }

    #[test]
    #[should_panic(expected = "needs the whole tree")]
    fn a_walk_that_may_leave_something_out_has_no_sum() {
        let walk = Walk::new(".").resume(Vec::new());
        let rule = Rule::new(Follow::Never);
        Usage::measure(walk, None, &rule, &|_| {}, &|| false);
    }
}
