//! Reads extended attributes, which are a column of type MAP.

use super::chunk::Cells;
use super::decode::{self, Dictionary, PageBytes, Scratch};
use super::error::Reason;
use super::footer::{Footer, Leaf};
use super::layout::{Pages, Place, repeated};
use super::packed::{Run, runs, take};
use super::unpack::{Contents, Unpacker};
use super::{ReadError, Snapshot};
use crate::columnar::{ATTRIBUTE, Encoding, Physical};
use crate::schema::{MOST_ATTRIBUTES, Values, XATTRS};
use std::collections::VecDeque;
use std::ops::Range;

/// Names and values of the attributes of a file.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// The names of a file, or the values; `None` for a null.
type Texts = Option<Vec<Vec<u8>>>;

/// Reads the attributes of rows in order, from the first row on.
pub struct XattrReader<'s> {
    snapshot: &'s Snapshot,
    footer: Footer,
    /// The indexes of the columns of names and values.
    leaves: [usize; 2],
    group: usize,
    /// The columns of names and values of the row group.
    open: Option<[TextLists; 2]>,
    unpacker: Unpacker,
}

impl<'s> XattrReader<'s> {
    /// Returns `None` for a file without extended attributes.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn of(snapshot: &'s Snapshot) -> Result<Option<Self>, ReadError> {
        let footer = Footer::read(&snapshot.file).map_err(|why| failed(snapshot, why))?;
        let (Some(names), Some(values)) = (leaf(&footer, "key"), leaf(&footer, "value")) else {
            return Ok(None);
        };
        Ok(Some(Self {
            snapshot,
            footer,
            leaves: [names, values],
            group: 0,
            open: None,
            unpacker: Unpacker::default(),
        }))
    }

    /// Goes to a row of a row group. The rows before it in the group are read.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn go_to(&mut self, group: usize, row: u64) -> Result<(), ReadError> {
        (self.group, self.open) = (group, None);
        let skipped = usize::try_from(row).unwrap_or(usize::MAX);
        self.next(skipped).map(drop)
    }

    /// Returns the attributes of the next rows; `None` for those of a file that could not be read.
    /// The rows must be in one row group.
    ///
    /// # Errors
    ///
    /// If the file is damaged or cannot be read.
    pub fn next(&mut self, rows: usize) -> Result<Vec<Option<Pairs>>, ReadError> {
        let read = self.read(rows);
        read.map_err(|why| failed(self.snapshot, why))
    }

    fn read(&mut self, rows: usize) -> Result<Vec<Option<Pairs>>, Reason> {
        let [mut names, mut values] = match self.open.take() {
            Some(columns) => columns,
            None => self.open_group()?,
        };
        let mut all = Vec::new();
        for _ in 0..rows {
            let names = names.next(self.snapshot, &mut self.unpacker)?;
            let values = values.next(self.snapshot, &mut self.unpacker)?;
            if names.as_ref().map(Vec::len) != values.as_ref().map(Vec::len) {
                let what = "names and values differ in number";
                return Err(Reason::Damaged(what.to_owned()));
            }
            let pairs = names.zip(values);
            all.push(pairs.map(|(names, values)| names.into_iter().zip(values).collect()));
        }
        self.open = Some([names, values]);
        Ok(all)
    }

    /// Ends the row group. The next rows are in the one behind it.
    pub(crate) fn end_group(&mut self) {
        self.open = None;
        self.group += 1;
    }

    fn open_group(&mut self) -> Result<[TextLists; 2], Reason> {
        let [names, values] = self.leaves;
        Ok([self.open_column(names)?, self.open_column(values)?])
    }

    fn open_column(&mut self, leaf: usize) -> Result<TextLists, Reason> {
        let (file, unpacker) = (&self.snapshot.file, &mut self.unpacker);
        let group = self.footer.groups.get(self.group);
        let column = group.and_then(|group| group.columns.get(leaf));
        let column = column.ok_or_else(malformed)?;
        let read = |range| unpacker.read(file, range).map(<[u8]>::to_vec);
        let (place, Pages { dictionary, data }) = repeated(&self.footer, column, read)?;
        let dictionary = match dictionary {
            None => None,
            Some(range) => {
                let (contents, bytes) = unpacker.page(file, range, &place, Values::Bytes)?;
                let Contents::Dictionary { count } = contents else {
                    return Err(malformed());
                };
                let dictionary = decode::dictionary(bytes, count, Values::Bytes);
                Some(dictionary.ok_or_else(malformed)?)
            }
        };
        Ok(TextLists {
            place,
            dictionary,
            pages: data.into(),
            rows: VecDeque::new(),
        })
    }
}

fn failed(snapshot: &Snapshot, why: Reason) -> ReadError {
    match why {
        Reason::Damaged(what) => snapshot.damaged(&format!("extended attributes: {what}")),
        why => ReadError::new(snapshot.name(), why),
    }
}

