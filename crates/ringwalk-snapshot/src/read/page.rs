//! Columns of one page, read when they are asked for.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rows within a page, and pages within a file"
)]

use super::chunk::{Cells, Chunk};
use super::decode::{self, Dictionary, PageBytes, Scratch};
use super::error::Reason;
use super::layout::{Pages, Place};
use super::texts;
use super::unpack::{Contents, Unpacker};
use super::{ReadError, Snapshot};
use crate::schema::{COLUMNS, Column, PAGE_ROWS, Values};
use std::ops::Range;
use std::sync::atomic::Ordering;

/// One page of rows, with the columns that have been asked for so far.
#[derive(Debug)]
pub struct Page {
    rows: Range<u64>,
    chunk: Chunk,
    /// A bit for each column that has been read.
    loaded: u64,
}

impl Default for Page {
    /// Creates a page without rows.
    fn default() -> Self {
        Self {
            rows: 0..0,
            chunk: Chunk::new(),
            loaded: 0,
        }
    }
}

impl Page {
    /// Turns this page into the one that holds a row, without any columns. Keeps the memory.
    pub fn turn_to(&mut self, snapshot: &Snapshot, row: u64) {
        self.rows = snapshot.page_of(row);
        self.loaded = 0;
        self.chunk.clear();
        self.narrow(self.rows());
    }

    /// Returns the rows.
    pub fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    /// Leaves out the rows of the chunk before and behind these.
    pub(super) fn narrow(&mut self, rows: Range<u64>) {
        self.chunk.offset = (rows.start - self.rows.start) as usize;
        self.chunk.first_row = rows.start;
        self.chunk.len = (rows.end - rows.start) as usize;
    }

    /// Returns the cells of the columns that have been read.
    pub fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Reads these columns, except the ones that have been read already.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    #[inline]
    pub fn load(
        &mut self,
        snapshot: &Snapshot,
        columns: &[Column],
        decoder: &mut Decoder,
    ) -> Result<(), ReadError> {
        for &column in columns {
            let bit = 1 << column as u32;
            if self.loaded & bit == 0 {
                let (rows, chunk) = (&self.rows, &mut self.chunk);
                snapshot.read_column(column, rows, decoder, chunk)?;
                self.loaded |= bit;
            }
        }
        Ok(())
    }
}

/// What one thread keeps for the pages that it decodes.
#[derive(Debug, Default)]
pub struct Decoder {
    scratch: Scratch,
    unpacker: Unpacker,
    /// For each column what is known of the row group used last.
    columns: Vec<Option<OpenColumn>>,
}

/// A column of a row group.
#[derive(Debug)]
struct OpenColumn {
    group: usize,
    pages: Pages,
    dictionary: Option<Dictionary>,
}

impl Snapshot {
    /// Returns the row group that holds a row; their number behind the last row.
    pub(super) fn group_of_row(&self, row: u64) -> usize {
        self.groups.partition_point(|group| group.end <= row)
    }

    /// Returns the row group of a page, and where a column of it is; `None` if the file lacks the
    /// column.
    fn place_of(&self, column: Column, page: &Range<u64>) -> Option<(usize, &Place)> {
        let group = self.group_of_row(page.start);
        let place = self.places.get(group)?[column as usize].as_ref()?;
        Some((group, place))
    }

    /// Returns the rows of the page that holds a row; an empty range behind the last row.
    pub fn page_of(&self, row: u64) -> Range<u64> {
        let Some(group) = self.groups.get(self.group_of_row(row)) else {
            return row..row;
        };
        let page = (row - group.start) / PAGE_ROWS as u64;
        let start = group.start + page * PAGE_ROWS as u64;
        start..group.end.min(start + PAGE_ROWS as u64)
    }

    /// Reads the cells of one column of a page into a chunk of that page.
    fn read_column(
        &self,
        column: Column,
        page: &Range<u64>,
        decoder: &mut Decoder,
        chunk: &mut Chunk,
    ) -> Result<(), ReadError> {
        if page.is_empty() {
            return Ok(());
        }
        let Some((group, place)) = self.place_of(column, page) else {
            return Ok(());
        };
        if place.is_all_null {
            return Ok(());
        }
        let cells = &mut chunk.cells[column as usize];
        self.decode_column(column, place, group, page, decoder, cells)
            .map_err(|reason| {
                let name = column.name();
                let reason = reason.within(&format!("row group {group}: column {name}"));
                ReadError::new(&self.name, reason)
            })
    }

