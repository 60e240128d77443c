//! Jobs of the source: a directory goes in, and comes back with entries.

use super::Worker;
use crate::sources::raw_batch::RawBatch;
use crate::sources::syscall::read_failure;
use crate::sources::{DirectoryJob, JobStep, Pulled};
use crate::visit::batch::numbers_of_read;
use crate::visit::dir::Dir;
use crate::visit::error::{Failure, Operation};
use crate::visit::visitor::Visitor;
use crate::walk::descriptors::identity;
use crate::walk::reads::FinishedRead;
use crate::walk::scheduler::RestFrom;
use crate::walk::settings::Order;
use ringwalk_sys::DirectoryFd;
use rustix::io::Errno;
use std::ops::Range;
use std::sync::Arc;
use std::time::Instant;

/// System calls of a directory that is opened, read and closed, beside those for metadata.
const CALLS: u64 = 3;

/// Entries of one directory that the source has just read into the worker's buffer.
pub(super) struct ReadEntries<'a, S> {
    pub(super) dir: &'a Arc<Dir<S>>,
    pub(super) fd: &'a Arc<DirectoryFd>,
    /// The number of this batch.
    pub(super) index: u32,
    /// The source has filled in the metadata.
    pub(super) metadata: bool,
    /// When the calls for them began, if they are timed.
    pub(super) begin: Option<Instant>,
}

