//! Walks by several tasks in a row, and the snapshots of their parts.

use super::*;
use crate::read::Snapshot;
use crate::{Capture, Column, Contents, FileHashes, Info, WriteOptions};
use proptest::prelude::*;
use ringwalk::Budget;
use std::collections::VecDeque;
use std::fs;
use std::io::Write as _;
use std::num::{NonZeroU64, NonZeroUsize};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod hostile;

/// A walk whose tasks run one after the other.
struct Driver {
    folder: tempfile::TempDir,
    roots: Vec<PathBuf>,
    contents: Contents,
    hashes: Option<Arc<dyn FileHashes>>,
    one_file_system: bool,
    waiting: VecDeque<Vec<Piece>>,
    reports: Vec<TaskReport>,
}

impl Driver {
    fn new(roots: &[&Path]) -> Self {
        // A task waits for the disk several times, which takes long on a busy machine.
        let folder = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        let folder = folder.unwrap();
        for name in ["parts", "todo", "errors"] {
            fs::create_dir(folder.path().join(name)).unwrap();
        }
        fs::write(folder.path().join("snapshot.json"), "{\"format\": 1}").unwrap();
        Self {
            folder,
            roots: roots.iter().map(|root| root.to_path_buf()).collect(),
            contents: Contents::default(),
            hashes: None,
            one_file_system: false,
            waiting: VecDeque::new(),
            reports: Vec::new(),
        }
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn task(&self, pieces: Option<Vec<Piece>>) -> Task {
        let number = TaskNumber {
            task: u32::try_from(self.reports.len()).unwrap() + 1,
            epoch: 1,
            attempt: 0,
        };
        let task = Task::new(self.path(), &self.roots, number).unwrap();
        let task = task
            .contents(self.contents)
            .one_file_system(self.one_file_system);
        let task = match &self.hashes {
            Some(hashes) => task.hashes(Arc::clone(hashes)),
            None => task,
        };
        match pieces {
            Some(pieces) => task.go_on(pieces),
            None => task,
        }
    }

    /// Runs the next task. Returns false if there is none.
    fn step(&mut self, entries: u64, workers: usize) -> bool {
        let pieces = self.waiting.pop_front();
        if pieces.is_none() && !self.reports.is_empty() {
            return false;
        }
        let task = self.task(pieces);
        let budget = Budget {
            time: None,
            entries: NonZeroU64::new(entries),
        };
        let walk = task
            .walk()
            .budget(budget)
            .workers(NonZeroUsize::new(workers));
        let report = task.run(walk).unwrap();
        self.waiting.extend(report.chunks.iter().map(|chunk| {
            vec![Piece {
                file: report.todo.clone().unwrap().into(),
                offset: chunk.offset,
                length: usize::try_from(chunk.length).unwrap(),
            }]
        }));
        self.reports.push(report);
        true
    }

    /// Runs all tasks.
    fn run(&mut self, mut budgets: impl Iterator<Item = u64>) {
        while self.step(budgets.next().unwrap(), 2) {}
        self.finish();
    }

    /// Writes what the driver of a walk writes at the end.
    fn finish(&self) {
        let mut manifest = Vec::new();
        for report in &self.reports {
            let (path, rows, bytes) = (&report.part, report.rows, report.bytes);
            let line = serde_json::json!({ "path": path, "rows": rows, "bytes": bytes });
            writeln!(manifest, "{line}").unwrap();
            for (file, folder) in [(&report.todo, "todo"), (&report.errors_file, "errors")] {
                if let Some(file) = file {
                    let name = Path::new(file).file_name().unwrap();
                    fs::copy(self.path().join(file), self.path().join(folder).join(name)).unwrap();
                }
            }
        }
        fs::write(self.path().join("manifest.jsonl"), manifest).unwrap();
        fs::write(self.path().join("verdict.json"), "{}").unwrap();
    }

    fn compact(&self) -> Result<(Vec<u8>, Info), TaskError> {
        let output = tempfile::tempdir().unwrap();
        let output = output.path().join("compact");
        let info = Compact::new(self.path()).run(&output)?;
        Ok((fs::read(&output).unwrap(), info))
    }

    /// Returns the snapshot that one process takes.
    fn snapshot(&self) -> (Vec<u8>, Info) {
        let options = WriteOptions {
            contents: self.contents,
            ..WriteOptions::default()
        };
        let capture = Capture::new(&self.roots).unwrap().options(options);
        let mut capture = capture.one_file_system(self.one_file_system);
        if let Some(hashes) = &self.hashes {
            capture = capture.hashes(Arc::clone(hashes));
        }
        let output = tempfile::tempdir().unwrap();
        let output = output.path().join("whole");
        let captured = capture.run(capture.walk(), &output).unwrap();
        (fs::read(&output).unwrap(), captured.info)
    }

    /// Checks that the parts become the snapshot that one process takes, byte for byte.
    fn check(&self) -> Info {
        let (bytes, info) = self.compact().unwrap();
        let (whole, other) = self.snapshot();
        let run = info.run.clone();
        assert_eq!(info, Info { run, ..other });
        assert_same_but_run(&bytes, &whole);
        info
    }
}

/// Compares two files, except the value of `ringwalk.run`, which is the second to last.
fn assert_same_but_run(one: &[u8], other: &[u8]) {
    let cut = |bytes: &[u8]| {
        let footer = u32::from_le_bytes(*bytes[..bytes.len() - 4].last_chunk().unwrap());
        let begin = bytes.len() - 8 - footer as usize;
        let key = memchr::memmem::rfind(bytes, b"ringwalk.run").unwrap();
        let next = memchr::memmem::find(&bytes[key..], b"ringwalk.row_groups").unwrap();
        (begin, key, key + next)
    };
    let ((begin, key, next), (other_begin, other_key, other_next)) = (cut(one), cut(other));
    assert_eq!(begin, other_begin);
    assert!(one[..key] == other[..other_key]);
    assert!(one[next..one.len() - 8] == other[other_next..other.len() - 8]);
}

/// A tree with what a snapshot has of files.
fn tree() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    for a in 0..6 {
        for b in 0..5 {
            let dir = path(&format!("d{a}/e{b}/f"));
            fs::create_dir_all(&dir).unwrap();
            for c in 0..a * b {
                fs::write(dir.join(format!("{c}.txt")), format!("{c}")).unwrap();
            }
        }
    }
    fs::create_dir(path("empty")).unwrap();
    symlink("d0", path("link")).unwrap();
    fs::hard_link(path("d5/e4/f/0.txt"), path("d0/e0/other")).unwrap();
    fs::hard_link(path("d5/e4/f/0.txt"), path("d2/again")).unwrap();
    fs::hard_link(path("d4/e4/f/0.txt"), path("d4/below")).unwrap();
    let odd = std::ffi::OsStr::new("odd\u{e9}\n\"");
    fs::create_dir(folder.path().join(odd)).unwrap();
    let bytes = <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"\xff\xfe");
    fs::create_dir(folder.path().join(odd).join(bytes)).unwrap();
    fs::write(folder.path().join(odd).join(bytes).join("x"), "x").unwrap();
    // Beyond the range of 64 bits.
    let old = std::time::UNIX_EPOCH + std::time::Duration::from_secs(20_000_000_000);
    let file = fs::File::open(path("d0/e0/other")).unwrap();
    // Not every file system has such times.
    let _ = file.set_modified(old);
    folder
}

