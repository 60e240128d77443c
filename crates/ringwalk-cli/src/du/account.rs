//! The books: what a du with one thread would have seen, in its order, added up and written.
//!
//! Workers walk the tree in any order, but the events they leave come here in the order of a depth-first walk. So of
//! several links to a file the first one in that order is charged, and of a directory met twice the second is left
//! out, on every run alike.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use ringwalk::Identity;
use ringwalk_sums::Met;

use super::config::Config;
use super::output::{NO_TIME, Output};
use super::totals::{Links, Totals, lock};
use crate::console;

/// What workers leave. Depths are those of the entry that an event is about: 0 for an operand.
#[derive(Debug)]
pub(crate) enum Event {
    /// A directory begins. Without effect on the sums, but it may have been met before.
    Enter { depth: usize, identity: Identity },
    /// Some files of a directory, one after the other: their lines, and those of them that count only if they have not
    /// been met before.
    Files {
        depth: usize,
        text: Vec<u8>,
        links: Links,
    },
    /// Operands that are files which count in any case.
    Operands(Totals),
    /// A directory ends.
    Leave(Box<Leave>),
}

/// The end of a directory.
#[derive(Debug)]
pub(crate) struct Leave {
    pub(crate) depth: usize,
    /// The directory itself and the files with one link in it; also those below it, where its subdirectories have no
    /// events of their own.
    pub(crate) totals: Totals,
    /// The other files, in that last case.
    pub(crate) links: Links,
    /// The path; empty if the directory has no line.
    pub(crate) path: Vec<u8>,
    /// What kept the directory from being read.
    pub(crate) complaint: Option<String>,
}

/// The books.
#[derive(Debug)]
pub(crate) struct Account {
    config: Arc<Config>,
    /// What has been met: files, and directories (for which numbers are the same kind of thing).
    met: Arc<Mutex<Met>>,
    /// For each depth, what entries at that depth have come to since the directory above them began.
    levels: Vec<Totals>,
    /// Inside a directory met before: its depth.
    skipping: Option<usize>,
    total: Totals,
    /// Something could not be read.
    pub(crate) failed: bool,
    pub(crate) output: Output,
    /// Set when nothing can be written any more.
    stop: Arc<AtomicBool>,
}

impl Account {
    /// Books with no entries. Workers may look into `met` for what has been met: what is there is earlier in the order than
    /// anything they still have to add.
    pub(crate) fn new(config: Arc<Config>, met: Arc<Mutex<Met>>, stop: Arc<AtomicBool>) -> Self {
        Self {
            config,
            met,
            levels: Vec::new(),
            skipping: None,
            total: Totals {
                time: Some(NO_TIME),
                ..Totals::default()
            },
            failed: false,
            output: Output::new(),
            stop,
        }
    }

    /// Takes the next event.
    pub(crate) fn take(&mut self, event: Event) {
        if let Some(depth) = self.skipping {
            if matches!(&event, Event::Leave(leave) if leave.depth == depth) {
                self.skipping = None;
            }
            return;
        }
        match event {
            Event::Enter { depth, identity } => {
                if !lock(&self.met).insert(identity) {
                    self.skipping = Some(depth);
                }
            }
            Event::Files { depth, text, links } => self.files(depth, &text, &links),
            Event::Operands(totals) => self.total.add(&totals),
            Event::Leave(leave) => self.leave(*leave),
        }
        if self.output.failure().is_some() {
            self.stop.store(true, Ordering::Relaxed);
        }
    }

