//! The pages that a worker keeps.
//!
//! A walk without an order goes through the file backwards, and needs each page once. In order it
//! comes back to a page for each level of directories whose listing is in it.

use super::SnapshotTree;
use crate::read::{Decoder, Page};
use crate::schema::Column;
use ringwalk::Errno;

/// The number of pages.
const KEPT: usize = 8;

/// Some pages, the one used last at the end of the list.
#[derive(Debug, Default)]
pub(super) struct Pages {
    kept: Vec<Page>,
    decoder: Decoder,
}

impl Pages {
    /// Returns the page of a row, with at least these columns.
    #[inline]
    pub(super) fn load(
        &mut self,
        tree: &SnapshotTree,
        row: u64,
        columns: &[Column],
    ) -> Result<&mut Page, Errno> {
        if !self
            .kept
            .last()
            .is_some_and(|page| page.rows().contains(&row))
        {
            self.turn_to(tree, row)?;
        }
        let page = self.kept.last_mut().ok_or(Errno::IO)?;
        match page.load(&tree.snapshot, columns, &mut self.decoder) {
            Ok(()) => Ok(page),
            Err(error) => Err(tree.fail(error)),
        }
    }

    /// Moves the page of a row to the end.
    fn turn_to(&mut self, tree: &SnapshotTree, row: u64) -> Result<(), Errno> {
        let found = self.kept.iter().position(|page| page.rows().contains(&row));
        let mut page = match found {
            Some(at) => self.kept.remove(at),
            None if self.kept.len() < KEPT => Page::new(),
            None => self.kept.remove(0),
        };
        if found.is_none() {
            page.turn_to(&tree.snapshot, row);
        }
        if page.rows().is_empty() {
            return Err(tree.fail_damaged("a row number is too large"));
        }
        self.kept.push(page);
        Ok(())
    }
}
