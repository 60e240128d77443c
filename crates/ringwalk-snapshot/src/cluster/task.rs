//! A task: walks what other tasks have left, and writes a part.

use super::error_lines::ErrorFile;
use super::files::make_folders;
use super::huge::divided;
use super::lines::LeftLine;
use super::part::{LARGEST_TASK, PartFacts, VERSION};
use super::part_writer::{FullPart, PartKeeper, PartWriter};
use super::task_error::TaskError;
use super::todo::{Piece, TodoChunk, read_pieces, write_todo};
use crate::capture::vanished::VanishedTree;
use crate::capture::visitor::CaptureVisitor;
use crate::capture::{Capture, FileHashes, OwnOutput, Shared, now};
use crate::info::{FileSystemInfo, Info, RootInfo, Run};
use crate::schema::Contents;
use crate::write::{WriteOptions, file_systems_of};
use ringwalk::{Leftover, Summary, Walk};
use rustix::system::uname;
use std::ffi::OsString;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// The most trees that a task names of those that have vanished: the driver logs them.
const MOST_VANISHED: usize = 5;

/// What distinguishes the files of a task from the files of other tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskNumber {
    /// The number of the task, below 2^31. No two tasks of a walk have the same one.
    pub task: u32,
    /// The number of the driver's run.
    pub epoch: u64,
    /// How often the task was tried before.
    pub attempt: u64,
}

/// One task of a walk that several processes share, on one machine or many. It writes into the
/// folder of that walk.
///
/// ```
/// use ringwalk::Budget;
/// use ringwalk_snapshot::cluster::{Task, TaskNumber};
/// use std::num::NonZeroU64;
///
/// let folder = tempfile::tempdir()?;
/// let number = TaskNumber { task: 1, epoch: 1, attempt: 0 };
/// let task = Task::new(folder.path(), ["src"], number)?;
/// let budget = Budget { time: None, entries: NonZeroU64::new(10) };
/// let report = task.run(task.walk().budget(budget))?;
/// assert!(folder.path().join(&report.part).exists());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Task {
    folder: PathBuf,
    capture: Capture,
    number: TaskNumber,
    /// What the task goes on with; `None` if it begins at the roots.
    pieces: Option<Vec<Piece>>,
}

/// What a task has done. Paths are relative to the folder of the walk.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TaskReport {
    /// The part.
    pub part: String,
    /// Rows of the part.
    pub rows: u64,
    /// Bytes of the part.
    pub bytes: u64,
    /// The file of leftovers; `None` if nothing is left.
    pub todo: Option<String>,
    /// The chunks of that file.
    pub chunks: Vec<TodoChunk>,
    /// The file of errors; `None` without errors.
    pub errors_file: Option<String>,
    /// Directories found that are to be read, by this task or by others. The roots are not among
    /// them.
    pub found: u64,
    /// Lines of the file of leftovers.
    pub left: u64,
    /// Directories that were removed before they could be opened. Those that an earlier task had
    /// begun are not among them.
    pub vanished: u64,
    /// The trees in which most of those were, largest first.
    pub vanished_trees: Vec<VanishedTree>,
    /// Lines of the file of errors.
    pub errors: u64,
    /// How the walk was done.
    pub summary: Summary,
}

/// What the walk of a task has done.
struct Walked {
    found: u64,
    vanished: u64,
    leftovers: Vec<Leftover>,
    summary: Summary,
}

impl Task {
    /// Sets up a task of the walk whose folder this is. It visits the roots, unless
    /// [`go_on`](Self::go_on) is called.
    ///
    /// # Errors
    ///
    /// If a root cannot be accessed, or lies within another one, or the number is too large.
    pub fn new(
        folder: &Path,
        roots: impl IntoIterator<Item = impl Into<OsString>>,
        number: TaskNumber,
    ) -> Result<Self, TaskError> {
        if number.task > LARGEST_TASK {
            return Err(TaskError::damaged(
                folder,
                &format!(
                    "there is no task {}: the largest is {LARGEST_TASK}",
                    number.task
                ),
            ));
        }
        Ok(Self {
            folder: folder.to_owned(),
            capture: Capture::new(roots)?,
            number,
            pieces: None,
        })
    }

