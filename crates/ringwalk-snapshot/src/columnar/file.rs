//! The file: row groups, the indexes of their pages, and the footer.

use super::bounds::{Bounds, Order};
use super::column::{DATA_PAGE, DICTIONARY_PAGE, PageFacts};
use super::thrift::{self, Fields, Kind, structure};
use super::{Chunk, Encoding, Field, Leaf, Logical, Physical};
use std::collections::BTreeSet;
use std::io::{self, Write};
use std::mem;

/// The first and the last bytes of a file.
pub(crate) const MAGIC: &[u8; 4] = b"PAR1";
/// The number of zstd in `parquet.thrift`.
pub(crate) const ZSTD: i32 = 6;
/// The version of the format: 1 for data pages of the first version.
const VERSION: i32 = 1;

/// Writes a file, one row group after the other.
pub struct FileWriter<W> {
    out: W,
    /// The number of bytes written so far.
    at: u64,
    schema: Field,
    leaves: Vec<Leaf>,
    groups: Vec<Group>,
}

/// A row group that was written.
struct Group {
    rows: u64,
    columns: Vec<Column>,
}

/// A column of it.
struct Column {
    begin: u64,
    /// The first data page.
    data: u64,
    end: u64,
    chunk: Chunk,
    /// Begin and length of the index of the pages, and of their bounds.
    places: (u64, i32),
    bounds: Option<(u64, i32)>,
}

impl<W: Write> FileWriter<W> {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// When `out` cannot be written.
    pub fn new(mut out: W, schema: Field) -> io::Result<Self> {
        out.write_all(MAGIC)?;
        Ok(Self {
            out,
            at: MAGIC.len() as u64,
            leaves: schema.leaves(),
            schema,
            groups: Vec::new(),
        })
    }

    /// Returns the columns, in the order of the file.
    pub fn leaves(&self) -> &[Leaf] {
        &self.leaves
    }

