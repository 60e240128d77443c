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
mod tests {
    use super::*;
    use crate::measurement::{Measurement, Size};
    use crate::rule::Rule;
    use crate::test_host::TestHost;
    use ringwalk::{Follow, Identity};

    /// Adds `events`. Returns the lines, and the total size.
    fn written(separate: bool, events: Vec<Event>) -> (String, u64) {
        let measurement = Measurement {
            rule: Rule::new(Follow::Never),
            size: Size::Apparent,
            time: None,
            all: false,
            max_depth: usize::MAX,
            separate,
        };
        let common = Common::new(&measurement, &TestHost);
        let mut output = Vec::new();
        let mut totals = OrderedTotals::new(&common, &mut output);
        for event in events {
            totals.take(event);
        }
        let size = totals.total.size;
        (String::from_utf8(output).unwrap(), size)
    }

    fn size(size: u64) -> Totals {
        Totals {
            size,
            inodes: 1,
            time: None,
        }
    }

    fn links(inodes: &[u64]) -> LinkedFiles {
        let mut links = LinkedFiles::default();
        for &ino in inodes {
            links.push(Identity { dev: 1, ino }, &size(100), 0..0);
        }
        links
    }

    fn link(depth: usize, ino: u64) -> Event {
        Event::Files {
            depth,
            text: Vec::new(),
            links: links(&[ino]),
        }
    }

    fn enter(depth: usize, ino: u64) -> Event {
        let identity = Identity { dev: 1, ino };
        Event::Enter { depth, identity }
    }

    fn leave(depth: usize, own: u64, path: &str) -> Event {
        Event::Leave(Box::new(Leave {
            depth,
            totals: size(own),
            links: LinkedFiles::default(),
            path: path.as_bytes().to_vec(),
            complaint: None,
        }))
    }

    /// Returns files whose lines are `text`. Those in `of` count once, each with a line of two
    /// bytes.
    fn lines_and_links(text: &str, of: &[(u64, usize)]) -> Event {
        let mut links = LinkedFiles::default();
        for &(ino, at) in of {
            links.push(Identity { dev: 1, ino }, &size(100), at..at + 2);
        }
        Event::Files {
            depth: 2,
            text: text.as_bytes().to_vec(),
            links,
        }
    }

    #[test]
    fn lines_of_files_seen_before_are_left_out() {
        let separate = false;
        let events = vec![
            lines_and_links("a\nb\nc\n", &[(1, 0), (2, 4)]),
            lines_and_links("d\ne\nf\ng\n", &[(2, 0), (3, 2), (1, 6)]),
            lines_and_links("h\n", &[]),
        ];
        let (lines, total) = written(separate, events);
        assert_eq!(lines, "a\nb\nc\ne\nf\nh\n");
        assert_eq!(total, 300);
    }

    #[test]
    fn the_first_link_is_charged() {
        let separate = false;
        let events = vec![
            link(2, 7),
            leave(1, 5, "t/a"),
            link(2, 7),
            leave(1, 6, "t/b"),
            leave(0, 1, "t"),
        ];
        let (lines, total) = written(separate, events);
        assert_eq!(lines, "105\tt/a\n6\tt/b\n112\tt\n");
        assert_eq!(total, 112);
    }

    #[test]
    fn separate_directories_have_only_their_files() {
        let separate = true;
        let events = vec![
            link(1, 8),
            link(2, 7),
            leave(1, 5, "t/a"),
            link(1, 7),
            leave(0, 1, "t"),
        ];
        let (lines, total) = written(separate, events);
        assert_eq!(lines, "105\tt/a\n101\tt\n");
        assert_eq!(total, 206);
    }

    #[test]
    fn a_directory_seen_before_is_left_out_with_all_below() {
        let separate = false;
        let events = vec![
            enter(0, 1),
            leave(0, 5, "a"),
            enter(0, 2),
            enter(1, 1),
            lines_and_links("x\n", &[]),
            enter(2, 9),
            link(3, 7),
            leave(2, 5, "t/a/b"),
            leave(1, 5, "t/a"),
            link(1, 7),
            leave(0, 1, "t"),
        ];
        let (lines, total) = written(separate, events);
        assert_eq!(lines, "5\ta\n101\tt\n");
        assert_eq!(total, 106);
    }

    #[test]
    fn files_of_merged_directories_count_once() {
        let separate = false;
        let unit = |depth, path: &str| {
            Event::Leave(Box::new(Leave {
                depth,
                totals: size(5),
                links: links(&[7, 7]),
                path: path.as_bytes().to_vec(),
                complaint: None,
            }))
        };
        let events = vec![unit(1, "t/a"), unit(1, "t/b"), leave(0, 1, "t")];
        let (lines, total) = written(separate, events);
        assert_eq!(lines, "105\tt/a\n5\tt/b\n111\tt\n");
        assert_eq!(total, 111);
    }
}