    /// Goes on with these leftovers, in place of visiting the roots.
    pub fn go_on(mut self, pieces: Vec<Piece>) -> Self {
        self.pieces = Some(pieces);
        self
    }

    /// Sets the optional columns. All tasks of a walk must have the same.
    pub fn contents(mut self, contents: Contents) -> Self {
        self.capture = self.capture.options(WriteOptions {
            contents,
            ..WriteOptions::default()
        });
        self
    }

    /// Adds the column of hashes, as [`Capture::hashes`] does. All tasks of a walk must have it.
    pub fn hashes(mut self, hashes: Arc<dyn FileHashes>) -> Self {
        self.capture = self.capture.hashes(hashes);
        self
    }

    /// Sets whether other file systems below the roots are left out.
    pub fn one_file_system(mut self, one_file_system: bool) -> Self {
        self.capture = self.capture.one_file_system(one_file_system);
        self
    }

    /// Sets a flag that another thread may set to end the work early. [`run`](Self::run) then
    /// fails.
    pub fn stop_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.capture = self.capture.stop_by(stop);
        self
    }

    /// Returns the walk for [`run`](Self::run), to which the caller may add a budget, and options
    /// about its workers and its source.
    pub fn walk(&self) -> Walk {
        self.capture.walk()
    }

    /// Walks, and writes the part, the leftovers and the errors into the folder `tmp/EPOCH`. Each
    /// file is on the disk when this returns.
    ///
    /// # Errors
    ///
    /// If a file cannot be written, a leftover is damaged, a root is another directory than before,
    /// or the work was stopped.
    pub fn run(&self, walk: Walk) -> Result<TaskReport, TaskError> {
        let roots = self.capture.roots().len();
        let given = self.pieces.as_deref();
        let given = given.map(|pieces| read_pieces(&self.folder, pieces, roots));
        let given = given.transpose()?;
        let names = Names::new(&self.folder, self.number)?;
        let failed = |path: &Path| {
            let path = path.to_owned();
            move |error| TaskError::io(&path, error)
        };
        let mut run = Run {
            start: now(),
            ..Run::default()
        };
        let errors = ErrorFile::new(&self.folder, &names.relative("errors"), self.number.task);
        let listener = |place: Option<(usize, &[u8])>, failure| errors.add(place, failure);
        let mut shared = self.capture.shared(OwnOutput::directory(&self.folder))?;
        shared.listen(self.capture.roots(), &listener);
        let leftovers: Vec<Leftover> = given
            .iter()
            .flatten()
            .map(|left| left.leftover.clone())
            .collect();
        let resumed = shared.resume(self.capture.roots(), &leftovers);
        resumed.map_err(|(root, errno)| {
            TaskError::io(&self.capture.roots()[root], io::Error::from(errno))
        })?;
        let threads = self.capture.write_options().threads.get();
        let contents = self.capture.contents();
        let part = PartWriter::create(
            &self.folder,
            &names.relative("parquet"),
            self.number.task,
            contents,
            threads,
        );
        let part = part.map_err(failed(&names.part))?;
        let walk = match self.pieces {
            Some(_) => walk.resume(leftovers),
            None => walk,
        };
        // The budget holds on a slow server, too: no task reads for long when others are done.
        let walk = walk.leave_names(true);
        let walked = self.visit(walk, &shared, &part, &names.part)?;
        let remaining = divided(self.capture.roots(), walked.leftovers);
        let todo = names.relative("todo");
        let (left, chunks) = write_todo(&self.folder, &todo, self.number.task, remaining)
            .map_err(failed(&names.todo))?;
        let vanished = shared.vanished.take().unwrap_or_default();
        let (root_devices, file_systems) = shared.into_file_systems();
        let failures = errors.finish().map_err(failed(&names.errors))?;
        run.end = now();
        walked.summary.source.clone_into(&mut run.source);
        let part = part.fill().map_err(failed(&names.part))?;
        let facts = PartFacts {
            version: VERSION,
            task: self.number.task,
            host: host(),
            root_devices,
            directories: part.directories,
            left,
            resumed: given.as_deref().map(ranges),
            failures,
            contents,
        };
        let rows = part.rows;
        let bytes = self.finish(part, &facts, &file_systems, run);
        let bytes = bytes.map_err(failed(&names.part))?;
        self.capture.check_stop(&names.part)?;
        Ok(TaskReport {
            part: names.text("parquet"),
            rows,
            bytes,
            todo: (left > 0).then(|| names.text("todo")),
            chunks,
            errors_file: (failures > 0).then(|| names.text("errors")),
            found: walked.found,
            left: left.into(),
            vanished: walked.vanished,
            vanished_trees: vanished.into_largest(MOST_VANISHED),
            errors: failures,
            summary: walked.summary,
        })
    }

    /// Walks, and adds the rows to the part. `name` is its path.
    fn visit(
        &self,
        walk: Walk,
        shared: &Shared<'_>,
        part: &PartWriter,
        name: &Path,
    ) -> Result<Walked, TaskError> {
        let outcome = walk.run(|_worker| CaptureVisitor::new(shared, PartKeeper::new(part)));
        let mut walked = Walked {
            found: 0,
            vanished: 0,
            leftovers: outcome.leftovers,
            summary: outcome.summary,
        };
        for visitor in outcome.visitors {
            walked.found += visitor.found;
            walked.vanished += visitor.vanished;
            visitor.close();
        }
        if let Some(fatal) = shared.fatal() {
            return Err(self.capture.fatal_error(fatal, name).into());
        }
        self.capture.check_stop(name)?;
        Ok(walked)
    }

    fn finish(
        &self,
        part: FullPart,
        facts: &PartFacts,
        known: &[FileSystemInfo],
        run: Run,
    ) -> io::Result<u64> {
        let roots = self.capture.roots().iter();
        let info = Info {
            roots: roots
                .map(|root| RootInfo::new(root.as_os_str().as_bytes()))
                .collect(),
            file_systems: file_systems_of(&part.devices, known),
            run,
            ..Info::default()
        };
        part.finish(info.to_part_pairs(self.capture.contents(), facts))
    }
}