    /// Adds up and writes all files but those met before.
    fn files(&mut self, depth: usize, text: &[u8], links: &Links) {
        let mut sum = Totals::default();
        let mut written = 0;
        if !links.is_empty() {
            let mut met = lock(&self.met);
            for (identity, totals, line) in links.iter() {
                if met.insert(identity) {
                    sum.add(&totals);
                } else {
                    self.output.add(&text[written..line.start]);
                    written = line.end;
                }
            }
        }
        self.output.add(&text[written..]);
        self.total.add(&sum);
        self.level(depth).add(&sum);
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
            console::error(complaint);
            self.failed = true;
        }
        if !links.is_empty() {
            let mut met = lock(&self.met);
            for (identity, totals, _) in links.iter() {
                if met.insert(identity) {
                    own.add(&totals);
                }
            }
        }
        self.total.add(&own);
        let mut all = std::mem::take(self.level(depth + 1));
        all.add(&own);
        if depth > 0 && !self.config.separate {
            self.level(depth).add(&all);
        }
        if !path.is_empty() && self.config.threshold.admits(self.config.amount(&all)) {
            let config = &self.config;
            self.output
                .add_with(|out| config.write_line(&all, [&path, b""], out));
        }
    }

    fn level(&mut self, depth: usize) -> &mut Totals {
        if self.levels.len() <= depth {
            self.levels.resize(depth + 1, Totals::default());
        }
        &mut self.levels[depth]
    }

    /// Writes the line for everything together, if it is wanted, and all that is still to be written.
    pub(crate) fn close(&mut self) {
        if self.config.total {
            let (config, total) = (&self.config, &self.total);
            self.output
                .add_with(|out| config.write_line(total, [b"total", b""], out));
        }
        self.output.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::super::args::{DuArgs, Flag, Setting};
    use super::*;

    fn account(flags: &[Flag]) -> Account {
        let args = DuArgs {
            settings: flags.iter().copied().map(Setting::Flag).collect(),
            operands: Vec::new(),
        };
        let config = Config::new(&args, &mut |text| panic!("{text}")).unwrap();
        Account::new(Arc::new(config), Arc::default(), Arc::default())
    }

    fn size(size: u64) -> Totals {
        Totals {
            size,
            inodes: 1,
            time: None,
        }
    }

    fn links(inodes: &[u64]) -> Links {
        let mut links = Links::default();
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
            links: Links::default(),
            path: path.as_bytes().to_vec(),
            complaint: None,
        }))
    }

    fn written(account: &mut Account, events: Vec<Event>) -> String {
        let mut lines = Vec::new();
        for event in events {
            account.take(event);
            lines.append(&mut account.output.taken());
        }
        String::from_utf8(lines).unwrap()
    }

    /// Files, of which those of `of` have lines of two bytes in `text`, and count once.
    fn lines_and_links(text: &str, of: &[(u64, usize)]) -> Event {
        let mut links = Links::default();
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
    fn lines_of_files_met_before_are_left_out() {
        let mut account = account(&[]);
        let events = vec![
            lines_and_links("a\nb\nc\n", &[(1, 0), (2, 4)]),
            lines_and_links("d\ne\nf\ng\n", &[(2, 0), (3, 2), (1, 6)]),
            lines_and_links("h\n", &[]),
        ];
        assert_eq!(written(&mut account, events), "a\nb\nc\ne\nf\nh\n");
        assert_eq!(account.total.size, 300);
    }

    #[test]
    fn the_first_link_is_charged() {
        let mut account = account(&[Flag::Bytes]);
        let events = vec![
            link(2, 7),
            leave(1, 5, "t/a"),
            link(2, 7),
            leave(1, 6, "t/b"),
            leave(0, 1, "t"),
        ];
        assert_eq!(written(&mut account, events), "105\tt/a\n6\tt/b\n112\tt\n");
        assert_eq!(account.total.size, 112);
    }

    #[test]
    fn separate_directories_have_only_their_files() {
        let mut account = account(&[Flag::Bytes, Flag::SeparateDirs]);
        let events = vec![
            link(1, 8),
            link(2, 7),
            leave(1, 5, "t/a"),
            link(1, 7),
            leave(0, 1, "t"),
        ];
        assert_eq!(written(&mut account, events), "105\tt/a\n101\tt\n");
        assert_eq!(account.total.size, 206);
    }

    #[test]
    fn a_directory_met_before_is_left_out_with_all_below() {
        let mut account = account(&[Flag::Bytes]);
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
        assert_eq!(written(&mut account, events), "5\ta\n101\tt\n");
        assert_eq!(account.total.size, 106);
    }

    #[test]
    fn files_of_merged_directories_count_once() {
        let mut account = account(&[Flag::Bytes]);
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
        assert_eq!(written(&mut account, events), "105\tt/a\n5\tt/b\n111\tt\n");
    }
}
