//! The folder of a finished walk: which parts count, and what could not be read.

use super::error_lines::ErrorLine;
use super::files::{is_below, names, open_file};
use super::lines::LeftLine;
use super::part::{self, PartFacts};
use super::task_error::TaskError;
use crate::info::Text;
use crate::read::Snapshot;
use ringwalk::Leftover;
use serde::Deserialize;
use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read as _};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The description of the walk.
const DESCRIPTION: &str = "snapshot.json";
/// The list of parts that count.
const MANIFEST: &str = "manifest.jsonl";
/// The last file that is written.
const VERDICT: &str = "verdict.json";
/// The folder of the files of leftovers, and the end of their names.
const TODO: &str = "todo";
/// The folder of the files of errors, and the end of their names.
const ERRORS: &str = "errors";
/// The file of errors that the driver writes, without the end of its name.
const ASIDE: &[u8] = b"aside";
/// What to do if a file of these folders is wrong.
const REMEDY: &str = "`ringwalk-cluster verify` finds damage, and removes files of no task";
/// The format of the folder that this program reads.
const FORMAT: u64 = 1;

#[derive(Deserialize)]
struct Description {
    format: u64,
}

/// A part that counts: a line of the manifest.
#[derive(Debug, Deserialize)]
struct Line {
    path: Text,
    rows: u64,
    bytes: u64,
}

/// A part that counts.
#[derive(Debug)]
pub(super) struct Listed {
    pub(super) path: PathBuf,
    /// The path below the folder.
    name: PathBuf,
    pub(super) rows: u64,
    pub(super) bytes: u64,
}

/// The folder of a finished walk.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    pub(super) parts: Vec<Listed>,
}

/// Returns true if a path is the folder of a walk that several processes share.
pub(crate) fn is_shared_walk(path: &Path) -> bool {
    path.join(DESCRIPTION).is_file() && path.join("parts").is_dir()
}

/// Returns true if a path is a directory whose files are to be read. False for the folder of a
/// shared walk, which stands for a snapshot.
pub fn is_live(path: &Path) -> bool {
    path.is_dir() && !is_shared_walk(path)
}

impl Folder {
    /// Opens the folder of a walk.
    ///
    /// # Errors
    ///
    /// If `path` is not the folder of a walk, or the walk has not been finished.
    pub(super) fn open(path: &Path) -> Result<Self, TaskError> {
        let description = path.join(DESCRIPTION);
        let Some(mut file) = if_there(open_file(path, Path::new(DESCRIPTION)))? else {
            let what = "this is not a folder of ringwalk-cluster: it has no snapshot.json";
            return Err(TaskError::damaged(path, what));
        };
        let mut text = Vec::new();
        file.read_to_end(&mut text)
            .map_err(|error| TaskError::io(&description, error))?;
        let known: Result<Description, _> = serde_json::from_slice(&text);
        let known = known.map_err(|error| damaged_json(&description, &error))?;
        if known.format != FORMAT {
            let format = known.format;
            let what = format!("it has format {format}, and this program reads format {FORMAT}");
            return Err(TaskError::damaged(&description, &what));
        }
        if if_there(open_file(path, Path::new(VERDICT)))?.is_none() {
            let what = "the walk is not finished: go on with `ringwalk-cluster snapshot --resume`";
            return Err(TaskError::damaged(path, what));
        }
        let mut parts = Vec::new();
        for_each_line(path, Path::new(MANIFEST), |line| {
            let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
            let name = PathBuf::from(OsStr::from_bytes(&line.path.0));
            if !is_below(&name) {
                return Err("its path does not lead to a file in this folder".to_owned());
            }
            parts.push(Listed {
                path: path.join(&name),
                name,
                rows: line.rows,
                bytes: line.bytes,
            });
            Ok(())
        })?;
        Ok(Self {
            path: path.to_owned(),
            parts,
        })
    }

    /// Opens a part.
    pub(super) fn part(&self, listed: &Listed) -> Result<(Snapshot, PartFacts), TaskError> {
        let file = open_file(&self.path, &listed.name)?;
        Ok(part::read(file, &listed.path)?)
    }

    /// Calls `each` with all failures, and the file that they are in.
    pub(super) fn errors(
        &self,
        mut each: impl FnMut(ErrorLine) -> Result<(), String>,
    ) -> Result<(), TaskError> {
        for file in self.files(ERRORS)? {
            let read = for_each_line(&self.path, &file, |line| {
                each(serde_json::from_slice(line).map_err(|error| error.to_string())?)
            });
            read.map_err(|error| error.with_remedy(REMEDY))?;
        }
        Ok(())
    }

    /// Calls `each` with all leftovers of all tasks.
    pub(super) fn leftovers(
        &self,
        roots: usize,
        mut each: impl FnMut(u32, u32, &Leftover) -> Result<(), String>,
    ) -> Result<(), TaskError> {
        for file in self.files(TODO)? {
            let read = for_each_line(&self.path, &file, |line| {
                let left = LeftLine::parse(line, roots)?;
                each(left.task, left.index, &left.leftover)
            });
            read.map_err(|error| error.with_remedy(REMEDY))?;
        }
        Ok(())
    }

    /// Returns the error that something is wrong with the folder.
    pub(super) fn damaged(&self, what: &str) -> TaskError {
        TaskError::damaged(&self.path, what)
    }

    /// Returns the files in a folder that tasks or the driver have written, by name. A folder that
    /// is missing has none. Others may lie there: NFS keeps files that were removed as `.nfs*`.
    fn files(&self, name: &str) -> Result<Vec<PathBuf>, TaskError> {
        let names = names(&self.path, Path::new(name));
        let mut names = names.map_err(|error| TaskError::io(&self.path.join(name), error))?;
        names.retain(|path| {
            let stem = path.file_stem().unwrap_or_default().as_bytes();
            let is_of_task = |stem: &[u8]| stem.iter().all(|b| b.is_ascii_digit() || *b == b'-');
            path.extension() == Some(OsStr::new(name)) && (stem == ASIDE || is_of_task(stem))
        });
        Ok(names)
    }
}

/// Returns an open file, or `None` if there is none.
fn if_there(opened: Result<File, TaskError>) -> Result<Option<File>, TaskError> {
    match opened {
        Err(error) if error.io_error().map(io::Error::kind) == Some(io::ErrorKind::NotFound) => {
            Ok(None)
        }
        opened => opened.map(Some),
    }
}

/// Calls `each` with the lines of a file. `name` is its path below the folder.
fn for_each_line(
    folder: &Path,
    name: &Path,
    mut each: impl FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), TaskError> {
    let path = &folder.join(name);
    let failed = |error| TaskError::io(path, error);
    let mut lines = BufReader::new(open_file(folder, name)?);
    let mut line = Vec::new();
    for number in 1_u64.. {
        line.clear();
        if lines.read_until(b'\n', &mut line).map_err(failed)? == 0 {
            break;
        }
        let whole = line
            .strip_suffix(b"\n")
            .ok_or_else(|| "it was cut off".to_owned());
        whole
            .and_then(&mut each)
            .map_err(|why| TaskError::damaged(path, &format!("line {number} is damaged: {why}")))?;
    }
    Ok(())
}

fn damaged_json(path: &Path, error: &serde_json::Error) -> TaskError {
    TaskError::damaged(path, &format!("it is damaged: {error}"))
}
