//! Rows of a snapshot in any order, as objects of ncdu's JSON.
//!
//! A snapshot has a directory after everything below it, ncdu before it. An export goes back and
//! forth between the listing of a directory and the listings below it. Whole pages are read and
//! kept, the last used ones longest. The export comes back to a page at most once for each
//! directory whose subtree fills the cache, so its time grows with the number of rows only.

use ringwalk::FileType;

use super::ncdu_object::push_object;
use ringwalk_snapshot::{Chunk, Column, ExportError, PAGE_ROWS, Snapshot};

/// Bytes of pages that are kept: about 25 pages.
const CACHE: usize = 32 * 1024 * 1024;

/// The columns that ncdu's JSON needs.
const COLUMNS: [Column; 18] = [
    Column::Dir,
    Column::SelfDir,
    Column::Path,
    Column::PathRaw,
    Column::Type,
    Column::Size,
    Column::Alloc,
    Column::Mtime,
    Column::Ino,
    Column::Fs,
    Column::Mode,
    Column::Nlink,
    Column::Uid,
    Column::Gid,
    Column::TreeFirst,
    Column::TreeLast,
    Column::Errno,
    Column::Skipped,
];

/// A row.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Row {
    pub(crate) is_directory: bool,
    /// The directory that lists the row.
    pub(crate) dir: Option<i64>,
    /// The number of a directory.
    pub(crate) own: Option<i64>,
    /// The first and last row below a directory.
    pub(crate) below: Option<(u64, u64)>,
    pub(crate) device: Option<u64>,
    /// The end of the object's text within the text of the page.
    end: u32,
}

struct Page {
    number: u64,
    rows: Vec<Row>,
    /// The objects of all rows, without their last braces.
    text: Vec<u8>,
    /// The turn of the last use.
    used: u64,
}

impl Page {
    fn bytes(&self) -> usize {
        self.text.capacity() + self.rows.capacity() * size_of::<Row>()
    }
}

/// The pages of a snapshot.
pub(crate) struct Pages<'a> {
    snapshot: &'a Snapshot,
    /// The device numbers of the file systems.
    devices: Vec<u64>,
    kept: Vec<Page>,
    bytes: usize,
    turn: u64,
}

impl<'a> Pages<'a> {
    pub(crate) fn new(snapshot: &'a Snapshot) -> Self {
        let file_systems = snapshot.info().file_systems.iter();
        Self {
            snapshot,
            devices: file_systems.map(|each| each.device).collect(),
            kept: Vec::new(),
            bytes: 0,
            turn: 0,
        }
    }

    /// Returns a row.
    pub(crate) fn row(&mut self, id: u64) -> Result<Row, ExportError> {
        let (page, at) = self.page(id)?;
        Ok(page.rows[at])
    }

    /// Appends the object of a row without its brace.
    pub(crate) fn push_object(&mut self, id: u64, out: &mut Vec<u8>) -> Result<(), ExportError> {
        let (page, at) = self.page(id)?;
        let start = at.checked_sub(1).map_or(0, |before| page.rows[before].end);
        let text = &page.text[start as usize..page.rows[at].end as usize];
        out.extend_from_slice(text);
        Ok(())
    }

    /// Returns the page of a row and the index of the row in it.
    fn page(&mut self, id: u64) -> Result<(&Page, usize), ExportError> {
        let number = id / PAGE_ROWS as u64;
        self.turn += 1;
        let found = self.kept.iter().position(|page| page.number == number);
        let at = match found {
            Some(at) => at,
            None => self.load(number)?,
        };
        // Most questions are about the page of the last one, so it is moved to the front.
        self.kept.swap(0, at);
        let page = &mut self.kept[0];
        page.used = self.turn;
        let row = usize::try_from(id % PAGE_ROWS as u64).unwrap_or(0);
        if row >= page.rows.len() {
            let message = format!("the snapshot is damaged: it refers to row {id}");
            return Err(ExportError::Format(message));
        }
        Ok((page, row))
    }

    /// Reads a page and makes room for it. Returns its index.
    fn load(&mut self, number: u64) -> Result<usize, ExportError> {
        let page = self.read(number)?;
        self.bytes += page.bytes();
        while self.bytes > CACHE && !self.kept.is_empty() {
            let used = |at: &usize| self.kept[*at].used;
            let oldest = (0..self.kept.len()).min_by_key(used).unwrap_or(0);
            self.bytes -= self.kept.swap_remove(oldest).bytes();
        }
        self.kept.push(page);
        Ok(self.kept.len() - 1)
    }

    fn read(&self, number: u64) -> Result<Page, ExportError> {
        let start = number * PAGE_ROWS as u64;
        let end = self.snapshot.rows().min(start + PAGE_ROWS as u64);
        let mut page = Page {
            number,
            rows: Vec::with_capacity(PAGE_ROWS),
            text: Vec::new(),
            used: 0,
        };
        if start >= end {
            return Ok(page);
        }
        let mut scan = self.snapshot.scan(start..end, &COLUMNS)?;
        while let Some(chunk) = scan.next_chunk()? {
            for at in 0..chunk.len() {
                push_object(chunk, at, &mut page.text);
                page.rows.push(self.row_of(chunk, at, page.text.len()));
            }
        }
        Ok(page)
    }

    fn row_of(&self, chunk: &Chunk, at: usize, end: usize) -> Row {
        let number = |column| chunk.integer(column, at);
        let row = |column| number(column).and_then(|id| u64::try_from(id).ok());
        let fs = number(Column::Fs).and_then(|fs| usize::try_from(fs).ok());
        Row {
            is_directory: chunk.file_type(at) == FileType::Directory,
            dir: number(Column::Dir),
            own: number(Column::SelfDir),
            below: row(Column::TreeFirst).zip(row(Column::TreeLast)),
            device: fs.and_then(|fs| self.devices.get(fs).copied()),
            end: u32::try_from(end).unwrap_or(u32::MAX),
        }
    }
}
