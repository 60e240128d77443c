//! The failures of a task as lines of JSON.

use super::files::create_file;
use crate::entry::{FailedOperation, Failure, stored_errno};
use crate::info::{Text, json};
use ringwalk_sys::sync::{IgnorePoison, lock};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// The operation of what the driver has given up: the directory was not read.
const TASK: &str = "task";

/// A failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ErrorLine {
    /// The task; `None` if the driver says what no task has read.
    #[serde(default)]
    pub(super) task: Option<u32>,
    /// The index of the root; `None` for a path below no root.
    pub(super) root: Option<usize>,
    /// The path relative to the root; `None` if it is not known.
    pub(super) path: Option<Text>,
    /// As in the column `operation`, or [`TASK`].
    pub(super) operation: String,
    pub(super) errno: i32,
    /// The reason, for people.
    #[serde(default)]
    pub(super) message: String,
}

impl ErrorLine {
    /// Returns the failure.
    ///
    /// # Errors
    ///
    /// If the operation or the number of the error is not known.
    pub(super) fn failure(&self) -> Result<Failure, String> {
        let operation = match &self.operation[..] {
            TASK => Some(FailedOperation::Read),
            name => FailedOperation::of_name(name),
        };
        let unknown = || format!("operation {:?} is not known", self.operation);
        let no_error = || format!("{} is not an error number", self.errno);
        Ok(Failure {
            operation: operation.ok_or_else(unknown)?,
            errno: stored_errno(self.errno.into()).ok_or_else(no_error)?,
        })
    }
}

/// The file of errors of a task. It is created for the first failure.
pub(super) struct ErrorFile {
    folder: PathBuf,
    name: PathBuf,
    task: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    out: Option<BufWriter<File>>,
    lines: u64,
}

impl ErrorFile {
    /// `name` is its path below the folder of the walk.
    pub(super) fn new(folder: &Path, name: &Path, task: u32) -> Self {
        Self {
            folder: folder.to_owned(),
            name: name.to_owned(),
            task,
            state: Mutex::default(),
        }
    }

    /// Adds a failure.
    pub(super) fn add(&self, place: Option<(usize, &[u8])>, failure: Failure) -> io::Result<()> {
        let line = ErrorLine {
            task: Some(self.task),
            root: place.map(|(root, _)| root),
            path: place.map(|(_, path)| Text(path.to_vec())),
            operation: failure.operation.as_str().to_owned(),
            errno: failure.errno.raw_os_error(),
            message: ringwalk_gnu::reason(&failure.errno.into()),
        };
        let mut text = json(&line);
        text.push('\n');
        let mut state = lock(&self.state);
        state.lines += 1;
        let out = match &mut state.out {
            Some(out) => out,
            none => none.insert(BufWriter::new(create_file(&self.folder, &self.name)?)),
        };
        out.write_all(text.as_bytes())
    }

    /// Writes the file to the disk. Returns the number of failures: without any there is no file.
    pub(super) fn finish(self) -> io::Result<u64> {
        let state = self.state.into_inner().ignore_poison();
        if let Some(out) = state.out {
            let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.sync_all()?;
        }
        Ok(state.lines)
    }
}
