//! The path of a row, and its two forms in the file.

use super::rows::Rows;
use crate::schema::Column;
use ringwalk_text::push_escaped;

/// A path relative to the root, built from the path of its directory.
#[derive(Debug, Default)]
pub(crate) struct RowPath {
    bytes: Vec<u8>,
    /// The length of the beginning that is known to be UTF-8.
    checked: usize,
    /// The escaped form of a path that is not UTF-8.
    escaped: String,
}

impl RowPath {
    pub(crate) fn set(&mut self, path: &[u8]) {
        self.bytes.clear();
        self.bytes.extend_from_slice(path);
        self.checked = 0;
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    pub(crate) fn truncate(&mut self, length: usize) {
        self.bytes.truncate(length);
        self.checked = self.checked.min(length);
    }

    pub(crate) fn push(&mut self, name: &[u8]) {
        if !self.bytes.is_empty() {
            self.bytes.push(b'/');
        }
        self.bytes.extend_from_slice(name);
    }

    pub(crate) fn raw(&self) -> &[u8] {
        &self.bytes
    }

    /// Adds the cells of both columns.
    #[inline]
    pub(crate) fn write(&mut self, rows: &mut Rows) {
        // A check ends at the end of a name, so no character is cut.
        let is_text = std::str::from_utf8(&self.bytes[self.checked..]).is_ok();
        if is_text {
            let slash = self.bytes.iter().rposition(|byte| *byte == b'/');
            self.checked = slash.unwrap_or_default();
            rows.bytes(Column::Path, Some(&self.bytes));
            rows.bytes(Column::PathRaw, None);
        } else {
            self.escape();
            rows.bytes(Column::Path, Some(self.escaped.as_bytes()));
            rows.bytes(Column::PathRaw, Some(&self.bytes));
        }
    }

    fn escape(&mut self) {
        self.escaped.clear();
        push_escaped(&self.bytes, &mut self.escaped);
    }
}