#[test]
fn one_task_makes_the_same_snapshot() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(u64::MAX));
    assert_eq!(driver.reports.len(), 1);
    let info = driver.check();
    assert!(info.verdict.complete);
    assert_eq!(driver.reports[0].rows, info.verdict.entries);
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 12,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_budgets_make_the_same_snapshot(budgets in prop::collection::vec(1_u64..60, 1..20)) {
        let tree = tree();
        let mut driver = Driver::new(&[tree.path()]);
        driver.run(budgets.into_iter().cycle());
        let info = driver.check();
        prop_assert!(info.verdict.complete);
        let sum = |of: fn(&TaskReport) -> u64| driver.reports.iter().map(of).sum::<u64>();
        prop_assert_eq!(sum(|report| report.rows), info.verdict.entries);
        prop_assert_eq!(sum(|report| report.errors + report.vanished), 0);
    }
}

#[test]
fn several_roots_access_times_and_attributes() {
    let (one, other) = (tree(), tree());
    let (file, dir) = (other.path().join("empty"), one.path().join("d1"));
    let flags = rustix::fs::XattrFlags::empty();
    for (name, value) in [("user.b", &[7; 3000][..]), ("user.a", b"")] {
        for path in [&file, &dir] {
            // Not every file system has them.
            let _ = rustix::fs::setxattr(path, name, value, flags);
        }
    }
    let mut driver = Driver::new(&[one.path(), other.path()]);
    driver.contents = Contents {
        atime: true,
        xattrs: true,
        ..Contents::default()
    };
    // The first reading sets times of access, and later ones do not, as a rule.
    driver.snapshot();
    driver.run(std::iter::repeat(40));
    assert!(driver.reports.len() > 3);
    driver.check();
}

