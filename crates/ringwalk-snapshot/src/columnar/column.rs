//! A column of a row group: its pages, and what the footer and the indexes say of them.

#![expect(clippy::cast_possible_truncation, reason = "sizes within a page")]

use super::bits::{runs, width};
use super::bounds::Bounds;
use super::dictionary::Dictionary;
use super::thrift::{Fields, structure};
use super::values::push_values;
use super::{Cells, Encoding, Leaf, Physical};
use std::io;
use zstd::bulk::Compressor;

/// The numbers of kinds of pages in `parquet.thrift`.
pub(super) const DATA_PAGE: i32 = 0;
pub(super) const DICTIONARY_PAGE: i32 = 2;

/// How a column is stored.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// True for a dictionary, as long as that is small.
    pub dictionary: bool,
    /// The encoding of values without a dictionary.
    pub encoding: Encoding,
    /// True for bounds of the values. A bound may take as many bytes as a value.
    pub bounds: bool,
}

/// Creates what compresses pages. It may serve any number of columns.
///
/// # Errors
///
/// If there is no memory for it.
pub fn compressor() -> io::Result<Compressor<'static>> {
    // Higher levels take longer, and save little: the encodings have made the values small.
    Compressor::new(1)
}

/// Writes the pages of a column of a row group into memory.
pub struct ColumnWriter {
    leaf: Leaf,
    settings: Settings,
    dictionary: Option<Dictionary>,
    chunk: Chunk,
    /// Memory that is used for each page.
    unpacked: Vec<u8>,
    stored: Vec<u8>,
    indexes: Vec<u32>,
}

/// A column of a row group.
#[derive(Debug, Default)]
pub struct Chunk {
    /// The stored dictionary.
    pub(super) dictionary: Vec<u8>,
    /// The stored pages behind the dictionary.
    pub(super) data: Vec<u8>,
    pub(super) pages: Vec<PageFacts>,
    pub(super) rows: u64,
    /// The number of values, nulls included.
    pub(super) values: u64,
    /// The bytes of all pages before compression, with their headers.
    pub(super) unpacked: u64,
    pub(super) has_bounds: bool,
}

/// What the indexes say of a data page.
#[derive(Debug)]
pub(super) struct PageFacts {
    pub(super) encoding: Encoding,
    /// Bytes with the header.
    pub(super) length: i32,
    pub(super) first_row: u64,
    pub(super) nulls: u64,
    pub(super) is_all_null: bool,
    pub(super) bounds: Option<Bounds>,
}

impl ColumnWriter {
    /// Creates a column without pages.
    pub fn new(leaf: Leaf, settings: Settings) -> Self {
        // A dictionary of two values saves nothing.
        let may_have = settings.dictionary && leaf.physical != Physical::Boolean;
        Self {
            dictionary: may_have.then(|| Dictionary::new(leaf.physical)),
            leaf,
            settings,
            chunk: Chunk {
                has_bounds: settings.bounds,
                ..Chunk::default()
            },
            unpacked: Vec::new(),
            stored: Vec::new(),
            indexes: Vec::new(),
        }
    }

    /// Writes a page. It has at least one row.
    ///
    /// # Errors
    ///
    /// If the page has 2 GiB or more.
    pub fn page(&mut self, cells: &Cells, zstd: &mut Compressor<'_>) -> io::Result<()> {
        let present = cells.values();
        let values = match self.leaf.definition {
            0 => present,
            _ => cells.definitions.len(),
        };
        let rows = match self.leaf.repetition {
            0 => values,
            _ => cells.rows(),
        };
        self.unpacked.clear();
        push_levels(&cells.repetitions, self.leaf.repetition, &mut self.unpacked);
        push_levels(&cells.definitions, self.leaf.definition, &mut self.unpacked);
        let encoding = self.push_values(cells);
        let count = small(values)?;
        let length = self.store(zstd, DATA_PAGE, |header| {
            header.structure(5, |header| {
                header.i32(1, count);
                header.i32(2, encoding as i32);
                header.i32(3, Encoding::Rle as i32);
                header.i32(4, Encoding::Rle as i32);
            });
        })?;
        self.chunk.data.extend_from_slice(&self.stored);
        let bounds = self.settings.bounds.then(|| Bounds::of(cells, &self.leaf));
        self.chunk.pages.push(PageFacts {
            encoding,
            length,
            first_row: self.chunk.rows,
            nulls: (values - present) as u64,
            is_all_null: present == 0,
            bounds: bounds.flatten(),
        });
        self.chunk.rows += rows as u64;
        self.chunk.values += values as u64;
        Ok(())
    }

    /// Appends the values of a page, and returns their encoding.
    fn push_values(&mut self, cells: &Cells) -> Encoding {
        let out = &mut self.unpacked;
        // Without values, there may be no dictionary that a page could refer to.
        let dictionary = self.dictionary.as_mut();
        let dictionary = dictionary.filter(|one| one.has_room() && cells.values() > 0);
        let Some(dictionary) = dictionary else {
            let encoding = self.settings.encoding;
            push_values(cells, self.leaf.physical, encoding, out);
            return encoding;
        };
        self.indexes.clear();
        dictionary.add(cells, &mut self.indexes);
        let width = width(dictionary.len() as u64 - 1);
        out.push(width as u8);
        runs(&self.indexes, width, out);
        Encoding::RleDictionary
    }

    /// Compresses `unpacked` and makes it a page in `stored`. `kind` is its number, and `fields`
    /// writes the fields of its own. Returns the length.
    fn store(
        &mut self,
        zstd: &mut Compressor<'_>,
        kind: i32,
        fields: impl FnOnce(&mut Fields<'_>),
    ) -> io::Result<i32> {
        let packed = zstd.compress(&self.unpacked)?;
        let unpacked = small(self.unpacked.len())?;
        let length = small(packed.len())?;
        self.stored.clear();
        structure(&mut self.stored, |header| {
            header.i32(1, kind);
            header.i32(2, unpacked);
            header.i32(3, length);
            header.i32(4, crc32fast::hash(&packed).cast_signed());
            fields(header);
        });
        self.chunk.unpacked += (self.stored.len() + self.unpacked.len()) as u64;
        self.stored.extend_from_slice(&packed);
        small(self.stored.len())
    }

    /// Ends the column.
    ///
    /// # Errors
    ///
    /// If the dictionary has 2 GiB or more.
    pub fn finish(mut self, zstd: &mut Compressor<'_>) -> io::Result<Chunk> {
        let dictionary = self.dictionary.take();
        if let Some(dictionary) = dictionary.filter(|dictionary| dictionary.len() > 0) {
            self.unpacked.clear();
            dictionary.push_plain(&mut self.unpacked);
            let count = small(dictionary.len())?;
            self.store(zstd, DICTIONARY_PAGE, |header| {
                header.structure(7, |header| {
                    header.i32(1, count);
                    header.i32(2, Encoding::Plain as i32);
                    header.boolean(3, false);
                });
            })?;
            self.chunk.dictionary = self.stored;
        }
        Ok(self.chunk)
    }
}

/// Appends levels, with their length in front. Nothing if all levels are 0.
fn push_levels(levels: &[u8], most: u8, out: &mut Vec<u8>) {
    if most == 0 {
        return;
    }
    let begin = out.len();
    out.extend_from_slice(&[0; 4]);
    runs(levels, width(most.into()), out);
    let length = (out.len() - begin - 4) as u32;
    out[begin..begin + 4].copy_from_slice(&length.to_le_bytes());
}

fn small(value: usize) -> io::Result<i32> {
    i32::try_from(value).map_err(|_| io::Error::other("a page has 2 GiB or more"))
}
