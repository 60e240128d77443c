//! Directories in flight: requests that the kernel answers in any order.

use super::side::KernelSide;
use super::transport::DirectoryTransport;
use super::{come_to, is_worth_another_read};
use crate::sources::{DirectoryJob, JobStep};
use crate::visit::error::{Failure, Operation};
use ringwalk_sys::{Completion, DirectoryFd, Filled, What};
use rustix::io::Errno;
use std::collections::VecDeque;
use std::sync::Arc;

/// The most directories that one worker keeps in flight.
const DEPTH: u32 = 64;

/// Bytes of a buffer for a directory in flight: few directories fill it, and there are many
/// buffers.
const BUFFER: usize = 16 * 1024;

/// The jobs in flight of one worker, and the way to the kernel.
pub(super) struct Flights<S, T> {
    pub(super) transport: T,
    what: What,
    buffer_size: usize,
    /// Jobs in flight, by slot.
    jobs: Vec<Option<DirectoryJob<S>>>,
    free: Vec<u32>,
    /// How many jobs may be in flight; fewer after descriptors have run out.
    depth: usize,
    /// How many directories all workers together may have in flight. 0 before the ring is set up.
    most: usize,
    /// Jobs to start when another directory is done, because descriptors have run out.
    postponed: Vec<DirectoryJob<S>>,
    /// Jobs that were in flight on a ring that no longer works.
    lost: Vec<DirectoryJob<S>>,
    /// True if there is no ring, so nothing can be in flight.
    pub(super) without_ring: bool,
    ready: VecDeque<DoneDirectory<S>>,
    /// Free buffers.
    spare: Vec<Vec<u8>>,
}

/// A directory whose request is done.
pub(super) struct DoneDirectory<S> {
    pub(super) job: DirectoryJob<S>,
    pub(super) result: Result<FilledBuffer, Failure>,
}

/// The buffer of a request that was done.
pub(super) struct FilledBuffer {
    pub(super) fd: Arc<DirectoryFd>,
    pub(super) buffer: Vec<u8>,
    pub(super) filled: usize,
    /// How the read ended: true at the end of the directory, or an error.
    pub(super) last: Result<bool, Errno>,
}

/// A job that is not in flight any more.
pub(super) enum Landed<S> {
    Done(DoneDirectory<S>),
    /// The outcome is unknown, because the ring no longer works.
    Lost(DirectoryJob<S>),
    /// The job has not been started, and nothing else is in flight.
    Postponed(DirectoryJob<S>),
}

impl<S: Send + Sync, T: DirectoryTransport> Flights<S, T> {
    pub(super) fn new(transport: T, what: What, buffer_size: usize) -> Self {
        Self {
            transport,
            what,
            buffer_size: buffer_size.min(BUFFER),
            jobs: Vec::new(),
            free: Vec::new(),
            depth: DEPTH as usize,
            most: 0,
            postponed: Vec::new(),
            lost: Vec::new(),
            without_ring: false,
            ready: VecDeque::new(),
            spare: Vec::new(),
        }
    }

    /// Sets up a ring for requests in flight. Returns false if there is none.
    pub(super) fn set_up(&mut self) -> bool {
        if self.jobs.is_empty() && !self.without_ring {
            let most = KernelSide::most_in_flight();
            let Some(most) = most.filter(|_| self.transport.set_up(DEPTH)) else {
                self.without_ring = true;
                return false;
            };
            self.most = most;
            self.jobs.resize_with(DEPTH as usize, || None);
            self.free.extend((0..DEPTH).rev());
        }
        !self.without_ring
    }

    /// Returns how many jobs may be in flight at a time.
    pub(super) fn capacity(&self, side: &KernelSide) -> usize {
        self.depth.min(side.share_of(self.most))
    }

    fn in_flight(&self) -> usize {
        self.jobs.len() - self.free.len()
    }