/// The files of a task.
struct Names {
    number: TaskNumber,
    part: PathBuf,
    todo: PathBuf,
    errors: PathBuf,
}

impl Names {
    /// Creates the folder of the files.
    fn new(folder: &Path, number: TaskNumber) -> Result<Self, TaskError> {
        let tmp = Path::new("tmp").join(number.epoch.to_string());
        make_folders(folder, &tmp).map_err(|error| TaskError::io(&folder.join(&tmp), error))?;
        let mut names = Self {
            number,
            part: PathBuf::new(),
            todo: PathBuf::new(),
            errors: PathBuf::new(),
        };
        names.part = folder.join(names.relative("parquet"));
        names.todo = folder.join(names.relative("todo"));
        names.errors = folder.join(names.relative("errors"));
        Ok(names)
    }

    fn relative(&self, suffix: &str) -> PathBuf {
        self.text(suffix).into()
    }

    fn text(&self, suffix: &str) -> String {
        let TaskNumber {
            task,
            epoch,
            attempt,
        } = self.number;
        format!("tmp/{epoch}/{task}-{attempt}.{suffix}")
    }
}

/// Returns the leftovers as ranges that follow each other: the task, the first, and their number.
fn ranges(given: &[LeftLine]) -> Vec<(u32, u32, u32)> {
    let mut ranges: Vec<(u32, u32, u32)> = Vec::new();
    for left in given {
        match ranges.last_mut() {
            Some((task, first, count)) if *task == left.task && *first + *count == left.index => {
                *count += 1;
            }
            _ => ranges.push((left.task, left.index, 1)),
        }
    }
    ranges
}

/// Returns a text that no other machine has, and this one only until it boots. Without `/proc` it
/// is the name of the machine.
fn host() -> String {
    match fs::read_to_string("/proc/sys/kernel/random/boot_id") {
        Ok(id) => id.trim().to_owned(),
        Err(_) => uname().nodename().to_string_lossy().into_owned(),
    }
}
