//! The snapshot of all parts.

use super::accounts::Accounts;
use super::devices::Devices;
use super::directories::Directories;
use super::folder::{Folder, Listed};
use super::part::PartFacts;
use super::part_rows::PartRows;
use super::task_error::TaskError;
use crate::capture::{CaptureError, Stoppable, name_owners};
use crate::info::{Info, RootInfo, Run};
use crate::read::Snapshot;
use crate::schema::Contents;
use crate::seal::seal;
use crate::write::spill::unnamed_file;
use crate::write::stage::{Stage, StageWriter};
use crate::write::{Failures, WriteOptions, write};
use ringwalk_output::Unpublished;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Makes a snapshot of the parts of a finished walk. Except for the key `ringwalk.run`, it is the
/// same as a snapshot that one process takes of the same trees.
#[derive(Debug)]
pub struct Compact {
    folder: PathBuf,
    options: WriteOptions,
    stop: Arc<AtomicBool>,
}

/// What the parts say, read before their rows.
struct Parts {
    folder: Folder,
    facts: Vec<PartFacts>,
    roots: Vec<RootInfo>,
    contents: Contents,
    run: Run,
    failures: Failures,
}

impl Compact {
    /// Sets up the snapshot of the walk whose folder this is.
    pub fn new(folder: &Path) -> Self {
        Self {
            folder: folder.to_owned(),
            options: WriteOptions::default(),
            stop: Arc::default(),
        }
    }

    /// Sets how the file is written. It has the optional columns that the parts have.
    pub fn options(mut self, options: WriteOptions) -> Self {
        self.options = options;
        self
    }

    /// Sets a flag that another thread may set to end the work early. It then fails, and leaves the
    /// output as it was.
    pub fn stop_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.stop = stop;
        self
    }

    /// Writes the snapshot to `output`, which appears whole or not at all.
    ///
    /// # Errors
    ///
    /// If the walk is not finished, a part is missing or damaged, a directory was found and neither
    /// read nor reported, or the output cannot be written.
    pub fn run(&self, output: &Path) -> Result<Info, TaskError> {
        let failed = |error| TaskError::io(output, error);
        // Before the parts are read: if the output cannot be written, that would be for nothing.
        let file = Unpublished::new(output).map_err(failed)?;
        let info = self.run_into(file.file(), output)?;
        file.file().sync_all().map_err(failed)?;
        self.check_stop(output)?;
        let published = self.options.publish(file, output);
        published.map_err(failed)?;
        Ok(info)
    }

    /// Returns the snapshot in an unnamed temporary file, in the folder `TMPDIR` or `/tmp`.
    ///
    /// # Errors
    ///
    /// As [`run`](Self::run).
    pub fn run_unnamed(&self) -> Result<Snapshot, TaskError> {
        let file = unnamed_file().map_err(|error| TaskError::io(&self.folder, error))?;
        self.run_into(&file, &self.folder)?;
        Ok(Snapshot::from_file(file, &self.folder)?)
    }

    fn run_into(&self, output: &File, name: &Path) -> Result<Info, TaskError> {
        let parts = Parts::read(&self.folder)?;
        let progress = &self.options.progress;
        progress.begin(0);
        let stage = Stage::new(self.options.waiting());
        // The list of roots.
        stage.new_directory();
        let mut directories = Directories::default();
        for facts in &parts.facts {
            directories.add(facts, &stage);
        }
        let mut devices = Devices::default();
        let mut writer = StageWriter::default();
        let mut rows = 0;
        for (listed, facts) in parts.folder.parts.iter().zip(&parts.facts) {
            self.check_stop(name)?;
            let (part, _) = parts.folder.part(listed)?;
            let fs = devices.add(facts, &part.info().file_systems);
            let mut part_rows = PartRows::new(&part, facts, fs)?;
            part_rows.stage(&mut directories, &stage, &mut writer, progress)?;
            rows += part.rows();
        }
        let failed = |error| TaskError::io(name, error);
        writer.close(&stage).map_err(failed)?;
        let damaged = |what: &str| TaskError::damaged(&self.folder, what);
        directories.check().map_err(|what| damaged(&what))?;
        let options = WriteOptions {
            contents: parts.contents,
            ..self.options.clone()
        };
        let info = Info {
            roots: parts.roots,
            file_systems: devices.into_known(),
            run: parts.run,
            ..Info::default()
        };
        let staged = stage.into_staged();
        let stoppable = Stoppable::new(output, &self.stop);
        let info = write(
            &staged,
            &parts.failures,
            &options,
            info,
            name_owners,
            stoppable,
        );
        self.check_stop(name)?;
        let info = info.map_err(failed)?;
        if info.verdict.entries != rows {
            let missing = rows - info.verdict.entries.min(rows);
            let what = format!("{missing} of {rows} rows are below no root");
            return Err(damaged(&what));
        }
        seal(output).map_err(failed)?;
        Ok(info)
    }

    fn check_stop(&self, name: &Path) -> Result<(), TaskError> {
        if self.stop.load(Ordering::Relaxed) {
            return Err(CaptureError::stopped(name).into());
        }
        Ok(())
    }
}

