//! Columns of one page, read when they are asked for.

#![allow(
    clippy::cast_possible_truncation,
    reason = "rows within a page, and pages within a file"
)]

use super::chunk::{Cells, Chunk};
use super::decode::{self, Dictionary, PageBytes, Scratch};
use super::{ReadError, SharedFile, Snapshot};
use crate::schema::{COLUMNS, Column, PAGE_ROWS, Values};
use parquet::basic::Encoding;
use parquet::column::page::PageReader as _;
use parquet::errors::ParquetError;
use parquet::file::page_index::offset_index::PageLocation;
use parquet::file::serialized_reader::SerializedPageReader;
use std::ops::Range;
use std::sync::Arc;

/// One page of rows, with the columns that have been asked for so far.
#[derive(Debug)]
pub(crate) struct Page {
    rows: Range<u64>,
    chunk: Chunk,
    /// A bit for each column that has been read.
    loaded: u64,
}

impl Page {
    /// Creates a page without rows.
    pub(crate) fn new() -> Self {
        Self {
            rows: 0..0,
            chunk: Chunk::new(),
            loaded: 0,
        }
    }

    /// Turns this page into the one that holds a row, without any columns. Keeps the memory.
    pub(crate) fn turn_to(&mut self, snapshot: &Snapshot, row: u64) {
        self.rows = snapshot.page_of(row);
        self.loaded = 0;
        self.chunk.clear();
        self.narrow(self.rows());
    }

    /// Returns the rows.
    pub(crate) fn rows(&self) -> Range<u64> {
        self.rows.clone()
    }

    /// Leaves out the rows of the chunk before and behind these.
    pub(super) fn narrow(&mut self, rows: Range<u64>) {
        self.chunk.offset = (rows.start - self.rows.start) as usize;
        self.chunk.first_row = rows.start;
        self.chunk.len = (rows.end - rows.start) as usize;
    }

    /// Returns the cells of the columns that have been read.
    pub(crate) fn chunk(&self) -> &Chunk {
        &self.chunk
    }

    /// Reads those of these columns that have not been read.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    #[inline]
    pub(crate) fn load(
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
pub(crate) struct Decoder {
    scratch: Scratch,
    /// For each column the dictionary used last, with the number of its row group.
    dictionaries: Vec<Option<(usize, Dictionary)>>,
    /// For each column the reader of the pages that follow the one used last. Opening a reader
    /// takes 30 us, as much as decoding a page of numbers.
    readers: Vec<Option<OpenColumn>>,
}

/// A reader of the pages of a column.
struct OpenColumn {
    /// The row group, and the index in it of the next page.
    next: (usize, usize),
    pages: SerializedPageReader<SharedFile>,
}

impl std::fmt::Debug for OpenColumn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenColumn")
            .field("next", &self.next)
            .finish_non_exhaustive()
    }
}

