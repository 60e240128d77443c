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
mod tests {
    use super::*;
    use crate::read::footer::StoredGroup;
    use crate::schema::COLUMNS;

    /// A footer with two row groups, as a snapshot has them.
    fn footer() -> Footer {
        let leaves = COLUMNS.iter().map(|facts| Leaf {
            path: vec![facts.name.into()],
            physical: facts.physical() as i64,
            repetitions: vec![i64::from(!facts.required)],
        });
        let group = |rows| StoredGroup {
            rows,
            columns: COLUMNS
                .iter()
                .map(|facts| StoredColumn {
                    physical: facts.physical() as i64,
                    codec: ZSTD,
                    values: rows,
                    nulls: Some(0),
                    length: 100,
                    data: 14,
                    dictionary: Some(4),
                    index: Some((900, 20)),
                    ..StoredColumn::default()
                })
                .collect(),
        };
        Footer {
            begin: 1000,
            rows: 16_384 + 10,
            leaves: leaves.collect(),
            groups: vec![group(16_384), group(10)],
            ..Footer::default()
        }
    }

    fn why(footer: &Footer) -> String {
        match Layout::of(footer, Shape::Snapshot) {
            Err(Reason::Damaged(what)) => what,
            other => panic!("{other:?}"),
        }
    }

    /// Changes the column `path` of the second row group.
    fn changed(change: impl FnOnce(&mut StoredColumn)) -> String {
        let mut footer = footer();
        change(&mut footer.groups[1].columns[4]);
        why(&footer)
    }

    #[test]
    fn numbers_that_are_right() {
        let layout = Layout::of(&footer(), Shape::Snapshot).unwrap();
        assert_eq!(layout.groups, [0..16_384, 16_384..16_394]);
        let place = layout.places[1][4].as_ref().unwrap();
        assert_eq!((&place.pages, &place.index), (&(4..104), &(900..920)));
        assert!(!place.is_all_null && place.is_required && place.is_compressed);
    }

    #[test]
    fn numbers_of_columns_that_are_wrong() {
        for wrong in [-1, 0, 3, 991, i64::MAX, i64::MIN] {
            let why = changed(|column| (column.dictionary, column.data) = (None, wrong));
            assert_eq!(
                why, "row group 1: column path: its pages do not lie within the file",
                "{wrong}"
            );
            let why = changed(|column| column.index = Some((wrong, 20)));
            assert!(why.ends_with("not within the file"), "{wrong}: {why}");
        }
        for wrong in [-1, 997, i64::MAX, i64::MIN] {
            let why = changed(|column| column.length = wrong);
            assert!(why.ends_with("within the file"), "{wrong}: {why}");
            let why = changed(|column| column.index = Some((900, wrong)));
            assert!(why.ends_with("within the file"), "{wrong}: {why}");
        }
        for wrong in [-1, 9, 11, i64::MAX, i64::MIN] {
            let why = changed(|column| column.values = wrong);
            assert!(why.ends_with("number of values differs from its number of rows"));
        }
        for wrong in [-1, 11, i64::MAX] {
            let why = changed(|column| column.nulls = Some(wrong));
            assert!(why.ends_with("its number of nulls is wrong"));
        }
        for (wrong, expected) in [
            (
                changed(|column| column.dictionary = Some(15)),
                "behind its values",
            ),
            (
                changed(|column| column.index = None),
                "no list of its pages",
            ),
            (
                changed(|column| column.index = Some((900, 6))),
                "wrong length",
            ),
            (
                changed(|column| column.index = Some((500, 400))),
                "wrong length",
            ),
            (changed(|column| column.codec = 1), "not compressed by zstd"),
            (
                changed(|column| column.physical = 2),
                "differs from the schema",
            ),
            (changed(|column| column.is_elsewhere = true), "another file"),
        ] {
            assert!(wrong.contains(expected), "{wrong}");
        }
    }

    #[test]
    fn numbers_of_rows_that_are_wrong() {
        for wrong in [0, -1, 1 << 40, i64::MAX, i64::MIN] {
            let mut footer = footer();
            footer.groups[0].rows = wrong;
            assert_eq!(why(&footer), "row group 0: its number of rows is wrong");
        }
        let mut footer = footer();
        footer.rows -= 1;
        assert!(why(&footer).contains("differs from its row groups"));
    }

