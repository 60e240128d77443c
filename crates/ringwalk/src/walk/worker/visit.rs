//! The entries of a batch: given to the visitor with their metadata.

use super::Worker;
use super::share::Divisible;
use super::unopened::Unopened;
use crate::sources::names_at::NamesAt;
use crate::visit::batch::Batch;
use crate::visit::dir::Dir;
use crate::visit::visitor::{Flow, Visitor};
use ringwalk_sys::DirectoryFd;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

impl<V: Visitor> Worker<'_, V> {
    /// Asks for the metadata of the entries in the buffer, gives the entries to the visitor, and
    /// pushes the subdirectories. While calls wait, other workers get parts of the batch.
    ///
    /// `fd` is the open directory; `None` if it was listed without being opened, or was closed
    /// meanwhile. `calls` is the number of calls that were made for it since `begin`.
    pub(super) fn visit(
        &mut self,
        dir: &Arc<Dir<V::State>>,
        fd: Option<&Arc<DirectoryFd>>,
        mut numbers: Range<u64>,
        metadata: bool,
        calls: u64,
        begin: Option<Instant>,
    ) {
        let depth = dir.depth() + 1;
        let mut raw = std::mem::take(&mut self.raw);
        let unopened;
        let saved = self.saved.clone();
        let place = if let Some(reader) = &saved {
            NamesAt::Unopened(&**reader)
        } else if let Some(fd) = fd {
            NamesAt::Directory(fd)
        } else {
            unopened = Unopened::new(dir, &self.shared.descriptors);
            NamesAt::Unopened(&unopened)
        };
        if metadata {
            self.meter(calls, begin, dir, fd.map(|fd| &**fd));
            self.pace(raw.records.len());
        } else {
            let divisible = Divisible {
                dir,
                fd,
                raw: &mut raw,
                numbers: &mut numbers,
            };
            self.ask_metadata(divisible, place, calls, begin);
        }
        let descents = self.descents_of(&raw, Some(dir), depth);
        let batch = Batch {
            raw: &raw,
            place,
            saved: saved.as_deref(),
            dir: Some(dir),
            numbers,
            descents: &descents,
            first_root: 0,
            boundaries: &self.shared.boundaries,
        };
        self.report_failures(&batch);
        let flow = self.call_visitor(&batch);
        if flow == Flow::Continue {
            self.descend(dir, fd, &raw, &descents);
        } else {
            dir.prune();
        }
        self.raw = raw;
        self.keep_descents(descents);
    }

    /// Gives a batch to the visitor, if it is not empty and not above the least depth.
    pub(super) fn call_visitor(&mut self, batch: &Batch<'_, V::State>) -> Flow {
        self.totals.entries += batch.len() as u64;
        if batch.is_empty() || batch.depth() < self.shared.options.min_depth {
            return Flow::Continue;
        }
        let flow = self.visitor.batch(batch);
        if flow == Flow::Stop {
            self.shared.scheduler.stop();
        }
        flow
    }
}
