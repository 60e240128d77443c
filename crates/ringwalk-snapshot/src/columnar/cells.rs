//! The cells of a page of one column.

/// The definition level of an extended attribute.
pub const ATTRIBUTE: u8 = 2;

/// The cells of one column.
#[derive(Debug, Default)]
pub struct Cells {
    /// 1 for each value, 0 for each null. Empty for columns without nulls. For the extended
    /// attributes: 0 for null, 1 for none, [`ATTRIBUTE`] for each.
    pub definitions: Vec<u8>,
    /// The number of rows, from the first one on, that all have a value. `definitions` is empty
    /// until a row has none.
    dense: usize,
    /// For the extended attributes: 0 for the first attribute of a row, 1 for the others.
    pub repetitions: Vec<u8>,
    /// Values: numbers, truth values (0 or 1), fractions by their bits.
    pub numbers: Vec<i64>,
    /// Values of text and bytes, one after the other.
    pub data: Vec<u8>,
    /// Where each of them ends in `data`.
    pub ends: Vec<usize>,
}

impl Cells {
    /// Removes all cells, and keeps their memory.
    pub fn clear(&mut self) {
        self.definitions.clear();
        self.dense = 0;
        self.repetitions.clear();
        self.numbers.clear();
        self.data.clear();
        self.ends.clear();
    }

    /// Notes that a row has a value, and that the rows before it without one have nulls.
    #[inline]
    pub fn define(&mut self, row: usize) {
        // Most columns have no nulls, or few values.
        if self.dense == row {
            self.dense += 1;
        } else {
            self.fill(row);
            self.definitions.push(1);
        }
    }

    /// Writes out the definitions of the rows before this one.
    pub fn fill(&mut self, row: usize) {
        if self.definitions.is_empty() {
            self.definitions.resize(self.dense, 1);
        }
        self.definitions.resize(row, 0);
    }

    /// Appends a value of text or bytes.
    #[inline]
    pub fn push_bytes(&mut self, bytes: &[u8]) {
        self.data.extend_from_slice(bytes);
        self.ends.push(self.data.len());
    }

    /// Returns the values of text and bytes.
    pub(super) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let mut begin = 0;
        self.ends.iter().map(move |&end| {
            let text = &self.data[begin..end];
            begin = end;
            text
        })
    }

    /// Returns the number of rows of a column with several values in a row.
    pub(super) fn rows(&self) -> usize {
        let further = self.repetitions.iter().map(|level| usize::from(*level));
        self.repetitions.len() - further.sum::<usize>()
    }

    /// Divides the cells of lists at rows. Each part ends at the row with which it has `most`
    /// levels or `most_bytes` bytes. Returns `None` if there is only one part.
    pub fn divided(&self, most: usize, most_bytes: usize) -> Option<Vec<Self>> {
        if self.repetitions.len() < most && self.data.len() < most_bytes {
            return None;
        }
        let (mut parts, mut part) = (Vec::new(), Self::default());
        let mut texts = self.texts();
        for (at, (&definition, &repetition)) in
            self.definitions.iter().zip(&self.repetitions).enumerate()
        {
            part.definitions.push(definition);
            part.repetitions.push(repetition);
            // Each attribute has a text.
            if definition == ATTRIBUTE
                && let Some(text) = texts.next()
            {
                part.push_bytes(text);
            }
            let is_row = self.repetitions.get(at + 1).is_none_or(|next| *next == 0);
            let is_full = part.repetitions.len() >= most || part.data.len() >= most_bytes;
            if is_row && is_full {
                parts.push(std::mem::take(&mut part));
            }
        }
        if !part.repetitions.is_empty() {
            parts.push(part);
        }
        Some(parts)
    }

    /// Returns the number of values, without nulls.
    pub(super) fn values(&self) -> usize {
        self.numbers.len() + self.ends.len()
    }
}