/// Returns the size of a file as its hash.
#[derive(Debug)]
struct Sizes;

impl FileHashes for Sizes {
    fn hash(&self, metadata: &ringwalk::Metadata, _: &dyn Fn() -> Vec<u8>) -> Option<[u8; 32]> {
        let size = metadata.size().filter(|size| *size > 0)?;
        Some([u8::try_from(size % 251).unwrap(); 32])
    }
}

#[test]
fn hashes_of_contents() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.hashes = Some(Arc::new(Sizes));
    driver.run(std::iter::repeat(40));
    assert!(driver.reports.len() > 2);
    driver.check();
    let snapshot = crate::open(driver.path()).unwrap();
    let columns = [Column::Type, Column::Size, Column::Hash];
    let mut scan = snapshot.scan(0..snapshot.rows(), &columns).unwrap();
    let chunk = scan.next_chunk().unwrap().unwrap();
    let mut known = 0;
    for at in 0..chunk.len() {
        let size = chunk.integer(Column::Size, at).unwrap();
        let is_file = chunk.file_type(at) == ringwalk::FileType::Regular;
        let expected = (is_file && size > 0).then(|| [u8::try_from(size % 251).unwrap(); 32]);
        assert_eq!(chunk.hash(at), expected.as_ref());
        known += usize::from(expected.is_some());
    }
    assert!(known > 0);
}

#[test]
fn parts_with_and_without_hashes_do_not_belong_together() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    assert!(driver.step(40, 2));
    driver.hashes = Some(Arc::new(Sizes));
    driver.run(std::iter::repeat(40));
    let error = driver.compact().unwrap_err();
    assert!(
        error.to_string().contains("its roots or columns differ"),
        "{error}"
    );
}

#[test]
fn a_root_that_is_a_file() {
    let tree = tree();
    let mut driver = Driver::new(&[&tree.path().join("d0/e0/other")]);
    driver.run(std::iter::repeat(1));
    assert_eq!(driver.check().verdict.entries, 1);
}

/// The folder of the walk may lie within the tree.
#[test]
fn the_folder_of_the_walk_is_left_out() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    let (_, before) = driver.snapshot();
    driver.folder = tempfile::tempdir_in(tree.path()).unwrap();
    for name in ["parts", "todo", "errors"] {
        fs::create_dir(driver.path().join(name)).unwrap();
    }
    fs::write(driver.path().join("snapshot.json"), "{\"format\": 1}").unwrap();
    driver.run(std::iter::repeat(30));
    let (_, info) = driver.compact().unwrap();
    assert_eq!(info.verdict, before.verdict);
}

#[test]
fn a_part_is_no_snapshot() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(u64::MAX));
    let error = crate::open(&driver.path().join(&driver.reports[0].part)).unwrap_err();
    assert!(error.reason().contains("part"), "{error}");
    // A snapshot is not a part either.
    let output = driver.path().join("whole");
    Compact::new(driver.path()).run(&output).unwrap();
    fs::rename(&output, driver.path().join(&driver.reports[0].part)).unwrap();
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("ringwalk.part"), "{error}");
}

#[test]
fn a_folder_is_opened_as_a_snapshot() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(50));
    // To open a file writes nothing, so a folder is none that it could open.
    let before = fs::read_dir(driver.path()).unwrap().count();
    let error = Snapshot::open(driver.path()).unwrap_err();
    assert!(error.reason().contains("no regular file"), "{error}");
    assert_eq!(fs::read_dir(driver.path()).unwrap().count(), before);
    let snapshot = crate::open(driver.path()).unwrap();
    assert!(snapshot.info().verdict.complete);
    assert!(snapshot.locate(0, b"d2/again").unwrap().is_some());
}

