//! Where the values of a file are: the numbers of the footer and of the page index, checked.
//!
//! Whatever a footer says, a [`Layout`] has ranges that lie within the file and before the footer,
//! and as many rows as its pages can have. So nothing behind this relies on a number of the file.

use super::error::Reason;
use super::footer::{Footer, Leaf, StoredColumn};
use super::thrift::{Kind, Reader};
use crate::columnar;
use crate::schema::{COLUMN_COUNT, LONGEST_PATH, PAGE_ROWS, Shape};
use std::ops::Range;

/// The length of what is in front of all pages.
const BEGIN: u64 = columnar::MAGIC.len() as u64;
/// The fewest bytes of a page in the list of the pages of a column: three fields and an end.
const LEAST_LOCATION: u64 = 7;
/// The most bytes of a page in that list: a place, the size of its text, and all headers.
const MOST_LOCATION: u64 = 64;
/// The most bytes of the statistics of a page: two paths and some numbers.
const MOST_STATISTICS: u64 = 2 * (4 * LONGEST_PATH as u64 + 64);
/// The most rows of a row group. Ringwalk writes 131 072.
const MOST_ROWS: u64 = 1 << 31;

/// The numbers of compressions in `parquet.thrift`.
const UNCOMPRESSED: i64 = 0;
const ZSTD: i64 = columnar::ZSTD as i64;

/// Where the values of a file are.
#[derive(Debug)]
pub(super) struct Layout {
    /// The index in the file of each column, in the order of `COLUMNS`.
    pub(super) leaves: [Option<usize>; COLUMN_COUNT],
    /// The rows of each row group. None is empty.
    pub(super) groups: Vec<Range<u64>>,
    /// The columns of each row group; `None` for those that the file lacks.
    pub(super) places: Vec<[Option<Place>; COLUMN_COUNT]>,
}

/// Where a column of a row group is.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// Its pages, the dictionary first if there is one.
    pages: Range<u64>,
    /// The list of its pages.
    pub(super) index: Range<u64>,
    /// The least and the largest value of each page, if the file has them.
    pub(super) statistics: Option<Range<u64>>,
    pub(super) is_compressed: bool,
    /// True if a row cannot be null, so that no marks of nulls are stored.
    pub(super) is_required: bool,
    /// True if all rows are null.
    pub(super) is_all_null: bool,
}

/// Where the pages of a column of a row group are. Each has [`PAGE_ROWS`] rows, except the last.
#[derive(Debug)]
pub(super) struct Pages {
    pub(super) dictionary: Option<Range<u64>>,
    pub(super) data: Vec<Range<u64>>,
}

impl Layout {
    /// Checks the numbers of a footer.
    pub(super) fn of(footer: &Footer, shape: Shape) -> Result<Self, Reason> {
        let leaves = leaves(footer, shape)?;
        let (mut groups, mut places) = (Vec::new(), Vec::new());
        let mut begin = 0_u64;
        for (number, group) in footer.groups.iter().enumerate() {
            let damaged = |what: &str| Reason::Damaged(format!("row group {number}: {what}"));
            let rows = u64::try_from(group.rows).ok();
            let rows = rows.filter(|rows| (1..=MOST_ROWS).contains(rows));
            let rows = rows.ok_or_else(|| damaged("its number of rows is wrong"))?;
            if group.columns.len() != footer.leaves.len() {
                return Err(damaged("its number of columns differs from the schema"));
            }
            let mut columns = [const { None }; COLUMN_COUNT];
            for facts in shape.columns() {
                let Some(leaf) = leaves[facts.column as usize] else {
                    continue;
                };
                let place = place(footer, &footer.leaves[leaf], &group.columns[leaf], rows);
                let place = place.map_err(|what| {
                    let name = facts.name;
                    damaged(&format!("column {name}: {what}"))
                })?;
                columns[facts.column as usize] = Some(place);
            }
            places.push(columns);
            // At most 2^32 row groups fit into a footer.
            groups.push(begin..begin + rows);
            begin += rows;
        }
        if i64::try_from(begin) != Ok(footer.rows) {
            let what = "its number of rows differs from its row groups";
            return Err(Reason::Damaged(what.to_owned()));
        }
        Ok(Self {
            leaves,
            groups,
            places,
        })
    }
}

