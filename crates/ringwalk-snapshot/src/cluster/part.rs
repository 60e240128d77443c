//! A part: the Parquet file of one task.

use crate::read::{ReadError, Snapshot};
use crate::schema::Contents;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::path::Path;

/// The version of parts. This program reads no other version.
pub(super) const VERSION: u32 = 1;

/// The largest number of a task: numbers of directories keep one bit free.
pub(super) const LARGEST_TASK: u32 = u32::MAX >> 1;

/// Returns the number of a directory that a task has found. `local` counts from 1 in each task. 0
/// is the list of roots.
pub(super) fn directory_number(task: u32, local: u32) -> u64 {
    u64::from(task) << 32 | u64::from(local)
}

/// Returns task and local number of a directory.
pub(super) fn split_number(number: u64) -> (u32, u32) {
    let local = u32::try_from(number & u64::from(u32::MAX)).unwrap_or_default();
    (u32::try_from(number >> 32).unwrap_or(u32::MAX), local)
}

/// What a part says of itself: the value of the key `ringwalk.part`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct PartFacts {
    pub(super) version: u32,
    /// The number of the task.
    pub(super) task: u32,
    /// The machine, until its next boot. Device numbers are its own.
    pub(super) host: String,
    /// The device of each root on that machine.
    pub(super) root_devices: Vec<u64>,
    /// The number of directories that the task has found and that are to be read.
    pub(super) directories: u32,
    /// The number of leftovers that the task has left to others.
    pub(super) left: u32,
    /// The leftovers of other tasks that the task has read: the number of the task, the number of
    /// the first leftover, and how many follow each other. `None` for the task that has visited the
    /// roots.
    pub(super) resumed: Option<Vec<(u32, u32, u32)>>,
    /// The number of failures in the file of errors.
    pub(super) failures: u64,
    /// The optional parts of a snapshot that the part has.
    #[serde(flatten)]
    pub(super) contents: Contents,
}

/// Reads the part in an open file. `name` is its name in errors.
///
/// # Errors
///
/// If it cannot be read, is no part, or is damaged.
pub(super) fn read(file: File, name: &Path) -> Result<(Snapshot, PartFacts), ReadError> {
    let (rows, facts): (Snapshot, PartFacts) = Snapshot::part_from_file(file, name)?;
    if facts.version != VERSION {
        let version = facts.version;
        return Err(rows.damaged(&format!("version {version} of parts is not known here")));
    }
    if facts.root_devices.len() != rows.info().roots.len() {
        return Err(rows.damaged("its number of roots differs from its number of root devices"));
    }
    Ok((rows, facts))
}
