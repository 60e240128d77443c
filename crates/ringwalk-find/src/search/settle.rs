//! The short ways for most files, which need no further call.

use super::dir_state::DirState;
use super::file::File;
use super::visitor::Searcher;
use crate::plan::Listed;
use ringwalk::{Batch, Entry, FileType};

impl Searcher<'_> {
    /// Prints all entries of a batch and descends into all directories, if the search does nothing
    /// else. Returns false if it does.
    pub(super) fn list(&mut self, batch: &Batch<'_, DirState>) -> bool {
        let Some((sink, end)) = self.prints else {
            return false;
        };
        if !self.shared.plan.lets_all_through() {
            return false;
        }
        for entry in batch.entries() {
            self.print(sink, entry.name(), end);
            if entry.file_type() == FileType::Directory {
                entry.descend_with(self.new_state());
            }
        }
        true
    }

    /// Gathers the line of a file of the current directory.
    #[inline]
    fn print(&mut self, sink: usize, name: &[u8], end: u8) {
        let text = &mut self.evaluator.writer.texts[sink];
        text.extend_from_slice(self.path.prefix());
        text.extend_from_slice(name);
        text.push(end);
    }

    /// Handles an entry that needs no questions: decides it from what the walk has read, or
    /// evaluates it.
    #[inline]
    pub(super) fn settle(&mut self, batch: &Batch<'_, DirState>, entry: &Entry<'_, DirState>) {
        let plan = self.shared.plan;
        // Finding the end of a name takes as long as most tests.
        let mut name: &[u8] = b"";
        if plan.sieve_asks_name() {
            name = entry.name();
        }
        if plan.sieve_asks_path() {
            self.path.set_name(entry.name());
        }
        let listed = Listed {
            name,
            path: self.path.as_bytes(),
            kind: entry.file_type(),
            metadata: entry.metadata(),
        };
        if !plan.lets_through(&listed) {
            return;
        }
        let c_name = entry.c_name();
        if let Some((sink, end)) = self.prints {
            return self.print(sink, c_name.to_bytes(), end);
        }
        self.path.set_name(c_name.to_bytes());
        let (path, root_len) = (self.path.as_bytes(), self.path.root_len());
        let file = File::found(self.shared, batch, *entry, c_name, path, root_len);
        self.evaluator.evaluate(&file);
        self.stats += file.stats.get();
    }
}