impl Snapshot {
    /// Returns the rows of the page that holds a row; an empty range behind the last row.
    pub(crate) fn page_of(&self, row: u64) -> Range<u64> {
        let group = self.groups.partition_point(|group| group.end <= row);
        let Some(group) = self.groups.get(group) else {
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
        let (Some(leaf), false) = (self.leaves[column as usize], page.is_empty()) else {
            return Ok(());
        };
        let group = self.groups.partition_point(|group| group.end <= page.start);
        if self.is_all_null(group, leaf) {
            return Ok(());
        }
        let cells = &mut chunk.cells[column as usize];
        let found = self.decode_column(column, leaf, group, page, decoder, cells);
        if found.map_err(|error| self.error(&error))?.is_some() {
            if column.facts().values == Values::Uint32 {
                for number in &mut cells.numbers {
                    *number &= i64::from(u32::MAX);
                }
            }
            return Ok(());
        }
        let name = column.name();
        Err(self.damaged(&format!(
            "column {name} is not stored as this version of the schema stores it"
        )))
    }

    /// Returns true if the statistics of a row group say that a column has no value in it.
    fn is_all_null(&self, group: usize, leaf: usize) -> bool {
        let row_group = self.metadata.row_group(group);
        let nulls = row_group
            .column(leaf)
            .statistics()
            .and_then(parquet::file::statistics::Statistics::null_count_opt);
        nulls.is_some_and(|nulls| i64::try_from(nulls) == Ok(row_group.num_rows()))
    }

    /// Decodes one column of a page. Returns `None` if it is damaged, or not stored as Ringwalk
    /// stores it.
    pub(super) fn decode_column(
        &self,
        column: Column,
        leaf: usize,
        group: usize,
        page: &Range<u64>,
        decoder: &mut Decoder,
        cells: &mut Cells,
    ) -> Result<Option<()>, ParquetError> {
        let rows = (page.end - page.start) as usize;
        let index = self.metadata.page_index_for_row_group(group);
        let Some(locations) = index.page_locations(leaf) else {
            return Ok(None);
        };
        let first = page.start - self.groups[group].start;
        let at = (first / PAGE_ROWS as u64) as usize;
        let begins = |at: usize| locations.get(at).map(|page| page.first_row_index);
        let is_last = page.end == self.groups[group].end;
        let ends = begins(at + 1).is_none_or(|next| next.cast_unsigned() == first + rows as u64);
        if begins(at) != Some(first.cast_signed()) || !ends || begins(at + 1).is_none() != is_last {
            return Ok(None);
        }
        let chunk = self.metadata.row_group(group).column(leaf);
        let physical = column.facts().physical();
        let begin = i64::try_from(chunk.byte_range().0).ok();
        // The reader of pages relies on that.
        if begin.is_none_or(|begin| locations.iter().any(|page| page.offset < begin)) {
            return Ok(None);
        }
        let has_dictionary = locations.first().map(|page| page.offset) != begin;
        let open = |locations: &[PageLocation]| {
            let total = self.groups[group].end - self.groups[group].start;
            let total = usize::try_from(total).unwrap_or(usize::MAX);
            let file = Arc::clone(&self.file);
            SerializedPageReader::new(file, chunk, total, Some(locations.to_vec()))
        };
        let Decoder {
            scratch,
            dictionaries,
            readers,
        } = decoder;
        dictionaries.resize_with(COLUMNS.len(), || None);
        readers.resize_with(COLUMNS.len(), || None);
        let known = &mut dictionaries[column as usize];
        if has_dictionary && known.as_ref().is_none_or(|(of, _)| *of != group) {
            *known = None;
            let Some(first) = locations.first() else {
                return Ok(None);
            };
            let Some(parquet::column::page::Page::DictionaryPage {
                buf, num_values, ..
            }) = open(std::slice::from_ref(first))?.get_next_page()?
            else {
                return Ok(None);
            };
            let values = decode::dictionary(&buf, num_values as usize, physical);
            *known = values.map(|values| (group, values));
        }
        let dictionary = known.as_ref().filter(|_| has_dictionary);
        let kept = &mut readers[column as usize];
        let mut reader = match kept.take() {
            Some(reader) if reader.next == (group, at) => reader,
            _ => {
                let mut pages = open(&locations[at..])?;
                // All before the page is a dictionary to the reader.
                if Some(locations[at].offset) != begin {
                    pages.skip_next_page()?;
                }
                OpenColumn {
                    next: (group, at),
                    pages,
                }
            }
        };
        let page = reader.pages.get_next_page()?;
        reader.next.1 += 1;
        // After an error the position of a reader is not known: then it is not kept.
        *kept = Some(reader);
        let Some(parquet::column::page::Page::DataPage {
            buf,
            num_values,
            encoding,
            def_level_encoding,
            ..
        }) = page
        else {
            return Ok(None);
        };
        if num_values as usize != rows || def_level_encoding != Encoding::RLE {
            return Ok(None);
        }
        let bytes = PageBytes {
            bytes: &buf,
            encoding,
            physical,
            rows,
            is_required: self.is_required(leaf),
        };
        Ok(decode::page(
            bytes,
            dictionary.map(|(_, values)| values),
            scratch,
            cells,
        ))
    }

    /// Returns true if a column of the file has no null, and so no marks of nulls.
    fn is_required(&self, leaf: usize) -> bool {
        let schema = self.metadata.file_metadata().schema_descr();
        schema.column(leaf).max_def_level() == 0
    }
}
