//! The sources `module` and `ring`: the kernel reads a directory's names and metadata in one
//! request, by the kernel module or by operations of `io_uring`. They differ only in the encoding
//! of a request (`ringwalk-sys`, `directory_ring/encode.rs`).
//!
//! ```text
//!                 mode.rs: `Calls`
//!   push(job) ── answered from memory ──> called: openat, one request, decode
//!        │
//!        │        `Flights`, up to 64
//!        └── calls wait ──> opening ──> reading ──> ready ──> pull
//!                              └───────────┴── refused ──> system calls
//! ```
//!
//! System calls read whatever the kernel refuses, and only their errors are reported. So a module
//! that is unloaded during a walk, or a file system that it cannot read, costs time and changes no
//! answer. A request that fails has not moved the position of its directory. A request that ends
//! early has set the position back, so an end that another request has seen meanwhile is not final
//! (`walk/reads.rs`).
//!
//! `side.rs` has the state that all workers share, `transport.rs` sends requests, `flights.rs`
//! keeps many of them in flight, `decode.rs` turns the kernel's records into a batch. `tree.rs`
//! asks for whole trees, which the module can read; `answer.rs` holds the answers and their
//! buffers.

mod answer;
mod decode;
#[cfg(test)]
mod emulated;
mod flights;
mod mode;
mod side;
#[cfg(test)]
mod tests;
mod transport;
mod tree;

#[cfg(test)]
pub(crate) use emulated::Behaviour;
#[cfg(all(test, feature = "async"))]
pub(crate) use emulated::Emulated;

pub(crate) use answer::{BatchInTree, TreeListing};
pub(crate) use side::{KernelSide, describe, find_module, find_ring};
pub(crate) use transport::DirectoryTransport;
pub(crate) use transport::Failed;
pub(crate) use transport::KernelTransport;

use super::syscall::{SyscallSource, open_job, read_failure};
use super::{DirectoryJob, JobStep, Pulled, Source};
use crate::sources::raw_batch::RawBatch;
use crate::sources::wanted::Wanted;
use crate::visit::error::Failure;
use crate::visit::metadata::Fields;
use crate::walk::options::Options;
use crate::walk::settings::Order;
pub(crate) use decode::decode;
use flights::{DoneDirectory, FilledBuffer, Flights, Landed};
use mode::Mode;
use ringwalk_sys::{DirectoryFd, DirectoryReader, Filled, PlusLayout, What};
use rustix::io::Errno;
use std::sync::Arc;
use std::time::Instant;
use tree::{TreeRequest, Trees};

/// Bytes of a buffer for names with metadata: about 450 entries.
const PLUS_BUFFER: usize = 64 * 1024;

/// Bytes of a buffer for names only, as with `getdents64`.
const NAMES_BUFFER: usize = 32 * 1024;

/// Bounds on a buffer size that the caller gives. A record with all metadata takes up to 448 bytes.
const LEAST_BUFFER: usize = 1024;
const LARGEST_BUFFER: usize = ringwalk_sys::uapi::BUFFER_MAX as usize;

pub(crate) struct KernelSource<'w, S, T> {
    side: &'w KernelSide,
    /// Reads directories that the kernel refuses.
    fallback: SyscallSource<S>,
    what: What,
    wanted: Wanted,
    whole: bool,
    /// True if directories are read in the order in which they are given: in a preorder walk, or by
    /// name. There a consumer waits for the first directory. Results of others that were read
    /// meanwhile would be held in memory (up to a whole tree, with 64 in flight).
    one_at_a_time: bool,
    buffer_size: usize,
    mode: Mode,
    /// When whole trees are asked for; `None` if that is never done.
    trees: Option<Trees>,
    /// The job that the next pull reads by call.
    called: Option<DirectoryJob<S>>,
    /// The jobs in flight, and the way to the kernel.
    flights: Flights<S, T>,
}

/// Returns the mask of metadata that the kernel can return.
pub(crate) fn available(reader: &DirectoryReader) -> u32 {
    match reader {
        // The module accepts the bit, and returns no mount ids.
        DirectoryReader::Module(device) => device.info().stat_mask & !Fields::MNT_ID.bits(),
        DirectoryReader::Opcodes(opcodes) if opcodes.readdirplus.is_some() => u32::MAX,
        DirectoryReader::Opcodes(_) => 0,
    }
}

