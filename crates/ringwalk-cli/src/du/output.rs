//! Lines on standard output: formatting, and a buffer that is written when it is full.

use std::process::ExitCode;

use ringwalk::Timestamp;
use ringwalk_gnu::terminal_safe;

use super::config::Config;
use super::totals::Totals;
use crate::console;

/// Written at a time: what a pipe holds.
const FULL: usize = 64 * 1024;

impl Config {
    /// What is compared with the threshold and written in front.
    pub(crate) fn amount(&self, totals: &Totals) -> u64 {
        if self.inodes {
            totals.inodes
        } else {
            totals.size
        }
    }

    /// Appends a line without its path and its end.
    fn begin_line(&self, totals: &Totals, out: &mut Vec<u8>) {
        self.block_size.write(self.amount(totals), out);
        out.push(b'\t');
        if let Some((_, style)) = &self.time {
            if let Some(message) = style.write(totals.time.unwrap_or_default(), out) {
                console::error(message);
            }
            out.push(b'\t');
        }
    }

    /// Appends a line: what is counted, the time if it is shown, the path of which `parts` are the parts.
    pub(crate) fn write_line(&self, totals: &Totals, parts: [&[u8]; 2], out: &mut Vec<u8>) {
        self.begin_line(totals, out);
        if self.terminal {
            terminal_safe(&parts.concat(), out);
        } else {
            for part in parts {
                out.extend_from_slice(part);
            }
        }
        out.push(self.terminator);
    }
}

/// Standard output.
#[derive(Debug)]
pub(crate) struct Output {
    buffer: Vec<u8>,
    /// Somebody is watching: lines are written as soon as they are there.
    watched: bool,
    /// The status to end with after a failed write; nothing is written any more.
    failed: Option<ExitCode>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self {
            buffer: Vec::new(),
            watched: console::stdout_is_terminal(),
            failed: None,
        }
    }

    /// Adds whole lines.
    pub(crate) fn add(&mut self, lines: &[u8]) {
        self.buffer.extend_from_slice(lines);
        if self.watched || self.buffer.len() >= FULL {
            self.flush();
        }
    }

    /// Adds what `write` appends.
    pub(crate) fn add_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        write(&mut self.buffer);
        self.add(&[]);
    }

    /// Writes what there is.
    pub(crate) fn flush(&mut self) {
        if self.failed.is_none() && !self.buffer.is_empty() {
            self.failed = console::print(&self.buffer).err();
        }
        self.buffer.clear();
    }

    /// What is not yet written.
    #[cfg(test)]
    pub(crate) fn taken(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.buffer)
    }

    /// The status to end with, if writing has failed.
    pub(crate) fn failure(&self) -> Option<ExitCode> {
        self.failed
    }
}

/// What a total over nothing has for its time.
pub(crate) const NO_TIME: Timestamp = Timestamp { secs: 0, nanos: 0 };
