//! Columns of a range of rows, read a page at a time.

use super::chunk::Chunk;
use super::page::{Decoder, Page};
use super::{ReadError, Snapshot};
use crate::schema::Column;
use std::ops::Range;

/// Reads columns of a range of rows in order.
#[derive(Debug)]
pub struct Scan<'s> {
    snapshot: &'s Snapshot,
    rows: Range<u64>,
    columns: Vec<Column>,
    page: Page,
    decoder: Decoder,
}

impl<'s> Scan<'s> {
    pub(super) fn new(snapshot: &'s Snapshot, rows: Range<u64>, columns: &[Column]) -> Self {
        Self {
            snapshot,
            rows: rows.start..rows.end.min(snapshot.rows()),
            columns: columns.to_vec(),
            page: Page::default(),
            decoder: Decoder::default(),
        }
    }

    /// Reads the next rows, at most a page of them. Returns `None` at the end.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn next_chunk(&mut self) -> Result<Option<&Chunk>, ReadError> {
        if self.rows.is_empty() {
            return Ok(None);
        }
        let at = self.rows.start;
        self.page.turn_to(self.snapshot, at);
        self.page
            .load(self.snapshot, &self.columns, &mut self.decoder)?;
        let end = self.page.rows().end.min(self.rows.end);
        self.page.narrow(at..end);
        self.rows.start = end;
        Ok(Some(self.page.chunk()))
    }
}