/// Returns the request for each directory, where the kernel can return the metadata `available`.
pub(crate) fn what_of(wanted: Wanted, available: u32) -> What {
    let asked = wanted.fields().statx_mask();
    let layout = PlusLayout::new(asked & available);
    // Mount ids are found in another way. `statx` may return other fields that the kernel lacks
    // here.
    let is_told = asked & !(layout.mask() | Fields::MNT_ID.bits()) == 0;
    if wanted.asks_all() && is_told {
        What::Plus(layout)
    } else {
        What::Names
    }
}

/// Returns how far a buffer is filled after a read behind its first `from` bytes, and how the read
/// ended: true at the end of the directory, or an error.
pub(crate) fn come_to(from: usize, result: Result<Filled, Errno>) -> (usize, Result<bool, Errno>) {
    match result {
        Ok(Filled { bytes, end }) => (from + bytes, Ok(end)),
        Err(Errno::INTR) => (from, Ok(false)),
        Err(errno) => (from, Err(errno)),
    }
}

/// Returns true if another read into the same buffer is worth a call. After an error the kernel is
/// asked again with an empty buffer, in case the room was too small.
pub(crate) fn is_worth_another_read(
    buffer: &[u8],
    filled: usize,
    last: Result<bool, Errno>,
) -> bool {
    let room = buffer.len() - filled;
    last == Ok(false) && (filled == 0 || room >= buffer.len() / 8)
}

impl<'w, S: Send + Sync> KernelSource<'w, S, KernelTransport> {
    pub(crate) fn new(side: &'w KernelSide, reader: &DirectoryReader, options: &Options) -> Self {
        let transport = KernelTransport::new(reader.clone());
        Self::over(side, transport, available(reader), options)
    }
}