impl<V: Visitor> Worker<'_, V> {
    pub(super) fn give(&mut self, job: DirectoryJob<V::State>) {
        self.in_source += 1;
        self.source.push(job);
    }

    /// Takes one directory back from the source, and visits its entries.
    pub(super) fn pull(&mut self) {
        let begin = self.meter.begin();
        if let Some(pulled) = self.source.pull(&mut self.raw) {
            self.count_job_out();
            self.take_in(pulled, begin);
        }
    }

    /// Enters a directory that was opened, visits the entries that were read, and reports a
    /// failure.
    fn take_in(&mut self, pulled: Pulled<V::State>, begin: Option<Instant>) {
        let Pulled {
            job,
            fd,
            mut end,
            metadata,
            mut failure,
        } = pulled;
        if let Some(fd) = &fd {
            match self.ends_range(&job.dir, fd) {
                Ok(range_ends) => end |= range_ends,
                Err(errno) => failure = failure.or(Some(read_failure(errno))),
            }
            if self.shared.spending.is_bounded() {
                self.shared.spending.add(self.raw.records.len());
                job.dir.add_read(self.raw.records.len());
            }
        }
        let DirectoryJob {
            dir,
            step,
            next_batch,
            concurrent,
            to_end,
        } = job;
        let opened = matches!(step, JobStep::Open(_));
        // An end counts only if no other read can take it back.
        let FinishedRead { end, rest } = if opened {
            FinishedRead { end, rest: None }
        } else {
            dir.reads.finish(end)
        };
        let goes_on = !end && failure.is_none() && fd.is_some();
        // In preorder a descriptor was pinned for the rest, before the directory was read.
        let pinned = self.shared.options.preorder && !to_end;
        self.unpin_if(pinned && !goes_on);
        let Some(fd) = fd else {
            let failure = failure.unwrap_or(Failure {
                operation: Operation::Open,
                errno: Errno::IO,
            });
            return self.open_failed(dir, failure);
        };
        // Closes the parent, if it was closed in its slot meanwhile and is open only for this.
        drop(step);
        if opened && !self.enter(&dir, || identity(&fd)) {
            self.unpin_if(pinned && goes_on);
            return self.finish(dir);
        }
        // If several workers read the directory concurrently, one of them reports the failure. It
        // is reported even if another worker has come to the end: entries that were on the way to
        // this worker may be lost.
        let failure = failure.filter(|_| dir.fail_to_end());
        if end && !opened {
            dir.end();
        }
        self.sort_entries();
        let entries = ReadEntries {
            dir: &dir,
            fd: &fd,
            index: next_batch,
            metadata,
            begin,
        };
        // If a directory is read concurrently, its rest has been pushed already. The rest may have
        // waited for this read.
        let rest = rest.or((goes_on && !concurrent).then_some(next_batch + 1));
        self.visit_entries(&entries, rest, concurrent, pinned);
        if let Some(failure) = failure {
            self.fail(&dir, failure);
        }
        self.source.release(fd);
        self.finish(dir);
    }

    /// Counts one directory fewer in the source.
    fn count_job_out(&mut self) {
        self.in_source -= 1;
        if self.counted_jobs > self.in_source {
            self.counted_jobs -= 1;
            self.shared.descriptors.dismiss_job();
        }
    }

    /// Sorts the entries that were read, if their order matters.
    pub(super) fn sort_entries(&mut self) {
        match self.shared.options.order {
            Order::Name => match &self.shared.options.compare {
                Some(compare) => self.raw.sort_by(compare),
                None => self.raw.sort_by_name(),
            },
            // Sorted before they are cut into parts, each part has its own stretch of the disk. The
            // subdirectories are then read in this order, too.
            Order::Any
                if self.shared.concurrency.uses_inode_order() && !self.shared.options.preorder =>
            {
                self.raw.sort_by_ino();
            }
            Order::Any | Order::Listed => {}
        }
    }

    /// Visits the entries that were read. Pushes the rest of the directory, if its next batch has a
    /// number, and the parts of the batch that are given away or put off.
    pub(super) fn visit_entries(
        &mut self,
        entries: &ReadEntries<'_, V::State>,
        next_batch: Option<u32>,
        concurrent: bool,
        pinned: bool,
    ) {
        let &ReadEntries {
            dir,
            fd,
            metadata,
            begin,
            ..
        } = entries;
        let (cuts, numbers) = self.divide(entries, next_batch.is_some(), concurrent);
        let rest = next_batch.map(|next_batch| {
            let pinned = pinned
                || self
                    .shared
                    .descriptors
                    .pin_rest(self.shared.options.preorder);
            let fd = Arc::clone(fd);
            (next_batch, RestFrom::Fd { fd, pinned })
        });
        // A pinned rest is pushed before the subdirectories, and so comes after them; meanwhile
        // another worker can steal it and read on. Where descriptors are scarce, the rest is pushed
        // after the subdirectories, and so comes next: a directory cannot be closed before it has
        // been read to its end.
        let (now, later) = match rest {
            Some((_, RestFrom::Fd { pinned: false, .. })) => (None, rest),
            rest => (rest, None),
        };
        if let Some((next_batch, from)) = now {
            self.push_rest(dir, next_batch, from);
        }
        let numbers = self.push_cuts(dir, Some(fd), numbers, metadata, cuts);
        let plus = if metadata { self.raw.records.len() } else { 0 };
        // The request may have been for more than this directory.
        let others = self.raw.below.as_ref().map(|below| below.others);
        let others = others.unwrap_or_default();
        let calls = CALLS * (1 + others.directories) + plus as u64 + others.entries;
        self.visit(dir, Some(fd), numbers, metadata, calls, begin);
        if self.choosing {
            self.choose_source();
        }
        if let Some((next_batch, from)) = later {
            self.push_rest(dir, next_batch, from);
        }
    }

    /// Divides the batch: in preorder behind every entry that may be a directory, else among idle
    /// workers. Returns the parts of a preorder walk, and the numbers of all that was not given
    /// away.
    fn divide(
        &mut self,
        entries: &ReadEntries<'_, V::State>,
        goes_on: bool,
        concurrent: bool,
    ) -> (Vec<RawBatch>, Range<u64>) {
        if self.shared.options.preorder {
            return (self.cut(), numbers_of_read(entries.index));
        }
        if concurrent {
            return (Vec::new(), numbers_of_read(entries.index));
        }
        let &ReadEntries {
            dir,
            fd,
            index,
            metadata,
            ..
        } = entries;
        let numbers = numbers_of_read(index);
        (Vec::new(), self.share(dir, fd, numbers, goes_on, metadata))
    }
}
