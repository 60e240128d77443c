//! The pages that a worker keeps.
//!
//! A walk without an order goes through the file backwards, and needs each page once. In order it
//! comes back to a page for each level of directories whose listing is in it. A search for a path
//! looks into a few pages of a row group.

use super::page::{Decoder, Page};
use super::{ReadError, Snapshot};
use crate::schema::Column;

/// The number of pages.
const KEPT: usize = 8;

/// Some pages, the one used last at the end of the list.
#[derive(Debug, Default)]
pub struct PageCache {
    kept: Vec<Page>,
    decoder: Decoder,
}

impl PageCache {
    /// Returns the page of a row, with at least these columns.
    ///
    /// # Errors
    ///
    /// If there is no such row, or the file is damaged or cannot be read.
    #[inline]
    pub fn load(
        &mut self,
        snapshot: &Snapshot,
        row: u64,
        columns: &[Column],
    ) -> Result<&Page, ReadError> {
        let is_last = |page: &Page| page.rows().contains(&row);
        if !self.kept.last().is_some_and(is_last) {
            self.turn_to(snapshot, row)?;
        }
        let Some(page) = self.kept.last_mut() else {
            return Err(snapshot.damaged("a row number is too large"));
        };
        page.load(snapshot, columns, &mut self.decoder)?;
        Ok(page)
    }

    /// Returns the rows with this text in a column, of the page that holds `row`. Returns `None`
    /// if that is not known without decoding the page.
    pub(super) fn rows_with_text(
        &mut self,
        snapshot: &Snapshot,
        row: u64,
        column: Column,
        text: &[u8],
    ) -> Option<Vec<u64>> {
        let page = snapshot.page_of(row);
        snapshot.rows_with_text(column, &page, text, &mut self.decoder)
    }

    /// Moves the page of a row to the end.
    fn turn_to(&mut self, snapshot: &Snapshot, row: u64) -> Result<(), ReadError> {
        let found = self.kept.iter().position(|page| page.rows().contains(&row));
        let mut page = match found {
            Some(at) => self.kept.remove(at),
            None if self.kept.len() < KEPT => Page::default(),
            None => self.kept.remove(0),
        };
        if found.is_none() {
            page.turn_to(snapshot, row);
        }
        if page.rows().is_empty() {
            return Err(snapshot.damaged("a row number is too large"));
        }
        self.kept.push(page);
        Ok(())
    }
}