#[test]
fn unfinished_walks_are_refused() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(u64::MAX, 1);
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("--resume"), "{error}");
    let error = crate::open(driver.path()).unwrap_err();
    assert!(error.reason().contains("--resume"), "{error}");
    fs::remove_file(driver.path().join("snapshot.json")).unwrap();
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("snapshot.json"), "{error}");
}

/// No hole is silent: leftovers that nobody has read, and parts that are missing.
#[test]
fn what_is_missing_is_an_error() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    for _ in 0..3 {
        assert!(driver.step(30, 1));
    }
    assert!(!driver.waiting.is_empty());
    driver.finish();
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("has not been read"), "{error}");
    for file in fs::read_dir(driver.path().join("todo")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("have not been read"), "{error}");
    driver.run(std::iter::repeat(1000));
    driver.check();
    let removed = driver.reports.remove(1);
    driver.finish();
    driver.compact().unwrap_err();
    driver.reports.insert(1, removed);
    driver.finish();
    fs::remove_file(driver.path().join(&driver.reports[1].part)).unwrap();
    let error = driver.compact().unwrap_err();
    assert!(error.path().ends_with(&driver.reports[1].part), "{error}");
}

/// The driver writes errors for what it has given up.
#[test]
fn what_was_given_up_is_an_error_of_its_row() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(1, 1);
    driver.finish();
    let todo = fs::read(driver.path().join(driver.reports[0].todo.as_ref().unwrap())).unwrap();
    let lines = todo.split_inclusive(|byte| *byte == b'\n');
    let mut errors = Vec::new();
    for line in lines {
        let left = lines::LeftLine::parse(line.strip_suffix(b"\n").unwrap(), 1).unwrap();
        let path = crate::Text(left.leftover.path);
        let line = serde_json::json!({
            "root": 0, "path": path, "operation": "task", "errno": 5, "message": "given up",
        });
        writeln!(errors, "{line}").unwrap();
    }
    fs::write(driver.path().join("errors/aside.errors"), errors).unwrap();
    let (_, info) = driver.compact().unwrap();
    assert!(!info.verdict.complete);
    assert_eq!(info.verdict.errors, driver.reports[0].left);
}

#[test]
fn damaged_parts_are_named() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(60));
    let part = driver.path().join(&driver.reports[1].part);
    let sound = fs::read(&part).unwrap();
    for at in (0..sound.len()).step_by(97) {
        let mut damaged = sound.clone();
        damaged[at] ^= 0x20;
        fs::write(&part, damaged).unwrap();
        // A byte that nothing depends on may change.
        if let Err(error) = driver.compact() {
            assert_eq!(error.path(), part, "{at}: {error}");
        } else {
            driver.check();
        }
    }
    fs::write(&part, &sound[..sound.len() - 1]).unwrap();
    assert_eq!(driver.compact().unwrap_err().path(), part);
}

#[test]
fn damaged_leftovers_are_refused() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(1, 1);
    let todo = driver.path().join(driver.reports[0].todo.as_ref().unwrap());
    let mut bytes = fs::read(&todo).unwrap();
    let pieces = driver.waiting.pop_front().unwrap();
    let task = driver.task(Some(pieces.clone()));
    bytes[20] ^= 1;
    fs::write(&todo, &bytes).unwrap();
    let error = task.run(task.walk()).unwrap_err();
    assert_eq!(error.path(), todo);
    assert!(error.reason().contains("damaged"), "{error}");
    fs::write(&todo, &bytes[..10]).unwrap();
    let error = task.run(task.walk()).unwrap_err();
    assert!(error.reason().contains("ends before"), "{error}");
    fs::remove_file(&todo).unwrap();
    assert!(task.run(task.walk()).unwrap_err().io_error().is_some());
}

#[test]
fn files_of_no_task_are_left_alone_or_named_with_a_remedy() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(5));
    for folder in ["todo", "errors"] {
        // What NFS keeps of a file that was removed while it was open.
        fs::write(driver.path().join(folder).join(".nfs000000000123"), "x").unwrap();
    }
    driver.compact().unwrap();
    let stray = driver.path().join("errors/9-9-9.errors");
    fs::write(&stray, "x\n").unwrap();
    let error = driver.compact().unwrap_err();
    assert_eq!(error.path(), stray);
    let reason = error.reason();
    assert!(reason.contains("`ringwalk-cluster verify`"), "{reason}");
}