/// Returns the index in the file of each column.
fn leaves(footer: &Footer, shape: Shape) -> Result<[Option<usize>; COLUMN_COUNT], Reason> {
    let mut leaves = [None; COLUMN_COUNT];
    for facts in shape.columns() {
        let name = facts.name;
        let is_named = |leaf: &Leaf| leaf.is_at(&[name]);
        let Some(index) = footer.leaves.iter().position(is_named) else {
            if facts.required {
                return Err(Reason::Damaged(format!("it has no column {name}")));
            }
            continue;
        };
        let leaf = &footer.leaves[index];
        let may_be_null = leaf.repetitions == [Leaf::OPTIONAL] && !facts.required;
        if leaf.physical != facts.physical() as i64
            || !(may_be_null || leaf.repetitions == [Leaf::REQUIRED])
        {
            let why = format!("its column {name} has another type");
            return Err(Reason::Damaged(why));
        }
        leaves[facts.column as usize] = Some(index);
    }
    Ok(leaves)
}

/// Returns the number of pages of so many rows.
fn pages_of(rows: u64) -> u64 {
    rows.div_ceil(PAGE_ROWS as u64)
}

/// Checks the numbers of a column of a row group. Returns what is wrong.
fn place(
    footer: &Footer,
    leaf: &Leaf,
    column: &StoredColumn,
    rows: u64,
) -> Result<Place, &'static str> {
    let within = |begin: i64, length: i64| {
        let (begin, length) = (u64::try_from(begin).ok()?, u64::try_from(length).ok()?);
        let end = begin.checked_add(length)?;
        (begin >= BEGIN && end <= footer.begin).then_some(begin..end)
    };
    if column.is_elsewhere {
        return Err("its values are in another file");
    }
    if column.physical != leaf.physical {
        return Err("its type differs from the schema");
    }
    if !matches!(column.codec, UNCOMPRESSED | ZSTD) {
        return Err("it is not compressed by zstd");
    }
    if u64::try_from(column.values) != Ok(rows) {
        return Err("its number of values differs from its number of rows");
    }
    let nulls = column.nulls.map_or(Ok(0), u64::try_from);
    let nulls = nulls.ok().filter(|nulls| *nulls <= rows);
    let nulls = nulls.ok_or("its number of nulls is wrong")?;
    let begin = column.dictionary.unwrap_or(column.data);
    if begin > column.data {
        return Err("its dictionary lies behind its values");
    }
    let pages = within(begin, column.length);
    let pages = pages.ok_or("its pages do not lie within the file")?;
    let (begin, length) = column.index.ok_or("it has no list of its pages")?;
    let index = within(begin, length).ok_or("the list of its pages is not within the file")?;
    let least = pages_of(rows) * LEAST_LOCATION;
    let most = (pages_of(rows) + 1) * MOST_LOCATION;
    if !(least..=most).contains(&(index.end - index.start)) {
        return Err("the list of its pages has a wrong length");
    }
    let statistics = column.statistics;
    let statistics = statistics.and_then(|(begin, length)| within(begin, length));
    let most = (pages_of(rows) + 1) * MOST_STATISTICS;
    let is_required = leaf.repetitions == [Leaf::REQUIRED];
    Ok(Place {
        pages,
        index,
        statistics: statistics.filter(|range| range.end - range.start <= most),
        is_compressed: column.codec == ZSTD,
        is_required,
        is_all_null: !is_required && nulls == rows,
    })
}

impl Place {
    /// Creates the place of a column whose pages are here.
    pub(super) fn of_pages(pages: Range<u64>, is_compressed: bool) -> Self {
        Self {
            index: pages.clone(),
            pages,
            statistics: None,
            is_compressed,
            is_required: true,
            is_all_null: false,
        }
    }

    /// Decodes and checks the list of the pages of so many rows.
    pub(super) fn pages(&self, rows: u64, list: &[u8]) -> Result<Pages, Reason> {
        let damaged = |what: &str| Reason::Damaged(what.to_owned());
        let locations = locations(list);
        let locations = locations.ok_or_else(|| damaged("the list of its pages is malformed"))?;
        if locations.len() as u64 != pages_of(rows) {
            return Err(damaged("it has another number of pages"));
        }
        let (mut data, mut end) = (Vec::new(), self.pages.start);
        let mut dictionary = None;
        for (first_row, location) in (0_i64..).step_by(PAGE_ROWS).zip(&locations) {
            if location.first_row != first_row {
                return Err(damaged("one of its pages begins with another row"));
            }
            let begin = u64::try_from(location.offset).ok();
            let begin = begin.filter(|begin| *begin >= end);
            let length = u64::try_from(location.length).ok();
            let page = begin.zip(length).and_then(|(begin, length)| {
                let end = begin.checked_add(length)?;
                (end <= self.pages.end).then_some(begin..end)
            });
            let page = page.ok_or_else(|| damaged("one of its pages lies somewhere else"))?;
            if data.is_empty() && page.start > self.pages.start {
                dictionary = Some(self.pages.start..page.start);
            }
            end = page.end;
            data.push(page);
        }
        Ok(Pages { dictionary, data })
    }
}

