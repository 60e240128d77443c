//! The footer as it is stored (`FileMetaData` in `parquet.thrift` of the Parquet format).
//!
//! Its numbers are read from the file. `layout.rs` checks them.

use super::error::Reason;
use super::file::SharedFile;
use super::thrift::{Kind, Reader};
use crate::columnar::MAGIC;
use crate::seal;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The last bytes of a file whose footer is encrypted.
const ENCRYPTED: &[u8; 4] = b"PARE";
/// The bytes at the end: the length of the footer in 4 bytes, and the magic number.
pub(crate) const TAIL: u64 = 8;

/// The footer of a Parquet file.
#[derive(Debug, Default)]
pub(super) struct Footer {
    /// Where it begins in the file.
    pub(super) begin: u64,
    pub(super) rows: i64,
    /// The columns with values, in the order of the file.
    pub(super) leaves: Vec<Leaf>,
    pub(super) groups: Vec<StoredGroup>,
    pub(super) pairs: BTreeMap<String, String>,
}

/// A column with values.
#[derive(Debug)]
pub(super) struct Leaf {
    /// The names of the groups that it lies in, and its own. Empty where they are more than those
    /// of any column of a snapshot, so that paths take little memory.
    pub(super) path: Vec<Arc<str>>,
    /// The number of its type.
    pub(super) physical: i64,
    /// The numbers of the repetitions of the path.
    pub(super) repetitions: Vec<i64>,
}

impl Leaf {
    /// The repetition of a column without nulls.
    pub(super) const REQUIRED: i64 = 0;
    /// The repetition of a column with nulls.
    pub(super) const OPTIONAL: i64 = 1;
    /// The repetition of a group that occurs any number of times.
    pub(super) const REPEATED: i64 = 2;

    /// Returns true if the column has this path.
    pub(super) fn is_at(&self, path: &[&str]) -> bool {
        self.path.iter().map(AsRef::as_ref).eq(path.iter().copied())
    }
}

/// The length of the longest path of a column of a snapshot.
const DEEPEST: usize = 3;

/// A row group.
#[derive(Debug)]
pub(super) struct StoredGroup {
    pub(super) rows: i64,
    pub(super) columns: Vec<StoredColumn>,
}

/// A column of a row group.
#[derive(Debug, Default)]
pub(super) struct StoredColumn {
    /// True if another file holds its values.
    pub(super) is_elsewhere: bool,
    pub(super) physical: i64,
    pub(super) codec: i64,
    /// The number of values, nulls included.
    pub(super) values: i64,
    pub(super) nulls: Option<i64>,
    /// The bytes of all pages.
    pub(super) length: i64,
    pub(super) data: i64,
    pub(super) dictionary: Option<i64>,
    /// Where the list of its pages is, and the length of that.
    pub(super) index: Option<(i64, i64)>,
    /// Where the statistics of its pages are, and the length of that.
    pub(super) statistics: Option<(i64, i64)>,
}

impl Footer {
    /// Reads the footer of a file.
    pub(super) fn read(file: &SharedFile) -> Result<Self, Reason> {
        let ends = || Reason::NotASnapshot("it does not end like a Parquet file".to_owned());
        let mut bytes = Vec::new();
        let tail = file.len().checked_sub(TAIL).ok_or_else(ends)?;
        file.read(tail..file.len(), &mut bytes)?;
        let (length, magic) = bytes.split_at(4);
        if magic == ENCRYPTED {
            return Err(Reason::NotASnapshot("its footer is encrypted".to_owned()));
        }
        if magic != MAGIC {
            return Err(ends());
        }
        let length = length
            .iter()
            .rev()
            .fold(0, |sum, byte| sum << 8 | u64::from(*byte));
        let begin = tail.checked_sub(length);
        let begin = begin.filter(|begin| *begin >= MAGIC.len() as u64);
        let Some(begin) = begin else {
            let size = file.len();
            return Err(Reason::Damaged(format!(
                "its footer is said to have {length} bytes, and the file has {size}"
            )));
        };
        file.read(0..MAGIC.len() as u64, &mut bytes)?;
        if bytes != MAGIC {
            let why = "it does not begin like a Parquet file";
            return Err(Reason::NotASnapshot(why.to_owned()));
        }
        file.read(begin..tail, &mut bytes)?;
        if !file.ignores_checksums && !seal::is_intact(&bytes) {
            let what = "its footer has another checksum than it says; bytes of it have changed, or \
                        another program has written it anew";
            return Err(Reason::Damaged(what.to_owned()));
        }
        let footer = Self::decode(&bytes);
        let footer = footer.ok_or_else(|| Reason::Damaged("its footer is malformed".to_owned()))?;
        Ok(Self { begin, ..footer })
    }

