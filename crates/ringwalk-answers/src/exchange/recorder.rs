//! A receiver for tests that writes each event as a line.

use super::error::Refused;
use super::item::{Events, Fields, Header};

/// Records events as text.
#[derive(Default)]
pub(crate) struct Recorder {
    pub(crate) lines: Vec<String>,
    pub(crate) header: Header,
    pub(crate) fields: Vec<Fields>,
    depth: usize,
    /// Refuses the entry of this name.
    pub(crate) refuse: &'static str,
}

impl Recorder {
    fn push(&mut self, mark: char, name: &[u8], fields: &Fields) -> Result<(), Refused<String>> {
        if !self.refuse.is_empty() && name == self.refuse.as_bytes() {
            return Err(Refused::Entry("refused by the test".into()));
        }
        let name = name.escape_ascii();
        self.lines
            .push(format!("{}{mark}{name}", " ".repeat(self.depth)));
        self.fields.push(*fields);
        Ok(())
    }
}

impl Events for Recorder {
    type Error = String;

    fn header(&mut self, header: Header) {
        self.header = header;
    }

    fn begin_directory(&mut self, name: &[u8], fields: &Fields) -> Result<(), Refused<String>> {
        self.push('+', name, fields)?;
        self.depth += 1;
        Ok(())
    }

    fn file(&mut self, name: &[u8], fields: &Fields) -> Result<(), Refused<String>> {
        self.push('-', name, fields)
    }

    fn end_directory(&mut self) -> Result<(), Refused<String>> {
        self.depth -= 1;
        Ok(())
    }
}