fn malformed() -> Reason {
    Reason::Damaged("they are not stored as this version of the schema stores them".to_owned())
}

/// Returns the index of a column of the map.
fn leaf(footer: &Footer, name: &str) -> Option<usize> {
    let levels = [Leaf::OPTIONAL, Leaf::REPEATED, Leaf::REQUIRED];
    let mut leaves = footer.leaves.iter();
    leaves.position(|leaf| {
        leaf.is_at(&[XATTRS, "key_value", name])
            && leaf.repetitions == levels
            && leaf.physical == Physical::ByteArray as i64
    })
}

/// A column of a row group with a list of texts in each row.
struct TextLists {
    place: Place,
    dictionary: Option<Dictionary>,
    /// The pages that were not read yet.
    pages: VecDeque<Range<u64>>,
    /// The rows that were read and not returned yet.
    rows: VecDeque<Texts>,
}

impl TextLists {
    /// Returns the texts of the next row.
    fn next(&mut self, snapshot: &Snapshot, unpacker: &mut Unpacker) -> Result<Texts, Reason> {
        while self.rows.is_empty() {
            let page = self.pages.pop_front().ok_or_else(malformed)?;
            let page = unpacker.page(&snapshot.file, page, &self.place, Values::Bytes)?;
            let (Contents::Data { rows, encoding }, bytes) = page else {
                return Err(malformed());
            };
            let rows = lists(bytes, rows, encoding, self.dictionary.as_ref());
            self.rows = rows.ok_or_else(malformed)?;
        }
        self.rows.pop_front().ok_or_else(malformed)
    }
}

/// Decodes a page with so many levels. Returns the texts of each row; `None` if the page is
/// damaged. Each row takes memory, and one number may stand for any number of them.
fn lists(
    mut bytes: &[u8],
    count: usize,
    encoding: Encoding,
    dictionary: Option<&Dictionary>,
) -> Option<VecDeque<Texts>> {
    (count <= MOST_ATTRIBUTES).then_some(())?;
    let repetitions = levels(&mut bytes, 1, count)?;
    let definitions = levels(&mut bytes, 2, count)?;
    let is_text = |level: &&u8| **level == ATTRIBUTE;
    let page = PageBytes {
        bytes,
        encoding,
        values: Values::Bytes,
        rows: definitions.iter().filter(is_text).count(),
        is_required: true,
    };
    let mut cells = Cells::default();
    decode::page(page, dictionary, &mut Scratch::default(), &mut cells)?;
    let (mut begin, mut ends) = (0, cells.ends.iter());
    let mut rows: VecDeque<Texts> = VecDeque::new();
    for (definition, repetition) in definitions.into_iter().zip(repetitions) {
        if repetition == 0 {
            // 0 stands for a null.
            rows.push_back((definition > 0).then(Vec::new));
        }
        if definition == ATTRIBUTE {
            let end = *ends.next()? as usize;
            rows.back_mut()?
                .as_mut()?
                .push(cells.data[begin..end].to_vec());
            begin = end;
        }
    }
    Some(rows)
}

/// Decodes levels of so many bits, behind their length.
fn levels(bytes: &mut &[u8], width: u32, count: usize) -> Option<Vec<u8>> {
    let length = u32::from_le_bytes(take(bytes, 4)?.try_into().ok()?);
    let stored = take(bytes, length as usize)?;
    let mut levels = Vec::new();
    runs(stored, width, count, |run| {
        match run {
            Run::Same(level, times) => {
                let level = u8::try_from(level).ok()?;
                levels.resize(levels.len() + times, level);
            }
            // Two bits each.
            Run::Packed(packed) => levels.extend(packed.iter().map(|level| level.to_le_bytes()[0])),
        }
        Some(())
    })?;
    Some(levels)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_of_very_many_rows_is_refused() {
        // A run of 2^62 zeros, and its length.
        let mut page = vec![0x80; 9];
        page.extend([1, 0]);
        let run: Vec<u8> = [&11_u32.to_le_bytes()[..], &page].concat();
        let pages = [&run[..], &run].concat();
        assert!(lists(&pages, 1 << 62, Encoding::Plain, None).is_none());
        let most = lists(&pages, MOST_ATTRIBUTES, Encoding::Plain, None);
        assert_eq!(most.unwrap().len(), MOST_ATTRIBUTES);
        // A run of ten.
        let run = [&[2, 0, 0, 0, 20, 0][..], &[2, 0, 0, 0, 20, 0]].concat();
        assert_eq!(lists(&run, 10, Encoding::Plain, None).unwrap().len(), 10);
        assert!(lists(&run, 11, Encoding::Plain, None).is_none());
    }
}