    /// Writes a row group: its columns in their order.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn group(&mut self, chunks: Vec<Chunk>) -> io::Result<()> {
        let rows = chunks.first().map_or(0, |chunk| chunk.rows);
        let mut columns = Vec::new();
        for mut chunk in chunks {
            let begin = self.at;
            let data = begin + chunk.dictionary.len() as u64;
            self.write(&chunk.dictionary)?;
            self.write(&chunk.data)?;
            (chunk.dictionary, chunk.data) = (Vec::new(), Vec::new());
            columns.push(Column {
                begin,
                data,
                end: self.at,
                chunk,
                places: (0, 0),
                bounds: None,
            });
        }
        self.groups.push(Group { rows, columns });
        Ok(())
    }

    /// Writes the indexes, and the footer with these keys and values. Returns the output.
    ///
    /// # Errors
    ///
    /// When the file cannot be written, or an index has 2 GiB or more.
    pub fn finish(mut self, writer: &str, pairs: &[(&str, String)]) -> io::Result<W> {
        self.write_indexes()?;
        let mut footer = Vec::new();
        structure(&mut footer, |footer| self.footer(writer, pairs, footer));
        let length = u32::try_from(footer.len());
        let length = length.map_err(|_| io::Error::other("the footer has 4 GiB or more"))?;
        footer.extend_from_slice(&length.to_le_bytes());
        footer.extend_from_slice(MAGIC);
        self.write(&footer)?;
        self.out.flush()?;
        Ok(self.out)
    }

    /// Writes the indexes of all pages: first the bounds, then the places.
    fn write_indexes(&mut self) -> io::Result<()> {
        let (mut groups, leaves) = (mem::take(&mut self.groups), mem::take(&mut self.leaves));
        for group in &mut groups {
            for (column, leaf) in group.columns.iter_mut().zip(&leaves) {
                let pages = &column.chunk.pages;
                // A page without comparable values would have no bounds.
                let has_all = |page: &PageFacts| page.bounds.is_some() || page.is_all_null;
                if column.chunk.has_bounds && pages.iter().all(has_all) {
                    column.bounds = Some(self.index(|index| write_bounds(pages, leaf, index))?);
                }
            }
        }
        for column in groups.iter_mut().flat_map(|group| &mut group.columns) {
            let pages = &column.chunk.pages;
            column.places = self.index(|index| write_places(pages, column.data, index))?;
        }
        (self.groups, self.leaves) = (groups, leaves);
        Ok(())
    }

    /// Writes an index. Returns where it begins, and its length.
    fn index(&mut self, write: impl FnOnce(&mut Fields<'_>)) -> io::Result<(u64, i32)> {
        let mut bytes = Vec::new();
        structure(&mut bytes, write);
        let length = i32::try_from(bytes.len());
        let length = length.map_err(|_| io::Error::other("an index has 2 GiB or more"))?;
        let begin = self.at;
        self.write(&bytes)?;
        Ok((begin, length))
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.at += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    /// Writes a `FileMetaData`.
    fn footer(&self, writer: &str, pairs: &[(&str, String)], footer: &mut Fields<'_>) {
        let mut elements = Vec::new();
        self.schema.push_elements(&mut elements);
        footer.i32(1, VERSION);
        footer.list(2, Kind::Struct, &elements, |field, out| {
            structure(out, |element| field.element(element));
        });
        footer.i64(3, self.groups.iter().map(|group| group.rows).sum());
        footer.list(4, Kind::Struct, &self.groups, |group, out| {
            structure(out, |fields| group.write(&self.leaves, fields));
        });
        footer.list(5, Kind::Struct, pairs, |(key, value), out| {
            structure(out, |pair| {
                pair.binary(1, key.as_bytes());
                pair.binary(2, value.as_bytes());
            });
        });
        footer.binary(6, writer.as_bytes());
        // Bounds compare as the type says. Without this, readers do not use them.
        footer.list(7, Kind::Struct, &self.leaves, |_, out| {
            structure(out, |order| order.structure(1, |_| {}));
        });
    }
}

impl Field {
    /// Lists this field and all fields below it, each before its own fields.
    fn push_elements<'f>(&'f self, out: &mut Vec<&'f Self>) {
        out.push(self);
        for field in &self.fields {
            field.push_elements(out);
        }
    }

    /// Writes a `SchemaElement`. The older `ConvertedType` is there for older readers.
    fn element(&self, element: &mut Fields<'_>) {
        if let Some(physical) = self.physical {
            element.i32(1, physical as i32);
        }
        if let Some(repetition) = self.repetition {
            element.i32(3, repetition as i32);
        }
        element.binary(4, self.name.as_bytes());
        if self.physical.is_none() {
            element.i32(5, i32::try_from(self.fields.len()).unwrap_or(i32::MAX));
        }
        let is_narrow = self.physical == Some(Physical::Int32);
        match self.logical {
            None | Some(Logical::Nanoseconds) => {}
            Some(Logical::String) => element.i32(6, 0),
            Some(Logical::Map) => element.i32(6, 1),
            Some(Logical::Unsigned) => element.i32(6, if is_narrow { 13 } else { 14 }),
        }
        let Some(logical) = self.logical else { return };
        element.structure(10, |union| match logical {
            Logical::String => union.structure(1, |_| {}),
            Logical::Map => union.structure(2, |_| {}),
            Logical::Nanoseconds => union.structure(8, |timestamp| {
                timestamp.boolean(1, true);
                timestamp.structure(2, |unit| unit.structure(3, |_| {}));
            }),
            Logical::Unsigned => union.structure(10, |integer| {
                integer.byte(1, if is_narrow { 32 } else { 64 });
                integer.boolean(2, false);
            }),
        });
    }
}

impl Group {
    /// Writes a `RowGroup`.
    fn write(&self, leaves: &[Leaf], fields: &mut Fields<'_>) {
        let columns: Vec<_> = self.columns.iter().zip(leaves).collect();
        fields.list(1, Kind::Struct, &columns, |(column, leaf), out| {
            structure(out, |fields| column.write(leaf, fields));
        });
        fields.i64(2, self.columns.iter().map(|one| one.chunk.unpacked).sum());
        fields.i64(3, self.rows);
        fields.i64(5, self.columns.first().map_or(0, |one| one.begin));
        fields.i64(6, self.columns.iter().map(|one| one.end - one.begin).sum());
    }
}

impl Column {
    /// Writes a `ColumnChunk`.
    fn write(&self, leaf: &Leaf, fields: &mut Fields<'_>) {
        fields.i64(2, 0);
        fields.structure(3, |facts| self.write_facts(leaf, facts));
        for (number, place) in [(4, Some(self.places)), (6, self.bounds)] {
            if let Some((begin, length)) = place {
                fields.i64(number, begin);
                fields.i32(number + 1, length);
            }
        }
    }