    #[test]
    fn rows_that_the_lists_of_pages_cannot_have() {
        let mut footer = footer();
        let rows = 8192 * 3 + 1;
        footer.groups[1].rows = rows;
        for column in &mut footer.groups[1].columns {
            column.values = rows;
        }
        assert!(why(&footer).contains("column id: the list of its pages has a wrong length"));
    }

    #[test]
    fn schemas_that_are_wrong() {
        let changed = |change: &dyn Fn(&mut Footer)| {
            let mut footer = footer();
            change(&mut footer);
            why(&footer)
        };
        for (found, expected) in [
            (
                changed(&|footer| footer.leaves[0].path.clear()),
                "no column id",
            ),
            (
                changed(&|footer| footer.leaves[0].physical = 1),
                "column id has another type",
            ),
            (
                // Nulls in a column that has none.
                changed(&|footer| footer.leaves[1].repetitions = vec![1]),
                "column root has another type",
            ),
            (
                // A list of values in each row.
                changed(&|footer| footer.leaves[2].repetitions = vec![2]),
                "column dir has another type",
            ),
            (
                changed(&|footer| footer.groups[0].columns.truncate(3)),
                "row group 0: its number of columns",
            ),
        ] {
            assert!(found.contains(expected), "{found}");
        }
    }

    /// Returns a list of pages in thrift.
    fn list(locations: &[(i64, i64, i64)]) -> Vec<u8> {
        let mut bytes = vec![0x19, 0xfc];
        let varint = |mut number: u64, bytes: &mut Vec<u8>| {
            while number >= 0x80 {
                bytes.push(u8::try_from(number & 0x7f | 0x80).unwrap());
                number >>= 7;
            }
            bytes.push(u8::try_from(number).unwrap());
        };
        varint(locations.len() as u64, &mut bytes);
        for (offset, length, first_row) in locations {
            for (kind, number) in [(0x16, offset), (0x15, length), (0x16, first_row)] {
                bytes.push(kind);
                varint((number << 1 ^ number >> 63).cast_unsigned(), &mut bytes);
            }
            bytes.push(0);
        }
        bytes.push(0);
        bytes
    }

    #[test]
    fn lists_of_pages() {
        let layout = Layout::of(&footer(), Shape::Snapshot).unwrap();
        let place = layout.places[0][4].as_ref().unwrap();
        let pages = |locations: &[(i64, i64, i64)]| place.pages(16_384, &list(locations));
        let found = pages(&[(14, 50, 0), (64, 40, 8192)]).unwrap();
        assert_eq!(found.dictionary, Some(4..14));
        assert_eq!(found.data, [14..64, 64..104]);
        let found = pages(&[(4, 50, 0), (64, 40, 8192)]).unwrap();
        assert_eq!(found.dictionary, None);
        for wrong in [
            &[][..],
            &[(14, 50, 0)],
            &[(14, 50, 0), (64, 40, 8192), (64, 40, 16_384)],
            &[(14, 50, 0), (64, 40, 8191)],
            &[(14, 50, 1), (64, 40, 8192)],
            &[(64, 40, 0), (14, 50, 8192)],
            &[(14, 51, 0), (64, 40, 8192)],
            &[(14, 50, 0), (64, 41, 8192)],
            &[(3, 50, 0), (64, 40, 8192)],
            &[(-14, 50, 0), (64, 40, 8192)],
            &[(14, -1, 0), (64, 40, 8192)],
            &[(14, 50, 0), (i64::MAX, i64::MAX, 8192)],
            &[(14, 50, 0), (64, i64::MAX, 8192)],
        ] {
            assert!(matches!(pages(wrong), Err(Reason::Damaged(_))), "{wrong:?}");
        }
        let whole = list(&[(14, 50, 0), (64, 40, 8192)]);
        for length in 0..whole.len() {
            assert!(place.pages(16_384, &whole[..length]).is_err());
        }
    }
}