impl<'w, S: Send + Sync, T: DirectoryTransport> KernelSource<'w, S, T> {
    #[cfg(test)]
    pub(crate) fn emulated(
        side: &'w KernelSide,
        behaviour: Behaviour,
        options: &Options,
    ) -> KernelSource<'w, S, emulated::Emulated> {
        let kernel = emulated::Emulated::new(behaviour);
        let mut source = KernelSource::over(side, kernel, behaviour.available(), options);
        if behaviour.in_flight {
            source.calls_wait();
        }
        if let Some(trees) = &mut source.trees {
            trees.always = true;
        }
        source
    }

    /// Creates the reader. `available` is the mask of metadata that the kernel can return.
    fn over(side: &'w KernelSide, transport: T, available: u32, options: &Options) -> Self {
        let wanted = options.wanted_of_entries();
        let what = what_of(wanted, available);
        let trees = match what {
            What::Plus(layout) if transport.reads_trees() => {
                Trees::of(options, layout, wanted, side.tree_buffers())
            }
            What::Plus(_) | What::Names => None,
        };
        let default = match what {
            What::Plus(_) => PLUS_BUFFER,
            What::Names => NAMES_BUFFER,
        };
        let given = options.buffer_size;
        let buffer_size = given.unwrap_or(default).clamp(LEAST_BUFFER, LARGEST_BUFFER);
        let whole = options.order == Order::Name;
        Self {
            side,
            fallback: SyscallSource::new(given, whole),
            what,
            wanted,
            whole,
            one_at_a_time: options.preorder || whole,
            buffer_size,
            mode: Mode::Calls,
            trees,
            called: None,
            flights: Flights::new(transport, what, buffer_size),
        }
    }

    /// Waits until a directory in flight is done.
    fn pull_in_flight(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>> {
        let landed = self.flights.next()?;
        if self.flights.without_ring {
            self.call_only();
        }
        Some(match landed {
            Landed::Done(directory) => self.hand_out(directory, batch),
            Landed::Lost(job) => self.again(job, batch),
            Landed::Postponed(job) => self.call(job, batch),
        })
    }

    fn hand_out(&mut self, ready: DoneDirectory<S>, batch: &mut RawBatch) -> Pulled<S> {
        let DoneDirectory { job, result } = ready;
        let read = match result {
            Ok(read) => read,
            Err(failure) => return Pulled::failed(job, failure),
        };
        let FilledBuffer {
            fd,
            mut buffer,
            filled,
            last,
        } = read;
        batch.records.swap_buffer(&mut buffer, filled);
        self.flights.keep(buffer);
        match last {
            Err(errno) if filled == 0 => self.refused(job, fd, errno, batch),
            // The kernel is asked again for the rest, and may refuse that.
            last => self.decoded(job, fd, last.unwrap_or(false), batch),
        }
    }

    /// Stops starting requests in flight.
    fn call_only(&mut self) {
        if self.mode.is_in_flight() {
            self.mode = Mode::Calls;
            self.side.note_in_flight(false);
        }
    }

    /// Reads a directory again whose request was lost. That is possible only from its beginning. If
    /// visitors have been given entries already, the rest is an error.
    #[cold]
    fn again(&mut self, job: DirectoryJob<S>, batch: &mut RawBatch) -> Pulled<S> {
        batch.clear();
        let fd = match &job.step {
            JobStep::Open(_) => return self.fallback.open_and_read(job, batch),
            JobStep::Read(fd) => Arc::clone(fd),
        };
        Pulled {
            fd: Some(fd),
            ..Pulled::failed(job, read_failure(Errno::IO))
        }
    }

    /// Opens and reads a directory by calls.
    fn call(&mut self, job: DirectoryJob<S>, batch: &mut RawBatch) -> Pulled<S> {
        let begin = self.mode.is_in_flight().then(Instant::now);
        let single = self.trees.as_ref().and_then(Trees::begin);
        if self.side.is_given_up() {
            return self.fallback.open_and_read(job, batch);
        }
        let fd = match open_job(&job) {
            Ok(fd) => fd,
            Err(failure) => return Pulled::failed(job, failure),
        };
        if let Some(request) = self.tree_request(&job)
            && let Some((end, metadata)) = self.read_tree(&fd, request, batch)
        {
            self.side.worked();
            return Pulled {
                job,
                fd: Some(fd),
                end: end && metadata.is_ok(),
                metadata: metadata == Ok(true),
                failure: metadata.err(),
            };
        }
        let pulled = match self.read(&fd, self.whole || job.to_end, batch) {
            Ok(end) => self.decoded(job, fd, end, batch),
            Err(Failed::Refused(errno)) => self.refused(job, fd, errno, batch),
            Err(Failed::Lost) => {
                self.flights.without_ring = true;
                self.again(job, batch)
            }
        };
        if let Some(trees) = &mut self.trees {
            trees.read_one(single, batch.records.len());
        }
        if self.mode.called(begin, batch.records.len()) {
            self.side.note_in_flight(false);
            self.flights.forget_buffers();
        }
        pulled
    }

    /// Returns the request for a directory with those below it, if that is to be asked for.
    fn tree_request(&self, job: &DirectoryJob<S>) -> Option<TreeRequest> {
        let begins = matches!(job.step, JobStep::Open(_));
        // A directory that cannot be kept open must be read to its end.
        if !begins || job.to_end || self.mode.is_in_flight() {
            return None;
        }
        self.trees.as_ref()?.request(job.dir.depth())
    }

    /// Reads a directory with those below it. Returns true at its end, and true if its entries have
    /// their metadata, or why they are not all. Returns `None` if the kernel refuses: the directory
    /// alone is then read.
    fn read_tree(
        &mut self,
        fd: &Arc<DirectoryFd>,
        mut request: TreeRequest,
        batch: &mut RawBatch,
    ) -> Option<(bool, Result<bool, Failure>)> {
        let trees = self.trees.as_mut()?;
        let (layout, bounds) = (trees.layout(), request.bounds);
        let read = self
            .flights
            .transport
            .read_tree(fd, layout, bounds, &mut request.buffer.bytes);
        let Ok(Filled { bytes, end }) = read else {
            trees.refused();
            return None;
        };
        let metadata = trees.answered(request, bytes, batch);
        // The kernel has returned bytes that are not records.
        Some((end, metadata.map_err(|_| read_failure(Errno::IO))))
    }

    /// Reads by calls until the buffer is full or, if the directory is to be read `whole`, until
    /// its end. Returns true at the end.
    fn read(
        &mut self,
        fd: &Arc<DirectoryFd>,
        whole: bool,
        batch: &mut RawBatch,
    ) -> Result<bool, Failed> {
        batch.records.reserve(self.buffer_size);
        let mut filled = 0;
        loop {
            match self
                .flights
                .transport
                .read(fd, &self.what, &mut batch.records)
            {
                Ok(Filled { end: true, .. }) => return Ok(true),
                Ok(read) => filled += read.bytes,
                Err(Failed::Refused(Errno::INTR)) => continue,
                // A name that does not fit into the rest of the buffer.
                Err(Failed::Refused(Errno::INVAL)) if filled > 0 && whole => {
                    batch.records.reserve(2 * batch.records.room());
                }
                // The kernel is asked again for the rest, and may refuse that.
                Err(Failed::Refused(_)) if filled > 0 && !whole => return Ok(false),
                Err(failed) => return Err(failed),
            }
            if batch.records.room_left() < self.buffer_size / 8 {
                if !whole {
                    return Ok(false);
                }
                batch.records.reserve(2 * batch.records.room());
            }
        }
    }

    /// Makes a batch of the records that were read.
    fn decoded(
        &mut self,
        job: DirectoryJob<S>,
        fd: Arc<DirectoryFd>,
        end: bool,
        batch: &mut RawBatch,
    ) -> Pulled<S> {
        let decoded = self.decode(&fd, batch);
        self.side.worked();
        Pulled {
            job,
            fd: Some(fd),
            end: end && decoded.is_ok(),
            metadata: decoded == Ok(true),
            failure: decoded.err(),
        }
    }

    /// Indexes the records. Returns true if they have all metadata.
    fn decode(&self, fd: &DirectoryFd, batch: &mut RawBatch) -> Result<bool, Failure> {
        // The kernel has returned bytes that are not records.
        decode(batch, fd, &self.what, self.wanted).map_err(|_| read_failure(Errno::IO))
    }

    /// Continues by system calls with a directory that the kernel refuses to read.
    #[cold]
    fn refused(
        &mut self,
        job: DirectoryJob<S>,
        fd: Arc<DirectoryFd>,
        errno: Errno,
        batch: &mut RawBatch,
    ) -> Pulled<S> {
        if let Err(failure) = self.decode(&fd, batch) {
            return Pulled {
                fd: Some(fd),
                ..Pulled::failed(job, failure)
            };
        }
        let used = batch.records.room() - batch.records.room_left();
        batch.records.reserve(used + NAMES_BUFFER);
        let pulled = self.fallback.read_on(job, fd, batch);
        self.side.fall_back(errno, pulled.failure.is_none());
        pulled
    }
}