#[test]
fn a_directory_that_is_replaced_between_tasks_vanishes() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(1, 1);
    let (old, aside) = (tree.path().join("d3"), tree.path().join("d3 aside"));
    fs::rename(&old, &aside).unwrap();
    fs::create_dir(&old).unwrap();
    fs::write(old.join("new"), "new").unwrap();
    driver.run(std::iter::repeat(1000));
    let vanished: u64 = driver.reports.iter().map(|report| report.vanished).sum();
    assert_eq!(vanished, 1);
    let (_, info) = driver.compact().unwrap();
    assert!(info.verdict.complete);
    let snapshot = crate::open(driver.path()).unwrap();
    assert!(snapshot.locate(0, b"d3").unwrap().is_some());
    assert!(snapshot.locate(0, b"d3/new").unwrap().is_none());
}

/// The task that began it has counted it as read. Counted again, it would hide one that is missing.
#[test]
fn the_rest_of_a_directory_that_vanishes_is_not_counted() {
    let Ok(tree) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let directory = tree.path().join("large");
    fs::create_dir(&directory).unwrap();
    // More than a task reads at once.
    for number in 0..5000 {
        fs::File::create(directory.join(format!("{number:0200}"))).unwrap();
    }
    let mut driver = Driver::new(&[tree.path()]);
    driver.step(10, 1);
    assert_eq!(driver.reports[0].summary.directories, 2);
    fs::remove_dir_all(&directory).unwrap();
    driver.run(std::iter::repeat(1000));
    let sum = |count: fn(&TaskReport) -> u64| driver.reports.iter().map(count).sum::<u64>();
    assert_eq!(sum(|report| report.summary.vanished), 1);
    assert_eq!(sum(|report| report.vanished), 0);
    // The root, and the directory that was begun.
    assert_eq!(sum(|report| report.summary.directories), 2);
    assert_eq!(sum(|report| report.found), 1);
}

#[test]
fn another_root_than_before_is_an_error() {
    let tree = tree();
    let root = tree.path().join("d5");
    let mut driver = Driver::new(&[&root]);
    driver.step(1, 1);
    fs::rename(&root, tree.path().join("aside")).unwrap();
    fs::create_dir(&root).unwrap();
    let pieces = driver.waiting.pop_front();
    let task = driver.task(pieces);
    let error = task.run(task.walk()).unwrap_err();
    assert_eq!(error.path(), root);
    let errno = error.io_error().and_then(std::io::Error::raw_os_error);
    assert_eq!(errno, Some(rustix::io::Errno::STALE.raw_os_error()));
}

/// A worker that may not read a root gives the work back, and does not leave it over for ever.
#[test]
fn a_root_that_cannot_be_opened_is_an_error() {
    use rustix::thread::{CapabilitySet, capabilities, set_capabilities};
    use std::os::unix::fs::PermissionsExt;
    let tree = tree();
    let root = tree.path().join("d5");
    let mut driver = Driver::new(&[&root]);
    driver.step(1, 1);
    let pieces = driver.waiting.pop_front();
    fs::set_permissions(&root, fs::Permissions::from_mode(0o300)).unwrap();
    // Capabilities are those of a thread.
    let error = std::thread::scope(|scope| {
        let run = || {
            let mut sets = capabilities(None).unwrap();
            sets.effective -= CapabilitySet::DAC_OVERRIDE | CapabilitySet::DAC_READ_SEARCH;
            set_capabilities(None, sets).unwrap();
            let task = driver.task(pieces);
            task.run(task.walk().workers(NonZeroUsize::new(1)))
        };
        scope.spawn(run).join().unwrap().unwrap_err()
    });
    fs::set_permissions(&root, fs::Permissions::from_mode(0o700)).unwrap();
    assert_eq!(error.path(), root);
    let errno = error.io_error().and_then(std::io::Error::raw_os_error);
    assert_eq!(errno, Some(rustix::io::Errno::ACCESS.raw_os_error()));
}

#[test]
fn links_across_parts_are_charged_once() {
    let tree = tree();
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(10));
    driver.check();
    let snapshot = crate::open(driver.path()).unwrap();
    let mut scan = snapshot
        .scan(0..snapshot.rows(), &[Column::Charged, Column::Nlink])
        .unwrap();
    let (mut names, mut charged) = (0, 0);
    while let Some(chunk) = scan.next_chunk().unwrap() {
        for at in 0..chunk.len() {
            if chunk.integer(Column::Nlink, at) == Some(3) {
                // Directories have several links, too.
                let is_charged = chunk.integer(Column::Charged, at) == Some(1);
                names += 1;
                charged += i32::from(is_charged);
            }
        }
    }
    assert!(names > charged);
}

