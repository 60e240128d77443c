//! Pieces of a root, which threads merge. A root is cut at the same paths in both snapshots.

use super::same::has_same_paths;
use super::scan::{PATH, Reader};
use ringwalk_snapshot::{PageCache, ReadError, StoredAlike};
use std::ops::Range;

/// The number of rows of a piece is a multiple of this number, and so of the rows of a page. A cut
/// costs up to a millisecond, a piece of this size 5 to 20.
const PIECE: u64 = if cfg!(test) { 100 } else { 65_536 };
/// Pieces for each thread, because pieces take different times.
const PIECES_PER_THREAD: u64 = 4;

/// One root of both snapshots.
#[derive(Clone, Debug)]
pub(super) struct SharedRoot {
    /// Number in the newer snapshot.
    pub(super) root: u32,
    /// Rows in the older snapshot.
    pub(super) old: Range<u64>,
    /// Rows in the newer snapshot.
    pub(super) new: Range<u64>,
}

impl Reader<'_> {
    /// Cuts a root into pieces that can be merged on their own.
    pub(super) fn cut(
        &self,
        root: &SharedRoot,
        pieces: &mut Vec<SharedRoot>,
    ) -> Result<(), ReadError> {
        let threads = self.threads.get() as u64;
        let rows = root.old.end - root.old.start;
        // At least one piece of rows, also of a snapshot with few of them.
        let size = (rows / (threads * PIECES_PER_THREAD)).max(1);
        let size = size.next_multiple_of(PIECE);
        let mut rest = root.clone();
        let mut places = Places {
            reader: self,
            stored: StoredAlike::new(self.old, self.new),
            old: PageCache::default(),
            new: PageCache::default(),
        };
        while threads > 1 && rest.old.end - rest.old.start > size * 3 / 2 {
            let at = rest.old.start + size;
            let end = places.in_new(at, &rest)?;
            pieces.push(SharedRoot {
                root: root.root,
                old: rest.old.start..at,
                new: rest.new.start..end,
            });
            rest.old.start = at;
            rest.new.start = end;
        }
        pieces.push(rest);
        Ok(())
    }
}

/// Finds rows of the older snapshot in the newer one.
struct Places<'a> {
    reader: &'a Reader<'a>,
    stored: StoredAlike<'a>,
    old: PageCache,
    new: PageCache,
}

impl Places<'_> {
    /// Returns the first row of a root in the newer snapshot whose path does not come before the
    /// path of the row `at` in the older snapshot.
    fn in_new(&mut self, at: u64, root: &SharedRoot) -> Result<u64, ReadError> {
        let Reader { old, new, .. } = *self.reader;
        // Mostly the row has the same number.
        let is_within = root.new.contains(&at);
        if is_within && has_same_paths(&mut self.stored, &old.page_of(at))? {
            return Ok(at);
        }
        let page = self.old.load(old, at, &PATH)?;
        let row = usize::try_from(at - page.rows().start).unwrap_or(usize::MAX);
        let path = page.chunk().path(row);
        let number = usize::try_from(root.root).unwrap_or(usize::MAX);
        let row = new.lower_bound(number, path, &mut self.new)?;
        Ok(row.clamp(root.new.start, root.new.end))
    }
}
