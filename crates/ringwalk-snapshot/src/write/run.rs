//! Entries in the order of a file, on their way into the stage.

use super::piece::PieceBuilder;
use super::stage::{Stage, StageWriter};
use crate::entry::Entry;
use std::io;

/// The run that is being staged: entries of one directory, sorted by name.
#[derive(Default)]
pub(crate) struct Run {
    directory: u64,
    last: Vec<u8>,
    piece: PieceBuilder,
}

impl Run {
    /// Adds an entry of a directory, and the number of the entry's own listing if it has one. Ends
    /// the previous run first, if the entry does not belong to it.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub(crate) fn push(
        &mut self,
        stage: &Stage,
        writer: &mut StageWriter,
        directory: u64,
        entry: &Entry<'_>,
        child: Option<u64>,
    ) -> io::Result<()> {
        if self.directory != directory || *entry.name <= self.last[..] {
            self.end(stage, writer)?;
            self.piece.clear();
            self.directory = directory;
        }
        self.last.clear();
        self.last.extend_from_slice(entry.name);
        self.piece.push(entry, child);
        if self.piece.is_full() {
            writer.piece(stage, self.directory, &mut self.piece)?;
        }
        Ok(())
    }

    /// Ends the run.
    ///
    /// # Errors
    ///
    /// If the temporary file cannot be written.
    pub(crate) fn end(&mut self, stage: &Stage, writer: &mut StageWriter) -> io::Result<()> {
        writer.end_run(stage, self.directory, &mut self.piece)
    }
}
