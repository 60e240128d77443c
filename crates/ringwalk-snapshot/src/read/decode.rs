//! The cells of one page, decoded from its bytes.
//!
//! The readers of the parquet crate make one value after the other, a path with two allocations. A
//! walk of a snapshot reads names only, so that takes most of its time. These functions take a
//! tenth of it. They know the encodings that Ringwalk writes (`Encodings.md` of the Parquet
//! format), and return `None` for bytes that are anything else. The crate's readers panic for some
//! of these.

#![allow(
    clippy::cast_possible_truncation,
    reason = "numbers of 32 bits, and sizes within a page"
)]

use super::chunk::Cells;
use super::packed::{Run, delta_binary, runs, take};
use super::texts::{end_text, texts};
use crate::columnar::Encoding;
use crate::schema::Values;

/// The values that the pages of a row group refer to by number.
#[derive(Debug, Default)]
pub(super) struct Dictionary {
    pub(super) numbers: Vec<i64>,
    pub(super) data: Vec<u8>,
    pub(super) ends: Vec<u32>,
}

/// Memory that is used for each page.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    pub(super) numbers: Vec<i64>,
    pub(super) lengths: Vec<i64>,
}

/// A data page of the first version.
#[derive(Clone, Copy, Debug)]
pub(super) struct PageBytes<'b> {
    pub(super) bytes: &'b [u8],
    pub(super) encoding: Encoding,
    pub(super) values: Values,
    pub(super) rows: usize,
    pub(super) is_required: bool,
}

/// Decodes a page into cells. The cells are undefined if it returns `None`.
pub(super) fn page(
    page: PageBytes<'_>,
    dictionary: Option<&Dictionary>,
    scratch: &mut Scratch,
    cells: &mut Cells,
) -> Option<()> {
    cells.clear();
    cells.is_absent = false;
    let mut bytes = page.bytes;
    let mut values = page.rows;
    if !page.is_required {
        let length = u32::from_le_bytes(take(&mut bytes, 4)?.try_into().ok()?);
        let levels = take(&mut bytes, length as usize)?;
        values = presence(levels, page.rows, &mut cells.present)?;
    }
    if matches!(page.values, Values::Text | Values::Bytes) {
        return texts(page, bytes, values, dictionary, scratch, cells);
    }
    let direct = cells.present.is_empty();
    let numbers = if direct {
        &mut cells.numbers
    } else {
        scratch.numbers.clear();
        &mut scratch.numbers
    };
    match page.encoding {
        Encoding::DeltaBinaryPacked => {
            delta_binary(&mut bytes, values, numbers)?;
            narrow(numbers, page.values)?;
        }
        Encoding::RleDictionary | Encoding::PlainDictionary => {
            dictionary_numbers(bytes, values, &dictionary?.numbers, numbers)?;
        }
        Encoding::Plain => plain_numbers(bytes, values, page.values, numbers)?,
        _ => return None,
    }
    if numbers.len() != values {
        return None;
    }
    if !direct {
        let mut numbers = scratch.numbers.iter();
        for present in &cells.present {
            let number = if *present { *numbers.next()? } else { 0 };
            cells.numbers.push(number);
        }
    }
    Some(())
}

/// Decodes the values of a dictionary page, which are stored plainly.
pub(super) fn dictionary(bytes: &[u8], count: usize, values: Values) -> Option<Dictionary> {
    let mut dictionary = Dictionary::default();
    if matches!(values, Values::Text | Values::Bytes) {
        let mut rest = bytes;
        for _ in 0..count {
            let length = u32::from_le_bytes(take(&mut rest, 4)?.try_into().ok()?);
            let value = take(&mut rest, length as usize)?;
            dictionary.data.extend_from_slice(value);
            end_text(&dictionary.data, &mut dictionary.ends)?;
        }
        rest.is_empty().then_some(())?;
    } else {
        plain_numbers(bytes, count, values, &mut dictionary.numbers)?;
    }
    Some(dictionary)
}

impl Dictionary {
    pub(super) fn text(&self, index: usize) -> Option<&[u8]> {
        let end = *self.ends.get(index)? as usize;
        let begin = index
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        self.data.get(begin..end)
    }
}

