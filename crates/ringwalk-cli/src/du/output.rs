//! Standard output: a buffer of lines that is written when it is full.

use std::io::{self, Write};

use crate::console;
use crate::status::Ended;

/// Bytes written at a time: the capacity of a pipe.
const FULL: usize = 64 * 1024;

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    buffer: Vec<u8>,
    /// Standard output is a terminal: lines are written at once.
    watched: bool,
    /// A failed write. Nothing is written any more.
    failed: Option<Ended>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            buffer: Vec::new(),
            watched: console::stdout_is_terminal(),
            failed: None,
        }
    }

    /// Ends the output.
    ///
    /// # Errors
    ///
    /// If a write has failed.
    pub(crate) fn end(self) -> Result<(), Ended> {
        self.failed.map_or(Ok(()), Err)
    }
}

impl Write for Output {
    /// Adds whole lines.
    fn write(&mut self, lines: &[u8]) -> io::Result<usize> {
        self.buffer.extend_from_slice(lines);
        if self.watched || self.buffer.len() >= FULL {
            self.flush()?;
        }
        Ok(lines.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.failed.is_none() && !self.buffer.is_empty() {
            self.failed = console::print(&self.buffer).err();
        }
        self.buffer.clear();
        if self.failed.is_some() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        Ok(())
    }
}
