//! Where the entries of a walk are kept: in the stage of a snapshot, or in a part.

use crate::entry::Entry;
use crate::write::piece::PieceBuilder;
use crate::write::stage::{Stage, StageWriter};
use std::io;

/// Keeps the entries that one worker finds.
pub(crate) trait Keeper: Send {
    /// Returns a number for a directory. The list of roots has 0.
    fn new_directory(&self) -> u64;

    /// Begins a run: entries of one directory, sorted by name.
    fn begin_run(&mut self, listing: &ListingPlace<'_>);

    /// Adds an entry to the run. `child` is the number of a directory that is to be read. A root
    /// has its index as its name, in four bytes from the highest to the lowest.
    fn push(&mut self, entry: &Entry<'_>, child: Option<u64>) -> io::Result<()>;

    /// Ends the run.
    fn end_run(&mut self) -> io::Result<()>;

    /// Hands over what has been kept.
    fn close(self) -> io::Result<()>;
}

/// The directory whose entries are kept.
pub(crate) struct ListingPlace<'p> {
    /// Its number.
    pub(crate) directory: u64,
    /// The index of its root.
    pub(crate) root: usize,
    /// Its path relative to the root.
    pub(crate) path: &'p dyn Fn() -> Vec<u8>,
}

/// Keeps entries in a stage.
pub(super) struct StageKeeper<'s> {
    stage: &'s Stage,
    writer: StageWriter,
    piece: PieceBuilder,
    directory: u64,
}

impl<'s> StageKeeper<'s> {
    pub(super) fn new(stage: &'s Stage) -> Self {
        Self {
            stage,
            writer: StageWriter::default(),
            piece: PieceBuilder::default(),
            directory: 0,
        }
    }
}

impl Keeper for StageKeeper<'_> {
    fn new_directory(&self) -> u64 {
        self.stage.new_directory()
    }

    fn begin_run(&mut self, listing: &ListingPlace<'_>) {
        self.piece.clear();
        self.directory = listing.directory;
    }

    fn push(&mut self, entry: &Entry<'_>, child: Option<u64>) -> io::Result<()> {
        self.piece.push(entry, child);
        if self.piece.is_full() {
            let (stage, piece) = (self.stage, &mut self.piece);
            self.writer.piece(stage, self.directory, piece)?;
        }
        Ok(())
    }

    fn end_run(&mut self) -> io::Result<()> {
        let (stage, piece) = (self.stage, &mut self.piece);
        self.writer.end_run(stage, self.directory, piece)
    }

    fn close(mut self) -> io::Result<()> {
        self.writer.close(self.stage)
    }
}