/// Decodes which rows have a value. Returns how many have one; `present` stays empty if all have.
fn presence(levels: &[u8], rows: usize, present: &mut Vec<bool>) -> Option<usize> {
    let (mut count, mut before) = (0, 0);
    runs(levels, 1, rows, |run| {
        // Most pages are one run of rows with a value.
        if let Run::Same(1, times) = run
            && count == before
        {
            count += times;
            before += times;
            return Some(());
        }
        present.resize(before, true);
        match run {
            Run::Same(level, times) => present.resize(before + times, level > 0),
            Run::Packed(levels) => present.extend(levels.iter().map(|level| *level > 0)),
        }
        count += present[before..].iter().filter(|has| **has).count();
        before = present.len();
        Some(())
    })?;
    if count == rows {
        present.clear();
    } else {
        present.resize(rows, true);
    }
    Some(count)
}

/// Decodes numbers that are stored as indices of `known`.
fn dictionary_numbers(
    bytes: &[u8],
    values: usize,
    known: &[i64],
    numbers: &mut Vec<i64>,
) -> Option<()> {
    numbers.reserve(values);
    let number = |index: u64| known.get(usize::try_from(index).ok()?).copied();
    indices(bytes, values, |run| match run {
        Run::Same(index, times) => {
            numbers.resize(numbers.len() + times, number(index)?);
            Some(())
        }
        Run::Packed(indices) => {
            let mut are_known = true;
            numbers.extend(indices.iter().map(|index| {
                let number = number(*index);
                are_known &= number.is_some();
                number.unwrap_or_default()
            }));
            are_known.then_some(())
        }
    })
}