    /// Decodes a footer. Returns `None` if it is malformed, or lacks a field that it must have.
    fn decode(bytes: &[u8]) -> Option<Self> {
        let (mut rows, mut leaves, mut groups) = (None, None, None);
        let mut pairs = BTreeMap::new();
        Reader::new(bytes).fields(|reader, number, kind| {
            match number {
                2 => leaves = Some(leaves_of(reader.list(kind, Element::read)?)?),
                3 => rows = Some(reader.integer(kind)?),
                4 => groups = Some(reader.list(kind, StoredGroup::read)?),
                5 => {
                    let with_value = |(key, value): (_, Option<_>)| Some((key, value?));
                    let list = reader.list(kind, pair)?;
                    pairs.extend(list.into_iter().filter_map(with_value));
                }
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        Some(Self {
            begin: 0,
            rows: rows?,
            leaves: leaves?,
            groups: groups?,
            pairs,
        })
    }
}

/// Reads a key with its value, if it has one.
fn pair(reader: &mut Reader<'_>, kind: Kind) -> Option<(String, Option<String>)> {
    let (mut key, mut value) = (None, None);
    reader.structure(kind, |reader, number, kind| {
        match number {
            1 => key = Some(reader.text(kind)?.to_owned()),
            2 => value = Some(reader.text(kind)?.to_owned()),
            _ => reader.skip(kind)?,
        }
        Some(())
    })?;
    Some((key?, value))
}

/// A column or a group of columns, as the schema lists them: a group before its columns.
struct Element {
    name: String,
    physical: Option<i64>,
    repetition: Option<i64>,
    children: i64,
}

impl Element {
    fn read(reader: &mut Reader<'_>, kind: Kind) -> Option<Self> {
        let (mut name, mut physical, mut repetition, mut children) = (None, None, None, 0);
        reader.structure(kind, |reader, number, kind| {
            match number {
                1 => physical = Some(reader.integer(kind)?),
                3 => repetition = Some(reader.integer(kind)?),
                4 => name = Some(reader.text(kind)?.to_owned()),
                5 => children = reader.integer(kind)?,
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        Some(Self {
            name: name?,
            physical,
            repetition,
            children,
        })
    }
}

/// Returns the columns with values of a schema, whose first element is the file.
fn leaves_of(elements: Vec<Element>) -> Option<Vec<Leaf>> {
    let mut elements = elements.into_iter();
    let root = elements.next().filter(|root| root.children >= 0)?;
    // The columns that are still to come of each open group.
    let mut open = vec![root.children];
    let (mut path, mut repetitions) = (Vec::new(), Vec::new());
    let mut leaves = Vec::new();
    for element in elements {
        while open.last() == Some(&0) {
            open.pop();
        }
        *open.last_mut()? -= 1;
        path.truncate(open.len() - 1);
        repetitions.truncate(open.len() - 1);
        // The paths share the name, however long it is.
        path.push(Arc::from(element.name));
        repetitions.push(element.repetition?);
        match element.children {
            0 => {
                let depth = if path.len() > DEEPEST { 0 } else { path.len() };
                leaves.push(Leaf {
                    path: path[..depth].to_vec(),
                    physical: element.physical?,
                    repetitions: repetitions[..depth].to_vec(),
                });
            }
            1.. => open.push(element.children),
            _ => return None,
        }
    }
    open.iter().all(|left| *left == 0).then_some(leaves)
}

impl StoredGroup {
    fn read(reader: &mut Reader<'_>, kind: Kind) -> Option<Self> {
        let (mut rows, mut columns) = (None, None);
        reader.structure(kind, |reader, number, kind| {
            match number {
                1 => columns = Some(reader.list(kind, StoredColumn::read)?),
                3 => rows = Some(reader.integer(kind)?),
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        Some(Self {
            rows: rows?,
            columns: columns?,
        })
    }
}

impl StoredColumn {
    fn read(reader: &mut Reader<'_>, kind: Kind) -> Option<Self> {
        let mut column = Self::default();
        let (mut has_facts, mut offset, mut length) = (None, None, None);
        let (mut statistics, mut statistics_length) = (None, None);
        reader.structure(kind, |reader, number, kind| {
            match number {
                1 => {
                    reader.skip(kind)?;
                    column.is_elsewhere = true;
                }
                3 => has_facts = Some(column.read_facts(reader, kind)?),
                4 => offset = Some(reader.integer(kind)?),
                5 => length = Some(reader.integer(kind)?),
                6 => statistics = Some(reader.integer(kind)?),
                7 => statistics_length = Some(reader.integer(kind)?),
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        column.index = offset.zip(length);
        column.statistics = statistics.zip(statistics_length);
        has_facts.map(|()| column)
    }

    /// Reads a `ColumnMetaData`.
    fn read_facts(&mut self, reader: &mut Reader<'_>, kind: Kind) -> Option<()> {
        let (mut physical, mut codec, mut values) = (None, None, None);
        let (mut length, mut data) = (None, None);
        reader.structure(kind, |reader, number, kind| {
            match number {
                1 => physical = Some(reader.integer(kind)?),
                4 => codec = Some(reader.integer(kind)?),
                5 => values = Some(reader.integer(kind)?),
                7 => length = Some(reader.integer(kind)?),
                9 => data = Some(reader.integer(kind)?),
                11 => self.dictionary = Some(reader.integer(kind)?),
                12 => reader.structure(kind, |reader, number, kind| {
                    match number {
                        3 => self.nulls = Some(reader.integer(kind)?),
                        _ => reader.skip(kind)?,
                    }
                    Some(())
                })?,
                _ => reader.skip(kind)?,
            }
            Some(())
        })?;
        (self.physical, self.codec, self.values) = (physical?, codec?, values?);
        (self.length, self.data) = (length?, data?);
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn element(name: &str, children: i64) -> Element {
        Element {
            name: name.to_owned(),
            physical: (children == 0).then_some(1),
            repetition: Some(0),
            children,
        }
    }

    fn names(elements: &[(&str, i64)]) -> Option<Vec<String>> {
        let elements = elements.iter().map(|(name, count)| element(name, *count));
        let leaves = leaves_of(elements.collect())?;
        Some(leaves.into_iter().map(|leaf| leaf.path.join(".")).collect())
    }

    #[test]
    fn columns_have_the_names_of_their_groups() {
        let schema = [
            ("top", 3),
            ("a", 0),
            ("map", 1),
            ("pair", 2),
            ("k", 0),
            ("v", 0),
            ("b", 0),
        ];
        let expected = ["a", "map.pair.k", "map.pair.v", "b"].map(str::to_owned);
        assert_eq!(names(&schema), Some(expected.to_vec()));
        assert_eq!(names(&[("top", 0)]), Some(Vec::new()));
    }

    #[test]
    fn numbers_of_children_that_are_wrong() {
        for schema in [
            &[][..],
            &[("top", 1)],
            &[("top", -1)],
            &[("top", i64::MIN), ("a", 0)],
            &[("top", 0), ("a", 0)],
            &[("top", 1), ("a", 0), ("b", 0)],
            &[("top", 1), ("a", 1)],
            &[("top", 1), ("a", -1)],
            &[("top", 1), ("a", i64::MAX), ("b", 0)],
        ] {
            assert_eq!(names(schema), None, "{schema:?}");
        }
    }

    #[test]
    fn a_schema_of_any_depth_takes_no_stack() {
        let mut schema = vec![("top", 1); 200_000];
        schema.push(("a", 0));
        assert_eq!(names(&schema), Some(vec![String::new()]));
    }
}
