//! Files that have contents and say that they are empty.

use super::Matcher;
use crate::inventory::{DirId, FileId};
use ringwalk_hash::Fault;
use ringwalk_sys::magic;
use rustix::io::{pread, retry_on_intr};
use std::collections::HashMap;

impl Matcher<'_> {
    /// Returns the directories with such files. Programs behind FUSE make them up when they are
    /// read, as the kernel does below `/proc`, so what these directories hold is not known. A file
    /// that cannot be read is reported.
    pub(super) fn directories_with_false_sizes(&self) -> Vec<DirId> {
        let mut is_on_fuse: HashMap<u16, bool> = HashMap::new();
        let mut found = Vec::new();
        let files = (0..).map(FileId).zip(&self.inventory.files);
        for (id, file) in files {
            let is_known_not_to_be = is_on_fuse.get(&file.device) == Some(&false);
            if file.size > 0 || is_known_not_to_be || self.inventory.is_saved(file) {
                continue;
            }
            let has_contents = self.with_file(id, |open| {
                let is_fuse = magic::of(open.file()).is_ok_and(|kind| kind == magic::FUSE);
                is_on_fuse.insert(file.device, is_fuse);
                let mut byte = [0];
                let read = || pread(open.file(), &mut byte, 0);
                Ok(is_fuse && retry_on_intr(read).map_err(Fault::Read)? > 0)
            });
            if has_contents.unwrap_or(true) {
                found.push(file.dir);
            }
        }
        found
    }
}
