//! The short ways: for files about which nothing has to be asked, which are most.

use super::file::File;
use super::state::State;
use super::visitor::Searcher;
use crate::plan::Listed;
use ringwalk::{Batch, Entry, FileType};

impl Searcher<'_> {
    /// Prints all entries of a batch and goes below all directories, if that is all that is asked for; false if more is.
    pub(super) fn list(&mut self, batch: &Batch<'_, State>) -> bool {
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

    /// Gathers the line of a file of the directory at hand.
    #[inline]
    fn print(&mut self, sink: usize, name: &[u8], end: u8) {
        let text = &mut self.evaluator.writer.texts[sink];
        text.extend_from_slice(self.path.prefix());
        text.extend_from_slice(name);
        text.push(end);
    }

    /// What most files come to: they are settled by what the walk has brought of them, or evaluated.
    #[inline]
    pub(super) fn settle(&mut self, batch: &Batch<'_, State>, entry: &Entry<'_, State>) {
        let plan = self.shared.plan;
        // Finding where a name ends takes as long as most tests.
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
