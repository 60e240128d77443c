//! The rows of a part, on their way into the stage.

use super::directories::Directories;
use super::part::{COLUMNS, PartFacts};
use super::task_error::TaskError;
use super::xattrs::{Pairs, XattrReader};
use crate::entry::{Attributes, Entry, FailedOperation, Failure, Skipped};
use crate::read::{Chunk, Snapshot};
use crate::row_counter::RowCounter;
use crate::schema::Column;
use crate::time::unclamp;
use crate::write::piece::PieceBuilder;
use crate::write::stage::{Stage, StageWriter};
use parquet::errors::ParquetError;
use ringwalk::Errno;

/// The rows of a part.
pub(super) struct PartRows<'p> {
    part: &'p Snapshot,
    /// The number in the snapshot of each file system.
    devices: Vec<u64>,
    xattrs: Option<XattrReader>,
}

/// The run of entries that is being staged: those of one directory, sorted by name.
#[derive(Default)]
struct Run {
    directory: u64,
    last: Vec<u8>,
    piece: PieceBuilder,
}

impl<'p> PartRows<'p> {
    /// `devices` has the number in the snapshot of each file system of the part.
    pub(super) fn new(
        part: &'p Snapshot,
        facts: &PartFacts,
        devices: Vec<u64>,
    ) -> Result<Self, TaskError> {
        let open = || {
            let file = part.file().try_clone();
            XattrReader::new(file.map_err(|error| ParquetError::External(error.into()))?)
        };
        let xattrs = facts.xattrs.then(open).transpose();
        Ok(Self {
            part,
            devices,
            xattrs: xattrs.map_err(|error| damaged_xattrs(part, &error))?,
        })
    }

    /// Stages all rows.
    pub(super) fn stage(
        &mut self,
        directories: &mut Directories,
        stage: &Stage,
        writer: &mut StageWriter,
        progress: &RowCounter,
    ) -> Result<(), TaskError> {
        let part = self.part;
        let failed = |error| TaskError::io(part.name(), error);
        let mut run = Run::default();
        for group in part.row_groups() {
            let mut scan = part.scan(group.clone(), &COLUMNS)?;
            while let Some(chunk) = scan.next_chunk()? {
                let xattrs = self.xattrs(chunk.len())?;
                for at in 0..chunk.len() {
                    let xattrs = xattrs.get(at).map_or(&[][..], Vec::as_slice);
                    let staged = self.row(chunk, at, xattrs, directories, &mut run, |run| {
                        writer.end_run(stage, run.directory, &mut run.piece)
                    });
                    staged?;
                    if run.piece.is_full() {
                        let piece = writer.piece(stage, run.directory, &mut run.piece);
                        piece.map_err(failed)?;
                    }
                }
                progress.add(chunk.len() as u64);
            }
            if let Some(xattrs) = &mut self.xattrs {
                xattrs.end_group();
            }
        }
        let end = writer.end_run(stage, run.directory, &mut run.piece);
        end.map_err(failed)
    }

    /// Returns the extended attributes of the next rows.
    fn xattrs(&mut self, rows: usize) -> Result<Vec<Pairs>, TaskError> {
        let Some(xattrs) = &mut self.xattrs else {
            return Ok(Vec::new());
        };
        let read = xattrs.next(rows);
        read.map_err(|error| damaged_xattrs(self.part, &error))
    }

    /// Adds a row to the run. Calls `end` before, if the row is none of that run.
    fn row(
        &self,
        chunk: &Chunk,
        at: usize,
        xattrs: &[(Vec<u8>, Vec<u8>)],
        directories: &mut Directories,
        run: &mut Run,
        end: impl FnOnce(&mut Run) -> std::io::Result<()>,
    ) -> Result<(), TaskError> {
        let damaged = |what: &str| TaskError::from(self.part.damaged(what));
        let number = |column| chunk.integer(column, at).map(i64::cast_unsigned);
        let root = number(Column::Root).and_then(|root| u32::try_from(root).ok());
        let root = root.unwrap_or(u32::MAX).to_be_bytes();
        let (directory, name) = match number(Column::Dir) {
            None => (0, &root[..]),
            Some(number) => {
                let directory = directories.listing(number);
                (directory.map_err(|what| damaged(&what))?, chunk.name(at))
            }
        };
        if name.is_empty() {
            return Err(damaged("a row that is no root has no name"));
        }
        if run.directory != directory || *name <= run.last[..] {
            end(run).map_err(|error| TaskError::io(self.part.name(), error))?;
            run.piece.clear();
            run.directory = directory;
        }
        run.last.clear();
        run.last.extend_from_slice(name);
        let child = number(Column::SelfDir).map(|number| directories.found(number));
        let child = child.transpose().map_err(|what| damaged(&what))?;
        let mut entry = self.entry(chunk, at, name).map_err(|what| damaged(&what))?;
        entry.xattrs = xattrs;
        run.piece.push(&entry, child);
        Ok(())
    }

    fn entry<'c>(&self, chunk: &'c Chunk, at: usize, name: &'c [u8]) -> Result<Entry<'c>, String> {
        let mut entry = Entry::new(name, chunk.file_type(at));
        entry.attributes = self.attributes(chunk, at)?;
        entry.target = chunk.bytes(Column::Target, at);
        let text = |column| chunk.bytes(column, at).map(String::from_utf8_lossy);
        if let Some(name) = text(Column::Operation) {
            let operation = FailedOperation::of_name(&name);
            let errno = chunk.integer(Column::Errno, at);
            let errno = errno.and_then(|errno| i32::try_from(errno).ok());
            entry.failure = Some(Failure {
                operation: operation.ok_or("an operation is not known")?,
                errno: Errno::from_raw_os_error(errno.ok_or("an error has no number")?),
            });
        }
        if let Some(name) = text(Column::Skipped) {
            let skipped = Skipped::of_name(&name);
            entry.skipped = Some(skipped.ok_or("a reason for leaving out is not known")?);
        }
        Ok(entry)
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "columns of 32 bits, and modes of 12 bits"
    )]
    fn attributes(&self, chunk: &Chunk, at: usize) -> Result<Attributes, String> {
        let number = |column| chunk.integer(column, at).map(i64::cast_unsigned);
        let narrow = |column| number(column).map(|number| number as u32);
        let is_set = |column| chunk.integer(column, at) == Some(1);
        let is_clamped = is_set(Column::Clamped);
        let time = |column| {
            let nanoseconds = chunk.integer(column, at)?;
            Some(unclamp(nanoseconds, is_clamped))
        };
        let device = |index: u64| {
            let index = usize::try_from(index).ok();
            let device = index.and_then(|index| self.devices.get(index));
            device
                .copied()
                .ok_or("a row is on a file system that there is not")
        };
        Ok(Attributes {
            ino: number(Column::Ino),
            dev: number(Column::Fs).map(device).transpose()?,
            mode: narrow(Column::Mode).map(|mode| mode as u16),
            nlink: narrow(Column::Nlink),
            uid: narrow(Column::Uid),
            gid: narrow(Column::Gid),
            rdev: number(Column::Rdev),
            size: number(Column::Size),
            alloc: number(Column::Alloc),
            mtime: time(Column::Mtime),
            ctime: time(Column::Ctime),
            btime: time(Column::Btime),
            atime: time(Column::Atime),
            charged_once: is_set(Column::Charged),
        })
    }
}

fn damaged_xattrs(part: &Snapshot, error: &ParquetError) -> TaskError {
    part.damaged(&format!("extended attributes: {error}"))
        .into()
}
