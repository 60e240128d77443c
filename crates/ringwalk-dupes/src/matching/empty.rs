//! Files that have contents and say that they are empty.

use super::Matcher;
use crate::inventory::{DirId, FileId};
use ringwalk_hash::Fault;
use ringwalk_sys::magic;
use rustix::fs::statfs;
use rustix::io::{pread, retry_on_intr};
use std::collections::HashMap;

impl Matcher<'_> {
    /// Returns the directories with such files: what these directories hold is not known. A FUSE
    /// server can report size 0 and create the contents when they are read. Only files on FUSE and
    /// virtiofs are read, and one that cannot be read is reported.
    pub(super) fn directories_with_false_sizes(&self) -> Vec<DirId> {
        let mut fuse: HashMap<u16, bool> = HashMap::new();
        let mut found = Vec::new();
        let files = &self.inventory.files;
        // The largest files come first.
        let first = files.partition_point(|file| file.size > 0);
        for (at, file) in (0..).zip(files).skip(first) {
            if self.inventory.is_saved(file) {
                continue;
            }
            let id = FileId(at);
            let is_on_fuse = *fuse.entry(file.device).or_insert_with(|| {
                // Without an answer the files are read, too.
                let directory = self.inventory.directory_path(file.dir);
                statfs(directory).map_or(true, |found| magic::of_statfs(&found) == magic::FUSE)
            });
            if !is_on_fuse {
                continue;
            }
            let has_contents = self.with_file(id, |open| {
                let mut byte = [0];
                let read = || pread(open.file(), &mut byte, 0);
                Ok(retry_on_intr(read).map_err(Fault::Read)? > 0)
            });
            // If a file could not be read, or is gone, nothing is known about its contents.
            if has_contents.unwrap_or(true) {
                found.push(file.dir);
            }
        }
        found
    }
}