impl<S: Send + Sync, T: DirectoryTransport> Source<S> for KernelSource<'_, S, T> {
    fn capacity(&self) -> usize {
        if self.mode.is_in_flight() {
            self.flights.capacity(self.side)
        } else {
            1
        }
    }

    fn push(&mut self, job: DirectoryJob<S>) {
        if self.side.is_given_up() {
            self.call_only();
        }
        if self.called.is_none() && self.mode.next_is_call() {
            self.called = Some(job);
        } else {
            self.flights.start(job);
        }
    }

    fn pull(&mut self, batch: &mut RawBatch) -> Option<Pulled<S>> {
        batch.clear();
        match self.called.take() {
            Some(job) => {
                // The kernel begins these before the call.
                self.flights.transport.flush();
                Some(self.call(job, batch))
            }
            None => self.pull_in_flight(batch),
        }
    }

    fn calls_wait(&mut self) {
        if !self.mode.is_in_flight()
            && !self.one_at_a_time
            && !self.side.is_given_up()
            && self.flights.set_up()
        {
            self.side.note_in_flight(true);
            self.mode.wait();
        }
    }

    fn reads_concurrently(&self) -> bool {
        matches!(self.what, What::Plus(_)) && !self.whole && !self.side.is_given_up()
    }

    fn release(&mut self, fd: Arc<DirectoryFd>) {
        if let Some(fd) = Arc::into_inner(fd) {
            self.flights.transport.close(fd);
        }
    }

    fn buffer_size(&self) -> usize {
        self.buffer_size
    }
}