    /// Writes a `ColumnMetaData`.
    fn write_facts(&self, leaf: &Leaf, facts: &mut Fields<'_>) {
        let pages = &self.chunk.pages;
        let of_pages: BTreeSet<_> = pages.iter().map(|page| page.encoding).collect();
        let has_dictionary = self.data > self.begin;
        let mut encodings = of_pages.clone();
        encodings.insert(Encoding::Rle);
        if has_dictionary {
            encodings.insert(Encoding::Plain);
        }
        let encodings: Vec<_> = encodings.into_iter().collect();
        facts.i32(1, leaf.physical as i32);
        facts.list(2, Kind::I32, &encodings, |encoding, out| {
            thrift::integer(*encoding as i64, out);
        });
        facts.list(3, Kind::Binary, &leaf.path, |name, out| {
            thrift::binary(name.as_bytes(), out);
        });
        facts.i32(4, ZSTD);
        facts.i64(5, self.chunk.values);
        facts.i64(6, self.chunk.unpacked);
        facts.i64(7, self.end - self.begin);
        facts.i64(9, self.data);
        if has_dictionary {
            facts.i64(11, self.begin);
        }
        if self.chunk.has_bounds {
            facts.structure(12, |statistics| self.write_statistics(leaf, statistics));
        }
        // Readers look here whether all pages use the dictionary.
        let count = |encoding| {
            let count = pages.iter().filter(|page| page.encoding == encoding);
            i32::try_from(count.count()).unwrap_or(i32::MAX)
        };
        let dictionary = has_dictionary.then_some((DICTIONARY_PAGE, Encoding::Plain, 1));
        let of_pages = of_pages.into_iter();
        let of_pages = of_pages.map(|encoding| (DATA_PAGE, encoding, count(encoding)));
        let of_pages: Vec<_> = dictionary.into_iter().chain(of_pages).collect();
        facts.list(
            13,
            Kind::Struct,
            &of_pages,
            |(kind, encoding, count), out| {
                structure(out, |statistics| {
                    statistics.i32(1, *kind);
                    statistics.i32(2, *encoding as i32);
                    statistics.i32(3, *count);
                });
            },
        );
    }

    /// Writes a `Statistics`.
    fn write_statistics(&self, leaf: &Leaf, statistics: &mut Fields<'_>) {
        let pages = &self.chunk.pages;
        statistics.i64(3, pages.iter().map(|page| page.nulls).sum());
        let mut bounds = None;
        for page in pages {
            Bounds::widen(&mut bounds, page.bounds.as_ref());
        }
        if let Some(bounds) = bounds {
            let [least, largest] = bounds.stored(leaf);
            statistics.binary(5, &largest);
            statistics.binary(6, &least);
            statistics.boolean(7, true);
            statistics.boolean(8, true);
        }
    }
}

/// Writes a `ColumnIndex`.
fn write_bounds(pages: &[PageFacts], leaf: &Leaf, index: &mut Fields<'_>) {
    let stored = |page: &PageFacts| page.bounds.as_ref().map(|bounds| bounds.stored(leaf));
    let stored: Vec<_> = pages
        .iter()
        .map(|page| stored(page).unwrap_or_default())
        .collect();
    index.list(1, Kind::True, pages, |page, out| {
        thrift::boolean(page.is_all_null, out);
    });
    index.list(2, Kind::Binary, &stored, |[least, _], out| {
        thrift::binary(least, out);
    });
    index.list(3, Kind::Binary, &stored, |[_, largest], out| {
        thrift::binary(largest, out);
    });
    let order = Order::of(pages.iter().filter_map(|page| page.bounds.as_ref()));
    index.i32(4, order as i32);
    index.list(5, Kind::I64, pages, |page, out| {
        thrift::integer(page.nulls.cast_signed(), out);
    });
}

/// Writes an `OffsetIndex`.
fn write_places(pages: &[PageFacts], mut at: u64, index: &mut Fields<'_>) {
    index.list(1, Kind::Struct, pages, |page, out| {
        structure(out, |place| {
            place.i64(1, at);
            place.i32(2, page.length);
            place.i64(3, page.first_row);
        });
        at += u64::from(page.length.unsigned_abs());
    });
}