/// Decodes indices of values in a dictionary.
pub(super) fn indices(
    bytes: &[u8],
    values: usize,
    each: impl FnMut(Run<'_>) -> Option<()>,
) -> Option<()> {
    if values == 0 {
        return Some(());
    }
    let (width, bytes) = bytes.split_first()?;
    runs(bytes, u32::from(*width), values, each)
}

/// Cuts differences that were added up to the bits of the type. Returns `None` for a type that is
/// not stored as differences.
fn narrow(numbers: &mut [i64], values: Values) -> Option<()> {
    match values {
        Values::Int32 => {
            for number in numbers {
                *number = i64::from(*number as i32);
            }
        }
        Values::Uint32 => {
            for number in numbers {
                *number = (*number as i32).cast_unsigned().into();
            }
        }
        Values::Int64 | Values::Uint64 | Values::Time => {}
        Values::Boolean | Values::Text | Values::Bytes => return None,
    }
    Some(())
}

fn plain_numbers(mut bytes: &[u8], count: usize, values: Values, out: &mut Vec<i64>) -> Option<()> {
    match values {
        Values::Int32 => {
            for number in take(&mut bytes, count.checked_mul(4)?)?.as_chunks().0 {
                out.push(i32::from_le_bytes(*number).into());
            }
        }
        Values::Uint32 => {
            for number in take(&mut bytes, count.checked_mul(4)?)?.as_chunks().0 {
                out.push(u32::from_le_bytes(*number).into());
            }
        }
        Values::Int64 | Values::Uint64 | Values::Time => {
            for number in take(&mut bytes, count.checked_mul(8)?)?.as_chunks().0 {
                out.push(i64::from_le_bytes(*number));
            }
        }
        Values::Boolean => {
            let packed = take(&mut bytes, count.div_ceil(8))?;
            out.extend((0..count).map(|at| i64::from(packed[at / 8] >> (at % 8) & 1)));
        }
        Values::Text | Values::Bytes => return None,
    }
    // More bytes than values: the count or the encoding is wrong.
    bytes.is_empty().then_some(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::texts::equal_texts;
    use crate::read::{Chunk, Decoder, Snapshot};
    use crate::schema::{COLUMNS, Column, Values};
    use crate::{Attributes, Contents, Entry, Info, TreeBuilder, WriteOptions};
    use parquet::column::reader::{ColumnReader, ColumnReaderImpl};
    use parquet::data_type::DataType;
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use proptest::prelude::*;
    use ringwalk::{FileType, Timestamp};
    use std::fs::File;

    /// Writes a tree of files whose cells differ in every way: few and many values, nulls, large
    /// steps.
    fn snapshot(seed: u64, files: u32) -> (tempfile::TempDir, Snapshot) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s");
        let options = WriteOptions {
            contents: Contents::ALL,
            ..WriteOptions::default()
        };
        let mut tree = TreeBuilder::new(options);
        tree.begin_root(b"/r", &Entry::new(b"", FileType::Directory))
            .unwrap();
        let mut state = seed;
        let mut random = move || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 16
        };
        for number in 0..files {
            let mut name = format!("{number:08x}").into_bytes();
            if random().is_multiple_of(7) {
                name.push(0xff);
            }
            name.resize(8 + (random() % 40) as usize, b'x');
            let kinds = [FileType::Regular, FileType::Symlink, FileType::Unknown];
            let kind = kinds[(random() % 3) as usize];
            let mut entry = Entry::new(&name, kind);
            let some = |value: u64| (!value.is_multiple_of(5)).then_some(value);
            let time = |value: u64| Timestamp {
                secs: value.cast_signed() >> 20,
                nanos: (value % 1_000_000_000) as u32,
            };
            entry.attributes = Attributes {
                ino: some(random()),
                nlink: Some(if random().is_multiple_of(9) {
                    u32::MAX
                } else {
                    1
                }),
                uid: Some((random() % 3) as u32),
                mode: Some((random() % 0o10000) as u16),
                size: some(random() % 100),
                alloc: some(random()),
                mtime: some(random()).map(time),
                ctime: Some(time(random())),
                hash: some(random()).map(|number| [number as u8; 32]),
                ..Attributes::default()
            };
            entry.target = (kind == FileType::Symlink).then_some(&b"some/where"[..]);
            tree.file(&entry).unwrap();
        }
        tree.end_directory().unwrap();
        tree.finish(Info::default(), &path).unwrap();
        let snapshot = Snapshot::open(&path).unwrap();
        (folder, snapshot)
    }

    /// One cell as the parquet crate reads it.
    #[derive(Clone, Debug, PartialEq)]
    enum Cell {
        Null,
        Number(i64),
        Bytes(Vec<u8>),
    }

    /// Returns the cells of a column of a row group as the readers of the parquet crate read them.
    fn oracle(snapshot: &Snapshot, column: Column, group: usize) -> Vec<Cell> {
        fn read<T: DataType>(
            mut reader: ColumnReaderImpl<T>,
            rows: usize,
            is_required: bool,
            cell: impl Fn(&T::T) -> Cell,
        ) -> Vec<Cell> {
            let (mut values, mut levels) = (Vec::new(), Vec::new());
            let mut read = 0;
            while read < rows {
                let levels = (!is_required).then_some(&mut levels);
                let (more, _, _) = reader
                    .read_records(rows - read, levels, None, &mut values)
                    .unwrap();
                assert!(more > 0);
                read += more;
            }
            let mut values = values.iter();
            let has = |row: usize| is_required || levels[row] > 0;
            let cells = (0..rows).map(|row| {
                if has(row) {
                    cell(values.next().unwrap())
                } else {
                    Cell::Null
                }
            });
            cells.collect()
        }
        let facts = column.facts();
        let file = File::open(snapshot.name()).unwrap();
        let file = SerializedFileReader::new(file).unwrap();
        let group = file.get_row_group(group).unwrap();
        let leaf = snapshot.leaves[column as usize].unwrap();
        let rows = usize::try_from(group.metadata().num_rows()).unwrap();
        let required = facts.required;
        match group.get_column_reader(leaf).unwrap() {
            ColumnReader::BoolColumnReader(reader) => read(reader, rows, required, |value| {
                Cell::Number((*value).into())
            }),
            ColumnReader::Int32ColumnReader(reader) => read(reader, rows, required, |value| {
                let is_unsigned = facts.values == Values::Uint32;
                Cell::Number(if is_unsigned {
                    value.cast_unsigned().into()
                } else {
                    (*value).into()
                })
            }),
            ColumnReader::Int64ColumnReader(reader) => {
                read(reader, rows, required, |value| Cell::Number(*value))
            }
            ColumnReader::ByteArrayColumnReader(reader) => read(reader, rows, required, |value| {
                Cell::Bytes(value.data().to_vec())
            }),
            _ => panic!("{column:?}"),
        }
    }

    fn cell(chunk: &Chunk, column: Column, at: usize) -> Cell {
        let text = matches!(column.facts().values, Values::Text | Values::Bytes);
        let number = || chunk.integer(column, at).map(Cell::Number);
        let bytes = || Some(Cell::Bytes(chunk.bytes(column, at)?.to_vec()));
        let cell = if text { bytes() } else { number() };
        cell.unwrap_or(Cell::Null)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 6,
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn scans_have_the_cells_that_the_parquet_crate_reads(
            seed: u64,
            files in 1_u32..20_000,
            begin in 0_u64..9000,
        ) {
            let (_folder, snapshot) = snapshot(seed, files);
            let columns: Vec<_> = Column::all().collect();
            let expected: Vec<_> = columns.iter().map(|column| oracle(&snapshot, *column, 0)).collect();
            let begin = begin.min(snapshot.rows() - 1);
            let mut row = begin as usize;
            let mut scan = snapshot.scan(begin..snapshot.rows(), &columns).unwrap();
            while let Some(chunk) = scan.next_chunk().unwrap() {
                prop_assert_eq!(chunk.first_row(), row as u64);
                for (column, expected) in columns.iter().zip(&expected) {
                    for at in 0..chunk.len() {
                        prop_assert_eq!(&cell(chunk, *column, at), &expected[row + at], "{:?}", column);
                    }
                    let numbers = chunk.integers(*column);
                    prop_assert!(numbers.is_empty() || numbers.len() == chunk.len());
                }
                row += chunk.len();
            }
            prop_assert_eq!(row as u64, snapshot.rows());
        }

        #[test]
        fn texts_are_found_as_by_decoding_them(
            seed: u64,
            files in 1_u32..20_000,
            row: u64,
            length in 0_usize..60,
        ) {
            let (_folder, snapshot) = snapshot(seed, files);
            let page = snapshot.page_of(row % snapshot.rows());
            let mut scan = snapshot.scan(page.clone(), &[Column::Path]).unwrap();
            let chunk = scan.next_chunk().unwrap().unwrap();
            let texts: Vec<_> = (0..chunk.len())
                .map(|at| chunk.bytes(Column::Path, at).unwrap())
                .collect();
            let some = texts[row as usize % texts.len()];
            let longer = [some, b"x"].concat();
            for wanted in [some, &some[..length.min(some.len())], &longer, b"", b"~"] {
                let equal = page.clone().zip(&texts).filter(|(_, text)| **text == wanted);
                let expected: Vec<_> = equal.map(|(row, _)| row).collect();
                let mut decoder = Decoder::default();
                let found = snapshot.rows_with_text(Column::Path, &page, wanted, &mut decoder);
                prop_assert_eq!(found, Some(expected), "{}", wanted.escape_ascii());
            }
        }

        #[test]
        fn any_bytes_are_decoded_without_a_panic(
            bytes in prop::collection::vec(any::<u8>(), 0..200),
            rows in 0_usize..100,
            is_required: bool,
            kind in 0_usize..5,
            form in 0_usize..4,
        ) {
            let values = [
                Values::Boolean, Values::Int32, Values::Uint32, Values::Int64, Values::Text,
            ][kind];
            let encoding = [
                Encoding::Plain, Encoding::RleDictionary, Encoding::DeltaBinaryPacked, Encoding::DeltaByteArray,
            ][form];
            let known = dictionary(&bytes, 3, values);
            let given = PageBytes { bytes: &bytes, encoding, values, rows, is_required };
            let mut cells = Cells::default();
            if page(given, known.as_ref(), &mut Scratch::default(), &mut cells).is_some() {
                let found = if values == Values::Text { cells.ends.len() } else { cells.numbers.len() };
                prop_assert_eq!(found, rows);
            }
            let wanted = &bytes[bytes.len() / 2..];
            equal_texts(given, wanted, &mut Scratch::default(), |at| assert!(at < rows));
        }
    }

    #[test]
    fn every_column_is_stored_in_a_known_way() {
        let (_folder, snapshot) = snapshot(1, 9000);
        for facts in &COLUMNS {
            let place = snapshot.places[0][facts.column as usize].as_ref();
            let mut decoder = Decoder::default();
            let mut cells = Cells::default();
            let found = snapshot.decode_column(
                facts.column,
                place.unwrap(),
                0,
                &(0..8192),
                &mut decoder,
                &mut cells,
            );
            assert!(found.is_ok(), "{}", facts.name);
        }
    }
}
