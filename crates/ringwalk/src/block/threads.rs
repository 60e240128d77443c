//! `pread` on a pool of threads, where the kernel offers no ring.
//!
//! A job takes the buffer of its slot with it and brings it back, so only two queues are shared. A
//! thread is started when a read finds none idle, up to the depth. Threads end with the pool.

use ringwalk_sys::sync::{IgnorePoison, lock};
use std::collections::VecDeque;
use std::fs::File;
use std::mem;
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};

use ringwalk_sys::PageBuffer;
use ringwalk_sys::rustix::io::Errno;

use super::backend::Completion;
use super::drive::pread;

struct ReadJob {
    slot: u32,
    offset: u64,
    from: usize,
    len: usize,
    buffer: PageBuffer,
}

struct FinishedRead {
    slot: u32,
    buffer: PageBuffer,
    result: Result<u32, Errno>,
}

#[derive(Default)]
struct JobQueue {
    queue: VecDeque<ReadJob>,
    /// Threads that wait for a job.
    idle: usize,
    closed: bool,
}

#[derive(Default)]
struct SharedJobs {
    jobs: Mutex<JobQueue>,
    job: Condvar,
    done: Mutex<Vec<FinishedRead>>,
    any_done: Condvar,
}

pub(super) struct Threads {
    file: Arc<File>,
    shared: Arc<SharedJobs>,
    pool: Vec<JoinHandle<()>>,
    depth: usize,
    buffer_size: usize,
    /// `None` before the first job of a slot, and while a job has the buffer.
    buffers: Vec<Option<PageBuffer>>,
    /// Reads for which there was no memory.
    failed: Vec<Completion>,
    in_flight: usize,
}

impl std::fmt::Debug for Threads {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Threads")
            .field("pool", &self.pool.len())
            .field("in_flight", &self.in_flight)
            .finish_non_exhaustive()
    }
}

impl Threads {
    pub(super) fn new(file: Arc<File>, depth: u32, buffer_size: u32) -> Self {
        Self {
            file,
            shared: Arc::default(),
            pool: Vec::new(),
            depth: depth as usize,
            buffer_size: buffer_size as usize,
            buffers: (0..depth).map(|_| None).collect(),
            failed: Vec::new(),
            in_flight: 0,
        }
    }

    pub(super) fn start(&mut self, slot: u32, offset: u64, from: u32, len: u32) {
        self.in_flight += 1;
        let idle = self.buffers[slot as usize].take();
        let buffer = match idle.map_or_else(|| PageBuffer::new(self.buffer_size), Ok) {
            Ok(buffer) => buffer,
            Err(errno) => return self.failed.push((slot, Err(errno))),
        };
        let job = ReadJob {
            slot,
            offset,
            from: from as usize,
            len: len as usize,
            buffer,
        };
        // With one read at a time, or where no thread can be started, this thread reads.
        if self.depth == 1 {
            lock(&self.shared.done).push(job.run(&self.file));
            return;
        }
        let mut jobs = lock(&self.shared.jobs);
        let key = jobs.queue.len() >= jobs.idle && self.pool.len() < self.depth;
        if key && !spawn(&self.file, &self.shared, &mut self.pool) && self.pool.is_empty() {
            drop(jobs);
            lock(&self.shared.done).push(job.run(&self.file));
            return;
        }
        jobs.queue.push_back(job);
        drop(jobs);
        self.shared.job.notify_one();
    }

    pub(super) fn wait(&mut self, completions: &mut Vec<Completion>) {
        if !self.failed.is_empty() {
            self.in_flight -= self.failed.len();
            return completions.append(&mut self.failed);
        }
        let mut done = lock(&self.shared.done);
        while done.is_empty() {
            done = self.shared.any_done.wait(done).ignore_poison();
        }
        let done = mem::take(&mut *done);
        self.in_flight -= done.len();
        for FinishedRead {
            slot,
            buffer,
            result,
        } in done
        {
            self.buffers[slot as usize] = Some(buffer);
            completions.push((slot, result));
        }
    }

    pub(super) fn in_flight(&self) -> usize {
        self.in_flight
    }

    pub(super) fn bytes(&self, slot: u32) -> &[u8] {
        self.buffers[slot as usize].as_ref().expect("an idle slot")
    }

    pub(super) fn bytes_mut(&mut self, slot: u32) -> &mut [u8] {
        self.buffers[slot as usize].as_mut().expect("an idle slot")
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        let mut jobs = lock(&self.shared.jobs);
        jobs.closed = true;
        jobs.queue.clear();
        drop(jobs);
        self.shared.job.notify_all();
        for thread in self.pool.drain(..) {
            // A thread does nothing that panics. If it did, it has ended, which is enough here.
            let _ = thread.join();
        }
    }
}

impl ReadJob {
    fn run(mut self, file: &File) -> FinishedRead {
        let place = &mut self.buffer[self.from..self.from + self.len];
        let result = pread(file, place, self.offset);
        FinishedRead {
            slot: self.slot,
            buffer: self.buffer,
            result,
        }
    }
}

/// Starts another thread. Returns false if that fails.
fn spawn(file: &Arc<File>, shared: &Arc<SharedJobs>, pool: &mut Vec<JoinHandle<()>>) -> bool {
    let (file, shared) = (Arc::clone(file), Arc::clone(shared));
    let name = "block reader".to_owned();
    let thread = thread::Builder::new().name(name).stack_size(64 << 10);
    match thread.spawn(move || work(&file, &shared)) {
        Ok(thread) => {
            pool.push(thread);
            true
        }
        Err(_) => false,
    }
}

/// Runs jobs until the pool is closed.
fn work(file: &File, shared: &SharedJobs) {
    let mut jobs = lock(&shared.jobs);
    loop {
        if let Some(job) = jobs.queue.pop_front() {
            drop(jobs);
            let done = job.run(file);
            lock(&shared.done).push(done);
            shared.any_done.notify_one();
            jobs = lock(&shared.jobs);
        } else if jobs.closed {
            return;
        } else {
            jobs.idle += 1;
            jobs = shared.job.wait(jobs).ignore_poison();
            jobs.idle -= 1;
        }
    }
}