impl Parts {
    /// Reads the footers of all parts, and the errors. Checks that nothing is missing.
    fn read(path: &Path) -> Result<Self, TaskError> {
        let folder = Folder::open(path)?;
        let mut accounts = Accounts::default();
        let mut first: Option<(Vec<RootInfo>, Contents)> = None;
        let mut runs = Vec::new();
        let mut facts = Vec::with_capacity(folder.parts.len());
        for listed in &folder.parts {
            let (part, own) = open(&folder, listed)?;
            let info = part.info();
            let known = first.get_or_insert_with(|| (info.roots.clone(), own.contents));
            if *known != (info.roots.clone(), own.contents) {
                let what = "its roots or columns differ from the first part";
                return Err(TaskError::damaged(&listed.path, what));
            }
            accounts
                .add(&own)
                .map_err(|what| TaskError::damaged(&listed.path, &what))?;
            runs.push(info.run.clone());
            facts.push(own);
        }
        let damaged = |what: &str| TaskError::damaged(path, what);
        let (roots, contents) = first.ok_or_else(|| damaged("it has no parts"))?;
        let failures = failures(&folder, &facts, roots.len())?;
        let unread = accounts.unread().map_err(|what| damaged(&what))?;
        let mut missing: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for each in unread {
            missing.entry(each.task).or_default().extend(each.leftovers);
        }
        if !missing.is_empty() {
            folder.leftovers(roots.len(), |task, index, leftover| {
                let Some(of_task) = missing.get_mut(&task) else {
                    return Ok(());
                };
                if of_task.remove(&index) && failures.get(leftover.root, &leftover.path).is_none() {
                    let path = leftover.path.escape_ascii();
                    return Err(format!("\"{path}\" has not been read, and has no error"));
                }
                Ok(())
            })?;
        }
        missing.retain(|_, leftovers| !leftovers.is_empty());
        if let Some((task, leftovers)) = missing.first_key_value() {
            let number = leftovers.len();
            let what = format!("{number} leftovers of task {task} have not been read");
            return Err(damaged(&what));
        }
        Ok(Self {
            folder,
            facts,
            roots,
            contents,
            run: common_run(&runs),
            failures,
        })
    }
}

/// Opens a part, and checks that it is the one that was committed.
fn open(folder: &Folder, listed: &Listed) -> Result<(Snapshot, PartFacts), TaskError> {
    let (part, facts) = folder.part(listed)?;
    let metadata = part.file().metadata();
    let bytes = metadata
        .map_err(|error| TaskError::io(&listed.path, error))?
        .len();
    if (part.rows(), bytes) != (listed.rows, listed.bytes) {
        let what = "it has another number of rows or bytes than the manifest says";
        return Err(TaskError::damaged(&listed.path, what));
    }
    Ok((part, facts))
}

/// Reads all failures, and checks that the failures of each part are there.
fn failures(folder: &Folder, parts: &[PartFacts], roots: usize) -> Result<Failures, TaskError> {
    let mut failures = Failures::default();
    let mut expected: BTreeMap<u32, u64> = BTreeMap::new();
    for part in parts {
        expected.insert(part.task, part.failures);
    }
    folder.errors(|line| {
        let failure = line.failure()?;
        if line.root.is_some_and(|root| root >= roots) {
            return Err("the walk has no root with this index".to_owned());
        }
        if let Some(task) = line.task {
            // If the part of a task does not count, its errors do not count either.
            let Some(left) = expected.get_mut(&task) else {
                return Ok(());
            };
            *left = left.checked_sub(1).ok_or("its task has fewer failures")?;
        }
        let place = line.root.zip(line.path.as_ref());
        failures.add(place.map(|(root, path)| (root, &path.0[..])), failure);
        Ok(())
    })?;
    match expected.into_iter().find(|(_, left)| *left > 0) {
        Some((task, left)) => {
            let what = format!("{left} errors of task {task} are missing");
            Err(folder.damaged(&what))
        }
        None => Ok(failures),
    }
}

/// Returns when and how all parts were made.
fn common_run(runs: &[Run]) -> Run {
    let sources: BTreeSet<String> = runs.iter().map(|run| run.source.clone()).collect();
    let sources: Vec<String> = sources.into_iter().collect();
    Run {
        start: runs.iter().map(|run| run.start).min().unwrap_or_default(),
        end: runs.iter().map(|run| run.end).max().unwrap_or_default(),
        source: sources.join(", "),
        ..Run::default()
    }
}