/// A number of tasks, for which the names of a page are only filled by several workers.
#[test]
fn pages_of_several_workers() {
    let tree = tempfile::tempdir().unwrap();
    for a in 0..40 {
        let dir = tree.path().join(format!("{a}"));
        fs::create_dir(&dir).unwrap();
        for b in 0..500 {
            fs::File::create(dir.join(format!("file {b}"))).unwrap();
        }
    }
    let mut driver = Driver::new(&[tree.path()]);
    while driver.step(15_000, 4) {}
    driver.finish();
    assert!(driver.reports.len() > 1);
    driver.check();
}

/// Walks a directory. The first task reads a large part of it. Returns the leftovers of that task.
fn huge_directory(tree: &Path) -> Vec<ringwalk::Remaining> {
    let dir = tree.join("huge");
    fs::create_dir(&dir).unwrap();
    for number in 0..66_000 {
        fs::File::create(dir.join(format!("file with a longer name {number}"))).unwrap();
    }
    let mut driver = Driver::new(&[tree]);
    driver.step(51_000, 1);
    let report = &driver.reports[0];
    // A few buffers more are read when the budget is spent.
    assert!((51_000..66_000).contains(&report.rows), "{}", report.rows);
    let big = |chunk: &&TodoChunk| chunk.big;
    let big = report.chunks.iter().filter(big).map(|chunk| chunk.lines);
    let big: Vec<u32> = big.collect();
    let todo = fs::read(driver.path().join(report.todo.as_ref().unwrap())).unwrap();
    driver.run(std::iter::repeat(20_000));
    assert_eq!(driver.check().verdict.entries, 66_002);
    let lines = todo.strip_suffix(b"\n").unwrap();
    let lines = lines.split(|byte| *byte == b'\n');
    let remaining: Vec<_> = lines
        .map(|line| lines::LeftLine::parse(line, 1).unwrap().leftover.remaining)
        .collect();
    // A range of positions is a task of its own. Lists of names are like small directories.
    let ranges = |each: &&ringwalk::Remaining| matches!(each, ringwalk::Remaining::From { .. });
    assert_eq!(big, vec![1; remaining.iter().filter(ranges).count()]);
    remaining
}

/// What remains of a huge directory becomes several leftovers.
#[test]
fn huge_directories_are_divided() {
    let tree = tempfile::tempdir().unwrap();
    assert!(huge_directory(tree.path()).len() > 1);
}

/// The positions of a tmpfs cannot be divided. There names are listed.
#[test]
fn names_of_huge_directories_are_listed() {
    let Ok(tree) = tempfile::tempdir_in("/dev/shm") else {
        return;
    };
    let remaining = huge_directory(tree.path());
    let is_names = |each: &ringwalk::Remaining| matches!(each, ringwalk::Remaining::Names(_));
    assert!(remaining.len() > 1 && remaining.iter().all(is_names));
}

/// Failures are lines in `errors/`, and then rows of the snapshot. If a line is missing, the
/// snapshot does not count as complete.
#[test]
fn errors_of_tasks_are_in_the_snapshot() {
    use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
    let tree = tree();
    // A path that is too long for a snapshot.
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut folder = openat(CWD, tree.path(), flags, Mode::empty()).unwrap();
    let name = "n".repeat(250);
    for _ in 0..65 {
        mkdirat(&folder, name.as_str(), Mode::RWXU).unwrap();
        folder = openat(&folder, name.as_str(), flags, Mode::empty()).unwrap();
    }
    let mut driver = Driver::new(&[tree.path()]);
    driver.run(std::iter::repeat(30));
    assert!(driver.reports.len() > 1);
    let info = driver.check();
    assert_eq!((info.verdict.complete, info.verdict.errors), (false, 1));
    let errors: u64 = driver.reports.iter().map(|report| report.errors).sum();
    assert_eq!(errors, 1);
    for file in fs::read_dir(driver.path().join("errors")).unwrap() {
        fs::remove_file(file.unwrap().path()).unwrap();
    }
    let error = driver.compact().unwrap_err();
    assert!(error.reason().contains("are missing"), "{error}");
}
