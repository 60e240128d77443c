//! The totals in the order of the tree: what a du with one worker would add up and write.
//!
//! Workers walk the tree in any order, but their events come here in the order of a depth-first
//! walk. So if a file has several names, the first one in that order is charged. If a directory is
//! reached twice, the second time is left out. Both are the same on every run.

use std::io::Write;
use std::sync::atomic::Ordering;

use ringwalk::Timestamp;
use ringwalk_sys::sync::lock;

use super::Common;
use super::event::{Event, Leave};
use crate::host::Host;
use crate::linked_files::LinkedFiles;
use crate::totals::Totals;

/// The time of a total over no files.
const NO_TIME: Timestamp = Timestamp { secs: 0, nanos: 0 };

/// The totals in the order of the tree.
pub(super) struct OrderedTotals<'a, H> {
    common: &'a Common<'a, H>,
    /// For each depth, the totals of the entries at that depth since the directory above them
    /// began.
    levels: Vec<Totals>,
    /// The depth of the directory that was seen before and is being left out.
    skipping: Option<usize>,
    /// The totals of all operands together.
    pub(super) total: Totals,
    /// A directory could not be opened.
    pub(super) failed: bool,
    output: &'a mut (dyn Write + Send),
    /// A line, before it is written.
    line: Vec<u8>,
}

impl<'a, H: Host> OrderedTotals<'a, H> {
    /// Returns totals over nothing. Workers may look into `Common::seen`: the inodes there are
    /// earlier in the order than anything that the workers still have to add.
    pub(super) fn new(common: &'a Common<'a, H>, output: &'a mut (dyn Write + Send)) -> Self {
        Self {
            common,
            levels: Vec::new(),
            skipping: None,
            total: Totals {
                time: Some(NO_TIME),
                ..Totals::default()
            },
            failed: false,
            output,
            line: Vec::new(),
        }
    }

    /// Adds the next event and writes its lines.
    pub(super) fn take(&mut self, event: Event) {
        if let Some(depth) = self.skipping {
            if matches!(&event, Event::Leave(leave) if leave.depth == depth) {
                self.skipping = None;
            }
            return;
        }
        match event {
            Event::Enter { depth, identity } => {
                if !lock(&self.common.seen).insert(identity) {
                    self.skipping = Some(depth);
                }
            }
            Event::Files { depth, text, links } => self.files(depth, &text, &links),
            Event::Operands(totals) => self.total += totals,
            Event::Leave(leave) => self.leave(*leave),
        }
    }

    /// Adds and writes all files but those seen before.
    fn files(&mut self, depth: usize, text: &[u8], links: &LinkedFiles) {
        let mut sum = Totals::default();
        let mut written = 0;
        links.charge(&self.common.seen, &mut sum, |line| {
            write(self.common, self.output, &text[written..line.start]);
            written = line.end;
        });
        write(self.common, self.output, &text[written..]);
        self.total += sum;
        *self.level(depth) += sum;
    }

    fn leave(&mut self, leave: Leave) {
        let Leave {
            depth,
            totals: mut own,
            links,
            path,
            complaint,
        } = leave;
        if let Some(complaint) = complaint {
            self.common.host.report(&complaint);
            self.failed = true;
        }
        links.charge(&self.common.seen, &mut own, |_| {});
        self.total += own;
        let mut all = std::mem::take(self.level(depth + 1));
        all += own;
        if depth > 0 && !self.common.measurement.separate {
            *self.level(depth) += all;
        }
        if !path.is_empty() {
            self.line.clear();
            let host = self.common.host;
            host.write_line(&all, [&path, b""], &mut self.line);
            write(self.common, self.output, &self.line);
        }
    }

    fn level(&mut self, depth: usize) -> &mut Totals {
        if self.levels.len() <= depth {
            self.levels.resize(depth + 1, Totals::default());
        }
        &mut self.levels[depth]
    }
}

/// Writes whole lines. A failure stops the walk.
fn write<H>(common: &Common<'_, H>, output: &mut dyn Write, lines: &[u8]) {
    if !lines.is_empty() && output.write_all(lines).is_err() {
        common.stop.store(true, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests;