/// Returns the place of a column that may have several values in a row, its dictionary and its
/// pages. They lie within the file and before the footer.
pub(super) fn repeated(
    footer: &Footer,
    column: &StoredColumn,
    read: impl FnOnce(Range<u64>) -> Result<Vec<u8>, Reason>,
) -> Result<(Place, Pages), Reason> {
    let damaged = |what: &str| Reason::Damaged(what.to_owned());
    let range = |begin: i64, length: i64| {
        let (begin, length) = (u64::try_from(begin).ok()?, u64::try_from(length).ok()?);
        let end = begin.checked_add(length)?;
        (begin >= BEGIN && end <= footer.begin).then_some(begin..end)
    };
    if column.is_elsewhere || !matches!(column.codec, UNCOMPRESSED | ZSTD) {
        return Err(damaged("it is not compressed by zstd"));
    }
    let index = column
        .index
        .and_then(|(begin, length)| range(begin, length));
    let index = index.ok_or_else(|| damaged("it has no list of its pages"))?;
    let list = locations(&read(index)?);
    let list = list.ok_or_else(|| damaged("the list of its pages is malformed"))?;
    let begin = column.dictionary.unwrap_or(column.data);
    let all = range(begin, column.length);
    let all = all.ok_or_else(|| damaged("its pages do not lie within the file"))?;
    let (mut data, mut end) = (Vec::new(), all.start);
    let mut dictionary = None;
    for location in list {
        let page = range(location.offset, location.length);
        let page = page.filter(|page| page.start >= end && page.end <= all.end);
        let page = page.ok_or_else(|| damaged("one of its pages lies somewhere else"))?;
        if data.is_empty() && page.start > all.start {
            dictionary = Some(all.start..page.start);
        }
        end = page.end;
        data.push(page);
    }
    let place = Place::of_pages(all, column.codec == ZSTD);
    Ok((place, Pages { dictionary, data }))
}

/// An element of the list of pages, `PageLocation` in `parquet.thrift`.
struct Location {
    offset: i64,
    length: i64,
    first_row: i64,
}

/// Decodes a list of pages, `OffsetIndex` in `parquet.thrift`.
fn locations(bytes: &[u8]) -> Option<Vec<Location>> {
    let mut locations = None;
    Reader::new(bytes).fields(|reader, number, kind| {
        match number {
            1 => locations = Some(reader.list(kind, Location::read)?),
            _ => reader.skip(kind)?,
        }
        Some(())
    })?;
    locations
}

/// Decodes the statistics of pages, `ColumnIndex` in `parquet.thrift`. Returns the least and the
/// largest value of each page.
pub(super) fn bounds(bytes: &[u8]) -> Option<Vec<(&[u8], &[u8])>> {
    let (mut least, mut most) = (None, None);
    Reader::new(bytes).fields(|reader, number, kind| {
        match number {
            2 => least = Some(reader.list(kind, Reader::binary)?),
            3 => most = Some(reader.list(kind, Reader::binary)?),
            _ => reader.skip(kind)?,
        }
        Some(())
    })?;
    Some(least?.into_iter().zip(most?).collect())
}

impl Location {
    fn read(reader: &mut Reader<'_>, kind: Kind) -> Option<Self> {
        let (mut offset, mut length, mut first_row) = (None, None, None);
        reader.structure(kind, |reader, number, kind| {
            match number {
                1 => offset = Some(reader.integer(kind)?),
                2 => length = Some(reader.integer(kind)?),
                3 => first_row = Some(reader.integer(kind)?),
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        Some(Self {
            offset: offset?,
            length: length?,
            first_row: first_row?,
        })
    }
}

#[cfg(test)]
mod tests;