    /// Decodes one column of a page.
    pub(super) fn decode_column(
        &self,
        column: Column,
        place: &Place,
        group: usize,
        page: &Range<u64>,
        decoder: &mut Decoder,
        cells: &mut Cells,
    ) -> Result<(), Reason> {
        let (bytes, dictionary, scratch) = self.page_bytes(column, place, group, page, decoder)?;
        decode::page(bytes, dictionary, scratch, cells).ok_or_else(foreign)?;
        match column.facts().length() {
            Some(length) if !cells.have_length(length) => Err(Reason::Damaged(format!(
                "one of its values does not have {length} bytes"
            ))),
            _ => Ok(()),
        }
    }

    /// Returns the rows of a page with this text in a column, without making the other texts.
    /// Returns `None` if the page is damaged, or stored in a way in which this cannot be done.
    pub(super) fn rows_with_text(
        &self,
        column: Column,
        page: &Range<u64>,
        text: &[u8],
        decoder: &mut Decoder,
    ) -> Option<Vec<u64>> {
        let (group, place) = self.place_of(column, page)?;
        let (bytes, _, scratch) = self.page_bytes(column, place, group, page, decoder).ok()?;
        let mut rows = Vec::new();
        texts::equal_texts(bytes, text, scratch, |at| rows.push(page.start + at as u64))?;
        Some(rows)
    }

    /// Reads one column of a page. Returns its bytes, the dictionary, and memory to decode them.
    fn page_bytes<'d>(
        &self,
        column: Column,
        place: &Place,
        group: usize,
        page: &Range<u64>,
        decoder: &'d mut Decoder,
    ) -> Result<(PageBytes<'d>, Option<&'d Dictionary>, &'d mut Scratch), Reason> {
        let values = column.facts().values;
        let rows = &self.groups[group];
        let Decoder {
            scratch,
            unpacker,
            columns,
        } = decoder;
        columns.resize_with(COLUMNS.len(), || None);
        let kept = &mut columns[column as usize];
        let open = match kept.take() {
            Some(open) if open.group == group => open,
            _ => self.open_column(values, place, group, unpacker)?,
        };
        let open = kept.insert(open);
        let at = ((page.start - rows.start) / PAGE_ROWS as u64) as usize;
        let range = open.pages.data.get(at).cloned().ok_or_else(foreign)?;
        let (contents, bytes) = unpacker.page(&self.file, range, place, values)?;
        let Contents::Data { rows, encoding } = contents else {
            return Err(foreign());
        };
        // The checksum of a page does not cover its header. The bytes of a small page may be sound
        // in another encoding, too.
        if !column.facts().may_have(encoding) {
            return Err(foreign());
        }
        if rows as u64 != page.end - page.start {
            return Err(Reason::Damaged(
                "a page has another number of rows".to_owned(),
            ));
        }
        let page = PageBytes {
            bytes,
            encoding,
            values,
            rows,
            is_required: place.is_required,
        };
        Ok((page, open.dictionary.as_ref(), scratch))
    }

    /// Reads where the pages of a column of a row group are.
    pub(super) fn pages_at(
        &self,
        place: &Place,
        group: usize,
        unpacker: &mut Unpacker,
    ) -> Result<Pages, Reason> {
        self.is_read[group].store(true, Ordering::Relaxed);
        let rows = &self.groups[group];
        let list = unpacker.read(&self.file, place.index.clone())?;
        place.pages(rows.end - rows.start, list)
    }

    /// Reads where the pages of a column of a row group are, and its dictionary.
    fn open_column(
        &self,
        values: Values,
        place: &Place,
        group: usize,
        unpacker: &mut Unpacker,
    ) -> Result<OpenColumn, Reason> {
        let pages = self.pages_at(place, group, unpacker)?;
        let mut dictionary = None;
        if let Some(range) = &pages.dictionary {
            let (contents, bytes) = unpacker.page(&self.file, range.clone(), place, values)?;
            let Contents::Dictionary { count } = contents else {
                return Err(foreign());
            };
            let known = decode::dictionary(bytes, count, values);
            dictionary = Some(known.ok_or_else(foreign)?);
        }
        Ok(OpenColumn {
            group,
            pages,
            dictionary,
        })
    }
}

/// Values that are damaged, or stored in a way that Ringwalk does not use.
fn foreign() -> Reason {
    Reason::Damaged("it is not stored as this version of the schema stores it".to_owned())
}