    /// Puts a job in flight.
    pub(super) fn start(&mut self, job: DirectoryJob<S>) {
        let Some(slot) = self.free.pop() else {
            // There are as many slots as the capacity.
            return self.postponed.push(job);
        };
        match &job.step {
            JobStep::Open(at) => {
                let (name, follow) = job.dir.opened_by();
                self.transport.start_open(slot, at, name, follow);
            }
            JobStep::Read(fd) => self.start_read(slot, Arc::clone(fd)),
        }
        self.jobs[slot as usize] = Some(job);
    }

    /// Starts to read a directory into an empty buffer.
    fn start_read(&mut self, slot: u32, fd: Arc<DirectoryFd>) {
        let mut buffer = self.spare.pop().unwrap_or_default();
        if buffer.len() < self.buffer_size {
            buffer.resize(self.buffer_size, 0);
        }
        self.transport.start_read(slot, fd, buffer, 0, &self.what);
    }

    /// Keeps a buffer for another request. A buffer that one large directory has enlarged is not
    /// kept.
    pub(super) fn keep(&mut self, buffer: Vec<u8>) {
        if buffer.len() <= 2 * BUFFER && self.spare.len() < self.depth {
            self.spare.push(buffer);
        }
    }

    /// Frees the buffers that no request uses.
    pub(super) fn forget_buffers(&mut self) {
        self.spare.clear();
    }

    /// Waits until a directory is done, and starts postponed jobs in its place. Returns `None` if
    /// there is no job.
    pub(super) fn next(&mut self) -> Option<Landed<S>> {
        while self.ready.is_empty() {
            if let Some(job) = self.lost.pop() {
                return Some(Landed::Lost(job));
            }
            if self.in_flight() == 0 {
                return self.postponed.pop().map(Landed::Postponed);
            }
            match self.transport.wait() {
                Ok(completion) => self.completed(completion),
                Err(_) => self.lose_ring(),
            }
        }
        let done = self.ready.pop_front()?;
        while self.in_flight() < self.depth
            && let Some(job) = self.postponed.pop()
        {
            self.start(job);
        }
        self.transport.flush();
        Some(Landed::Done(done))
    }

    /// Gives up a ring that no longer works. The outcome of its requests is unknown.
    #[cold]
    fn lose_ring(&mut self) {
        self.lost.extend(self.jobs.drain(..).flatten());
        self.free.clear();
        self.without_ring = true;
    }

    /// Continues with a completed request.
    fn completed(&mut self, completion: Completion) {
        match completion {
            Completion::Opened { slot, result } => self.opened(slot, result),
            Completion::Read {
                slot,
                fd,
                buffer,
                from,
                result,
            } => self.have_read(slot, fd, buffer, from, result),
        }
    }

    fn opened(&mut self, slot: u32, result: Result<DirectoryFd, Errno>) {
        let errno = match result {
            Ok(fd) => return self.start_read(slot, Arc::new(fd)),
            Err(errno) => errno,
        };
        let Some(job) = self.take(slot) else { return };
        if errno == Errno::INTR {
            return self.start(job);
        }
        let failure = Failure {
            operation: Operation::Open,
            errno,
        };
        let others = self.in_flight() + self.ready.len();
        if failure.is_out_of_descriptors() && others > 0 {
            // Requests in flight hold descriptors, and will release them.
            self.depth = (others / 2).max(1);
            return self.postponed.push(job);
        }
        self.ready.push_back(DoneDirectory {
            job,
            result: Err(failure),
        });
    }

    fn have_read(
        &mut self,
        slot: u32,
        fd: Arc<DirectoryFd>,
        buffer: Vec<u8>,
        from: usize,
        result: Result<Filled, Errno>,
    ) {
        let (filled, last) = come_to(from, result);
        if is_worth_another_read(&buffer, filled, last) {
            return self
                .transport
                .start_read(slot, fd, buffer, filled, &self.what);
        }
        let Some(job) = self.take(slot) else { return };
        self.ready.push_back(DoneDirectory {
            job,
            result: Ok(FilledBuffer {
                fd,
                buffer,
                filled,
                last,
            }),
        });
    }

    /// Frees a slot and returns its job.
    fn take(&mut self, slot: u32) -> Option<DirectoryJob<S>> {
        let job = self.jobs[slot as usize].take()?;
        self.free.push(slot);
        Some(job)
    }
}
