//! The rows of a part, on their way into the stage.

use super::directories::Directories;
use super::part::PartFacts;
use super::task_error::TaskError;
use crate::entry::Entry;
use crate::read::{Chunk, Snapshot, XattrReader};
use crate::row_counter::RowCounter;
use crate::schema::Column;
use crate::stored_entry::{columns, root_name, stored_entry};
use crate::write::run::Run;
use crate::write::stage::{Stage, StageWriter};

/// The rows of a part.
pub(super) struct PartRows<'p> {
    part: &'p Snapshot,
    /// The number in the snapshot of each file system.
    devices: Vec<u64>,
    xattrs: Option<XattrReader<'p>>,
}

impl<'p> PartRows<'p> {
    /// `devices` has the number in the snapshot of each file system of the part.
    pub(super) fn new(
        part: &'p Snapshot,
        facts: &PartFacts,
        devices: Vec<u64>,
    ) -> Result<Self, TaskError> {
        let xattrs = if facts.contents.xattrs {
            let missing = || part.damaged("it has no column of extended attributes");
            Some(XattrReader::of(part)?.ok_or_else(missing)?)
        } else {
            None
        };
        Ok(Self {
            part,
            devices,
            xattrs,
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
            let mut scan = part.scan(group.clone(), &columns())?;
            while let Some(chunk) = scan.next_chunk()? {
                let xattrs = match &mut self.xattrs {
                    Some(xattrs) => xattrs.next(chunk.len())?,
                    None => Vec::new(),
                };
                for at in 0..chunk.len() {
                    let xattrs = xattrs
                        .get(at)
                        .and_then(Option::as_deref)
                        .unwrap_or_default();
                    let root = root_name(chunk, at);
                    let row = self.row(chunk, at, &root, xattrs, directories)?;
                    let (directory, entry, child) = row;
                    let pushed = run.push(stage, writer, directory, &entry, child);
                    pushed.map_err(failed)?;
                }
                progress.add(chunk.len() as u64);
            }
            if let Some(xattrs) = &mut self.xattrs {
                xattrs.end_group();
            }
        }
        run.end(stage, writer).map_err(failed)
    }

    /// Returns the number of the directory that lists a row, the entry, and the number of the
    /// entry's own listing.
    fn row<'c>(
        &self,
        chunk: &'c Chunk,
        at: usize,
        root: &'c [u8],
        xattrs: &'c [(Vec<u8>, Vec<u8>)],
        directories: &mut Directories,
    ) -> Result<(u64, Entry<'c>, Option<u64>), TaskError> {
        let damaged = |what: &str| TaskError::from(self.part.damaged(what));
        let number = |column| chunk.integer(column, at).map(i64::cast_unsigned);
        let (directory, name) = match number(Column::Dir) {
            None => (0, root),
            Some(number) => {
                let directory = directories.listing(number);
                (directory.map_err(|what| damaged(&what))?, chunk.name(at))
            }
        };
        if name.is_empty() {
            return Err(damaged("a row that is no root has no name"));
        }
        let child = number(Column::SelfDir).map(|number| directories.found(number));
        let child = child.transpose().map_err(|what| damaged(&what))?;
        let entry = stored_entry(chunk, at, name, &self.devices);
        let mut entry = entry.map_err(|what| damaged(&what))?;
        entry.xattrs = xattrs;
        Ok((directory, entry, child))
    }
}
